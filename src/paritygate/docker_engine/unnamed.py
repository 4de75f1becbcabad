"""Images without a name: what builds that failed leave, and what lost its name to another of the same content.

Only leaves are looked at: what another image is made of stays, whoever made it, and so does what a container uses.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from docker.errors import APIError

from paritygate.docker_engine.client import Client
from paritygate.docker_engine.failures import FOREIGN, engine_errors, explain, lost
from paritygate.docker_engine.owners import Owner, abandoned
from paritygate.docker_engine.requests import BUILD_LABEL, KIND_LABEL, OWNER_LABEL

# An image that is being made has no name for a moment, and one that has just lost it may be about to be built upon.
SETTLED_SECONDS = 60.0
DISCARD_SECONDS = 30.0
LOST_SECONDS = 5.0
LATE_SECONDS = 1.0
PAUSE = 0.2

_FROM = re.compile(r"(?im)^[ \t]*FROM[ \t].*$")

logger = logging.getLogger(__name__)


def marked(recipe: bytes, labels: Mapping[str, str]) -> bytes:
    """Have a recipe give labels to all that is made on the way to its image."""
    lines = "".join(f"\n{instruction(name, value)}" for name, value in sorted(labels.items()))
    return _FROM.sub(lambda found: found.group() + lines, recipe.decode()).encode()


def instruction(name: str, value: str) -> str:
    """Write a label as an instruction of a recipe."""
    return f'LABEL "{_quoted(name)}"="{_quoted(value)}"'


def discard(client: Client, build: str, patience: float) -> None:
    """Remove what a build has left that came to no image.

    `patience` is for how many seconds to go on looking: an engine that was cut off may be in the midst of a step.
    """
    began = time.monotonic()
    while True:
        left, failure = _try_to_discard(client, build)
        spent = time.monotonic() - began
        if not left and failure is None and spent >= patience:
            return
        gone = failure is not None and lost(failure)
        if spent > (LOST_SECONDS if gone else DISCARD_SECONDS):
            said = ", ".join(left) if failure is None else explain(failure)
            logger.log(logging.INFO if gone else logging.WARNING, "what the build left could not be removed in time: %s", said)
            return
        time.sleep(PAUSE)


def _try_to_discard(client: Client, build: str) -> tuple[tuple[str, ...], Exception | None]:
    """Remove what a build has left; say what there was, and what kept a busy engine from doing as it was told."""
    left: tuple[str, ...] = ()
    try:
        left = tuple(image["id"] for image in _unnamed(client) if image["labels"].get(BUILD_LABEL) == build)
        for image in left:
            remove_if_unused(client, image)  # the builder may still have hold of a stage that it has copied from
    except FOREIGN as error:
        return left, error
    return left, None


def sweep(client: Client, here: Owner, now: float) -> tuple[str, ...]:
    """Remove what nobody will ask for again, and say what it was.

    | without a name, a leaf, unused | removed |
    |---|---|
    | on the way to an image, its owner alive | never |
    | on the way to an image, its owner dead | yes |
    | an image of ours that lost its name | once it is a minute old |
    """
    removed = 0
    with engine_errors("list images without a name"):
        for image in _unnamed(client):
            labels = image["labels"]
            if labels.get(OWNER_LABEL):
                doomed = abandoned(labels, here, now)
            else:
                doomed = bool(labels.get(KIND_LABEL)) and now - image["created"] > SETTLED_SECONDS
            removed += doomed and remove_if_unused(client, image["id"])
    return (f"{removed} image{'s' * (removed != 1)} without a name",) if removed else ()


def _unnamed(client: Client) -> Iterator[dict[str, Any]]:
    """List the leaves that have no name; the engine counts as dangling only what nothing else is made of."""
    for image in client.images(filters={"dangling": True}):
        yield {"id": str(image["Id"]), "labels": image.get("Labels") or {}, "created": float(image.get("Created") or 0.0)}


def remove_if_unused(client: Client, identity: str) -> bool:
    """Remove an image as far as the engine agrees, and say whether it went by this.

    What the engine says against it is not an error: that it is in use, or gone, or that it is itself at a loss because another
    process removes the image at this moment.
    """
    try:
        client.remove_image(identity)
    except APIError:
        return False
    return True


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
