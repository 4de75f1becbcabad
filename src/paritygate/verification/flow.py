"""The checks of a report in their order, the file itself first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from paritygate import archive, places
from paritygate.outcomes.artifact import Artifact
from paritygate.verification import checkout as of_checkout
from paritygate.verification import derived
from paritygate.verification.checkout import Checkout
from paritygate.verification.items import Item, checked, not_checked


def verify(path: Path, version: str, checkout: Checkout | None) -> tuple[Item, ...]:
    """Check a report, and hold it against a checkout if there is one to hold it against; raises `UsageError` for no report."""
    artifact = archive.read(path)
    items = (_of_schema(path, artifact, version), *derived.items(artifact))
    if checkout is None:
        return (*items, not_checked("checkout", "left out, as was asked for"))
    return (*items, *of_checkout.items(artifact, checkout))


def _of_schema(path: Path, artifact: Artifact, version: str) -> Item:
    """Check that the file holds nothing beside its schema; that of another version may, and is weighed by this one's rules."""
    said = f"{artifact.schema}, written by paritygate {artifact.paritygate}"
    strange = tuple(sorted(set(_strange(msgspec.json.decode(places.read(path)), msgspec.to_builtins(artifact), "$"))))
    if artifact.paritygate != version:
        return checked("schema", f"{said}; what follows is derived by the rules of {version}", ())
    return checked("schema", said, (f"`{each}` is no field of a report" for each in strange))


def _strange(written: object, known: object, place: str) -> Iterator[str]:
    """Find fields that a file has and reading it has dropped; lists count once, so that an answer stays short."""
    if isinstance(written, dict) and isinstance(known, dict):
        for name, value in written.items():
            if name in known:
                yield from _strange(value, known[name], f"{place}.{name}")
            elif value:
                yield f"{place}.{name}"
    elif isinstance(written, list) and isinstance(known, list | tuple):
        for one, other in zip(written, known, strict=False):
            yield from _strange(one, other, f"{place}[]")
