"""Images: built from files sent along, pulled, imported from a root file system, listed and removed."""

from __future__ import annotations

import io
import re
import tarfile
import time
import uuid
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from docker.credentials.errors import StoreError
from docker.errors import APIError, DockerException, NotFound
from docker.utils.json_stream import json_stream

from paritygate.docker_engine import unnamed
from paritygate.docker_engine.client import Client
from paritygate.docker_engine.failures import FOREIGN, engine_errors, explain, hint_for
from paritygate.docker_engine.owners import Run, owned
from paritygate.docker_engine.records import image_record
from paritygate.docker_engine.requests import BUILD_LABEL, BuildRequest, ImageRecord, Log, Tar
from paritygate.errors import BuildError, EngineError

TAIL = 25
# A registry that cannot be reached behind a firewall is silent; one that answers shows progress all the time.
SILENT_PULL_SECONDS = 60.0
BUILD_SECONDS = 24 * 3600.0
NO_SPACE = "no space left"
# The classic builder shows stderr in red, and puts the end of it before the next line.
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def build(client: Client, run: Run, request: BuildRequest, log: Log) -> ImageRecord:
    """Build an image with the classic builder, which every engine has; the recipe must need no newer one.

    What is made on the way carries this run's labels. What the image is not made of is removed: all of it where there comes to be
    none, and else the stages that something was only copied from.
    """
    tail: deque[str] = deque(maxlen=TAIL)
    mark = uuid.uuid4().hex
    on_the_way = {BUILD_LABEL: mark, **run.labels("build", time.time() + BUILD_SECONDS)}
    recipe = unnamed.marked(request.files["Dockerfile"], on_the_way)
    patience = unnamed.LATE_SECONDS
    try:
        with engine_errors(f"build `{request.tag}`"):
            try:
                answers = client.build(
                    fileobj=io.BytesIO(context({**request.files, "Dockerfile": recipe})),
                    custom_context=True,
                    tag=request.tag,
                    rm=True,
                    forcerm=True,
                    decode=True,
                    labels={**dict.fromkeys(on_the_way, ""), **owned(run, request.labels)},
                    buildargs=dict(request.arguments),
                )
                failure = _follow(answers, log, tail)
            except APIError as error:
                # A recipe that cannot be read is refused before there is a log.
                if not error.is_client_error():
                    raise
                failure = explain(error)
            patience = 0.0
            if not failure:
                return image_record(client.inspect_image(request.tag))
    finally:
        unnamed.discard(client, mark, patience)
    raise BuildError(f"the image `{request.tag}` could not be built: {failure}", "\n".join(tail), hint=hint_for(failure))


def context(files: dict[str, bytes]) -> bytes:
    """Pack files so that equal contents give equal bytes, whoever packs them and when: the engine's cache goes by them."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in sorted(files):
            member = tarfile.TarInfo(name)
            member.size = len(files[name])
            member.mode = 0o755 if files[name].startswith(b"#!") else 0o644
            tar.addfile(member, io.BytesIO(files[name]))
    return packed.getvalue()


def pull(client: Client, reference: str, log: Log) -> ImageRecord | None:
    """Pull an image; None where no registry answers or it does not have it. `log` is told why."""
    impatient = client.with_limit(SILENT_PULL_SECONDS)
    try:
        failure = _pull(impatient, reference, log)
    except FOREIGN as error:
        failure = explain(error)
    finally:
        impatient.close()
    if not failure:
        return find(client, reference)
    log(f"`{reference}` cannot be pulled: {failure}")
    if NO_SPACE in failure.lower():
        raise EngineError(f"the engine could not pull `{reference}`: {failure}", hint_for(failure))
    return None


def _pull(client: Client, reference: str, log: Log) -> str:
    whole = _tagged(reference)
    tail: deque[str] = deque(maxlen=TAIL)
    try:
        return _follow(client.pull(whole, stream=True, decode=True), log, tail)
    except APIError:
        raise
    except (StoreError, DockerException) as error:
        log(f"pulling `{reference}` without credentials: {explain(error)}")
    return _follow(client.pull(whole, stream=True, decode=True, auth_config={}), log, tail)


def import_image(client: Client, tar: Tar, tag: str, labels: dict[str, str]) -> ImageRecord:
    """Make an image of a root file system."""
    repository, _, version = tag.rpartition(":")
    changes = [unnamed.instruction(name, value) for name, value in sorted(labels.items())]
    with engine_errors(f"import `{tag}`"):
        answer = client.import_image_from_stream(iter(tar), repository=repository, tag=version, changes=changes)
        failure = _follow(json_stream([answer]), _ignore, deque(maxlen=TAIL))
        if not failure:
            return image_record(client.inspect_image(tag))
    raise EngineError(f"the engine could not import `{tag}`: {failure}", hint_for(failure))


def save(client: Client, names: Sequence[str]) -> Iterator[bytes]:
    """Yield images with their names as one archive."""
    with engine_errors(f"send {', '.join(f'`{name}`' for name in names)}"):
        yield from client.saved(names)


def load(client: Client, tar: Tar) -> None:
    """Take in what `save` has yielded."""
    with engine_errors("take in images"):
        failure = _follow(client.load_image(iter(tar)), _ignore, deque(maxlen=TAIL))
    if failure:
        raise EngineError(f"the engine could not take in images: {failure}", hint_for(failure))


def find(client: Client, reference: str) -> ImageRecord | None:
    """Look an image up."""
    with engine_errors(f"look up the image `{reference}`"):
        try:
            return image_record(client.inspect_image(reference))
        except NotFound:
            return None


def labelled(client: Client, label: str) -> tuple[ImageRecord, ...]:
    """List the images that carry a label; one that goes while we look is left out."""
    with engine_errors("list images"):
        listed = client.images(filters={"label": label})
    found = (find(client, str(image["Id"])) for image in listed)
    return tuple(image for image in found if image is not None)


def remove(client: Client, reference: str) -> None:
    """Remove an image; not an error when it is gone already."""
    with engine_errors(f"remove the image `{reference}`"):
        try:
            client.remove_image(reference)
        except NotFound:
            return


def _follow(answers: Iterable[dict[str, Any]], log: Log, tail: deque[str]) -> str:
    """Pass the lines of a build or pull on, and say why it failed, empty if it did not."""
    failure = ""
    for line in _lines(answers):
        if line.startswith("\0"):
            failure = line[1:]
            continue
        tail.append(line)
        log(line)
    return failure


def _lines(answers: Iterable[dict[str, Any]]) -> Iterator[str]:
    held = ""
    for answer in answers:
        if "error" in answer:
            yield f"\0{' '.join(str(answer['error']).split())}"
        *lines, held = (held + _COLOUR.sub("", str(answer.get("stream", "")))).split("\n")
        yield from (line.rstrip("\r") for line in lines if line.strip())
        if "status" in answer and "progressDetail" not in answer:
            yield " ".join(str(answer[key]) for key in ("id", "status") if key in answer)
    if held.strip():
        yield held


def _tagged(reference: str) -> str:
    return reference if "@" in reference or ":" in reference.rpartition("/")[2] else f"{reference}:latest"


def _ignore(_line: str) -> None:
    return
