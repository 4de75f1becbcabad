"""Every error between here and the engine becomes ours, in one place."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import docker.credentials.errors
import docker.errors
import pytest
import requests
import urllib3.exceptions

from paritygate.docker_engine.failures import engine_errors, explain, hint_for, lost, unless_gone
from paritygate.errors import EngineError

FOREIGN_MODULES = (docker.errors, docker.credentials.errors, requests.exceptions)


def foreign_classes() -> Iterator[type[BaseException]]:
    for module in FOREIGN_MODULES:
        for _, found in inspect.getmembers(module, inspect.isclass):
            if issubclass(found, Exception) and not issubclass(found, Warning) and found.__module__ == module.__name__:
                yield found


def raised(kind: type[BaseException]) -> BaseException:
    """Make an error without its own constructor, of which each wants other arguments."""
    error = kind.__new__(kind, "it broke")
    error.args = ("it broke",)
    for name in ("msg", "param", "name"):
        if not hasattr(error, name):
            error.__dict__[name] = "it broke"
    error.__dict__.setdefault("response", None)
    error.__dict__.setdefault("explanation", None)
    return error


@pytest.mark.parametrize("kind", sorted(set(foreign_classes()), key=str))
def test_no_error_of_the_sdk_or_of_requests_is_left_unmapped(kind: type[BaseException]) -> None:
    with pytest.raises(EngineError, match=r"^the engine could not do it: "), engine_errors("do it"):
        raise raised(kind)


@pytest.mark.parametrize(
    "error",
    [
        urllib3.exceptions.ProtocolError("it broke"),
        urllib3.exceptions.ReadTimeoutError(None, "", "it broke"),  # type: ignore[arg-type] # no pool is needed to say it
        ConnectionResetError("it broke"),
        BrokenPipeError("it broke"),
        TimeoutError("it broke"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_of_the_connection_are_mapped_too(error: Exception) -> None:
    with pytest.raises(EngineError, match=r"^the engine could not do it: .*it broke"), engine_errors("do it"):
        raise error


def test_of_errors_in_errors_the_innermost_is_said() -> None:
    gone = FileNotFoundError(2, "No such file or directory")
    aborted = requests.exceptions.ConnectionError(urllib3.exceptions.ProtocolError("Connection aborted.", gone))
    assert explain(aborted) == "[Errno 2] No such file or directory"
    refused = urllib3.exceptions.MaxRetryError(None, "/", ConnectionRefusedError(111, "Connection refused"))  # type: ignore[arg-type] # no pool is needed to say it
    assert explain(requests.exceptions.ConnectionError(refused)) == "[Errno 111] Connection refused"


def test_an_engine_that_refuses_or_is_slow_is_not_lost() -> None:
    assert lost(requests.exceptions.ConnectionError("gone"))
    assert not lost(requests.exceptions.ConnectTimeout("slow"))
    assert not lost(requests.exceptions.ReadTimeout("slow"))
    assert not lost(an_api_error(409, "no"))


def test_our_own_mistakes_and_interruptions_pass_through() -> None:
    with pytest.raises(KeyError), engine_errors("do it"):
        raise KeyError("ours")
    with pytest.raises(KeyboardInterrupt), engine_errors("do it"):
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("said", "hint"),
    [
        ("write /var/lib/docker/x: no space left on device", "paritygate images prune"),
        ("could not find an available, non-overlapping IPv4 address pool among the defaults", "docker network prune"),
        ("adding interface veth1 to bridge docker0 failed: could not find bridge docker0", "restart the engine"),
        ("Bind for 0.0.0.0:80 failed: port is already allocated", "docker ps"),
        ("('Connection aborted.', PermissionError(13, 'Permission denied'))", "group `docker`"),
        ("[Errno 13] Permission denied", "group `docker`"),
        ("[Errno 111] Connection refused", "start it again"),
        ("/bin/sh: cannot create /x: permission denied", ""),
        ("dial tcp 10.0.0.1:443: connect: connection refused", ""),
        ("Credentials store docker-credential-desktop exited", "credsStore"),
        ("something new", ""),
    ],
)
def test_known_failures_come_with_what_to_do(said: str, hint: str) -> None:
    assert hint in hint_for(said)
    assert bool(hint_for(said)) == bool(hint)


def an_api_error(status: int, explanation: str) -> docker.errors.APIError:
    response = requests.Response()
    response.status_code = status
    kind = docker.errors.NotFound if status == requests.codes.not_found else docker.errors.APIError
    return kind("", response=response, explanation=explanation)


def test_an_explanation_is_one_line_without_the_address_of_the_request() -> None:
    assert explain(an_api_error(500, "it\n  broke.")) == "it broke"


@pytest.mark.parametrize("status", [404, 409])
def test_an_object_that_is_gone_or_going_is_no_error(status: int) -> None:
    with unless_gone():
        raise an_api_error(status, "removal of container x is already in progress")


def test_other_refusals_are_errors() -> None:
    with pytest.raises(docker.errors.APIError), unless_gone():
        raise an_api_error(500, "it broke")
