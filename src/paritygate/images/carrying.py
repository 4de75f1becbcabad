"""Images carried from one engine to another, so that what is installed is the very same on both.

What is there already, layer by layer the same, is left where it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from paritygate.docker_engine.requests import ImageRecord, Log
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import EngineError
from paritygate.images.installing import Way
from paritygate.images.preparing import ImageSet

ALIKE_EVERYWHERE = frozenset({Way.OFFLINE, Way.IN_PLACE, Way.NOT_AT_ALL})
"""The ways of installing a project that come to the same on the same image, whatever else an engine can reach."""


class Route(msgspec.Struct, frozen=True):
    """From which engine to which; `name` is what the second is called."""

    source: Engine
    target: Engine
    name: str


def environments(route: Route, images: ImageSet, log: Log) -> ImageSet:
    """Have the images of every environment on the other engine too."""
    there = carry(route, tuple(images.environments.values()), log)
    return msgspec.structs.replace(images, environments=dict(zip(images.environments, there, strict=True)))


def carry(route: Route, images: Sequence[ImageRecord], log: Log) -> tuple[ImageRecord, ...]:
    """Have images on the other engine under the names that they have here; raises `EngineError` where that cannot be."""
    absent = tuple(dict.fromkeys(image.tags[0] for image in images if not is_same(image, route.target.image(image.tags[0]))))
    if absent:
        log(f"carrying {len(absent)} image{'s' * (len(absent) != 1)} over to `{route.name}`")
        route.target.load(route.source.save(absent))
    there = [(image, route.target.image(image.tags[0])) for image in images]
    lacking = ", ".join(f"`{image.tags[0]}`" for image, found in there if not is_same(image, found))
    if lacking:
        raise EngineError(f"the engine `{route.name}` was sent {lacking}, and does not have it")
    return tuple(found for _, found in there if found is not None)


def is_same(image: ImageRecord, other: ImageRecord | None) -> bool:
    """Say whether two engines hold the same files under a name; what each calls the image itself may differ."""
    return other is not None and (other.identity == image.identity or (bool(image.layers) and other.layers == image.layers))
