"""The one place where errors of the SDK, of requests, of urllib3 and of the operating system become ours.

It adds what to do next; it never decides whether to try again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import requests.exceptions
import urllib3.exceptions
from docker.credentials.errors import StoreError
from docker.errors import APIError, DockerException, NotFound, StreamParseError

from paritygate.errors import EngineError

FOREIGN = (
    DockerException,
    StreamParseError,
    StoreError,
    requests.exceptions.RequestException,
    urllib3.exceptions.HTTPError,
    OSError,
)

GONE = "the engine is gone: start it again"
NOT_ALLOWED = "this user may not talk to the engine: join the group `docker` (log in again), or use a rootless engine"
NO_SPACE = "free space for the engine: `paritygate images prune`, then `docker system df` shows what takes the rest"
NO_BRIDGE = "the engine's own network is broken, as after another engine was started beside it: restart the engine"
NO_NETWORK = "the engine has no network left to give: `docker network prune` removes unused ones"

HINTS = (
    ("no space left on device", NO_SPACE),
    ("non-overlapping ipv4 address pool", NO_NETWORK),
    ("all predefined address pools", NO_NETWORK),
    ("could not find bridge", NO_BRIDGE),
    ("port is already allocated", "another container has that port: `docker ps` names it"),
    # With their numbers these are this computer's own refusals; without, they would be those of a program inside a container.
    ("errno 13] permission denied", NOT_ALLOWED),
    ("permissionerror(13", NOT_ALLOWED),
    ("errno 111] connection refused", GONE),
    ("errno 61] connection refused", GONE),
    ("toomanyrequests", "the registry limits pulls: log in with `docker login`, or wait"),
    ("credentials store", "a credential helper named in the Docker configuration fails: check `credsStore` and `credHelpers`"),
    ("client version", "engine and SDK do not understand each other: update the older of the two"),
    ("no such file or directory: unknown", "the image lacks the program that was to be started"),
    ("read timed out", "the engine is overloaded or hangs: `docker info` shows whether it still answers"),
    ("cannot allocate memory", "the engine's computer is out of memory"),
)


def explain(error: BaseException) -> str:
    """Say in one line what the engine or the way to it said."""
    if isinstance(error, APIError):
        said = error.explanation or str(error)
        text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    else:
        inner = _innermost(error)
        text = str(inner) or type(inner).__name__
    return " ".join(text.split()).rstrip(".")


def lost(error: BaseException) -> bool:
    """Say whether there is nobody any more to speak to, as opposed to an engine that refuses or is slow."""
    return isinstance(error, requests.exceptions.ConnectionError) and not isinstance(error, requests.exceptions.Timeout)


def _innermost(error: BaseException) -> BaseException:
    """Find what the libraries have wrapped; the outer ones say less, at greater length."""
    candidates = (getattr(error, "reason", None), *reversed(error.args))
    wrapped = next((each for each in candidates if isinstance(each, BaseException)), None)
    return error if wrapped is None else _innermost(wrapped)


def hint_for(text: str) -> str:
    """Find what to do about a failure; empty where nothing particular is known."""
    lowered = text.lower()
    return next((hint for fragment, hint in HINTS if fragment in lowered), "")


def translated(doing: str, error: BaseException) -> EngineError:
    """Make our error of a foreign one; `doing` says what was being done, as in ``start container `x` ``."""
    text = explain(error)
    return EngineError(f"the engine could not {doing}: {text}", hint_for(text))


@contextmanager
def engine_errors(doing: str) -> Iterator[None]:
    """Raise `EngineError` for whatever goes wrong between here and the engine."""
    try:
        yield
    except FOREIGN as error:
        raise translated(doing, error) from error


@contextmanager
def unless_gone() -> Iterator[None]:
    """Let an object be gone, or an end be under way already."""
    try:
        yield
    except NotFound:
        return
    except APIError as error:
        if error.status_code != requests.codes.conflict:
            raise
