"""What is kept between runs, and how it is got rid of: our own images alone, by their labels."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from paritygate.docker_engine.requests import KIND_LABEL, ImageRecord
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import EngineError
from paritygate.images.names import PROJECT_LABEL, SOURCE_LABEL, Kind

_KINDS = frozenset(str(kind) for kind in Kind)


def list_kept(engine: Engine, project: str = "") -> tuple[ImageRecord, ...]:
    """List the images that are kept, of one project or of all, newest first."""
    found = engine.images(f"{PROJECT_LABEL}={project}") if project else engine.images()
    kept = (image for image in found if image.labels.get(KIND_LABEL) in _KINDS)
    return tuple(sorted(kept, key=lambda image: (image.created, image.tags), reverse=True))


def prune(
    engine: Engine, keep: int, project: str = "", kinds: frozenset[Kind] = frozenset(Kind), before: str = ""
) -> tuple[ImageRecord, ...]:
    """Remove all but the newest `keep` images of each project, kind and source, and say which; one in use stays.

    With `before` (ISO 8601, in UTC) only what was made before then is removed.

    With `project` only that project's are looked at, and of `kinds` only those. A base is removed only where nothing at all
    is to be kept, for it is the one that cannot always be had again.
    """
    seen: dict[tuple[str, str, str], int] = {}
    doomed: list[ImageRecord] = []
    for image in list_kept(engine, project):
        kind, owner = image.labels[KIND_LABEL], image.labels.get(PROJECT_LABEL, "")
        if kind not in kinds or (kind == Kind.BASE and keep):
            continue
        group = (kind, owner, image.labels.get(SOURCE_LABEL, ""))
        seen[group] = seen.get(group, 0) + 1
        if seen[group] > keep and (not before or image.created < before):
            doomed.append(image)
    order = list(Kind)
    doomed.sort(key=lambda image: order.index(Kind(image.labels[KIND_LABEL])), reverse=True)
    return tuple(image for image in doomed if _remove(engine, image))


def drop_nameless(engine: Engine, used: Iterable[ImageRecord]) -> None:
    """Remove those whose name has gone to an equal image that another gate made at the same moment; one in use stays."""
    for image in used:
        if all((found := engine.image(name)) is not None and found.identity != image.identity for name in image.tags):
            _remove(engine, msgspec.structs.replace(image, tags=()))


def _remove(engine: Engine, image: ImageRecord) -> bool:
    try:
        for reference in image.tags or (image.identity,):
            engine.remove_image(reference)
    except EngineError:
        return False
    return True
