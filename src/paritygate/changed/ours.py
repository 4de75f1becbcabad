"""Which files that git does not track are reports of paritygate, by what they hold: they are no part of a patch."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection
from pathlib import Path

import msgspec

from paritygate.snapshot import survey

_START = re.compile(rb'\s*\{\s*"schema"\s*:\s*\d+\s*,\s*"paritygate"\s*:')
_STARTS_WITHIN = 200
_WRITTEN_BESIDE = frozenset(posixpath.splitext(name)[1] for name in survey.OWN)


class _Report(msgspec.Struct):
    """What reports and cells of every version have."""

    schema: int
    paritygate: str
    subject: dict[str, msgspec.Raw]
    cells: list[msgspec.Raw]


def reports(top: str, untracked: Collection[str]) -> frozenset[str]:
    """List the reports among untracked paths, and what was rendered beside them under the same name (`old.json`, `old.html`)."""
    found = {path for path in untracked if _is_report(Path(top) / path)}
    stems = {posixpath.splitext(path)[0] for path in found}
    return frozenset(
        path
        for path in untracked
        if path in found or (posixpath.splitext(path)[0] in stems and posixpath.splitext(path)[1] in _WRITTEN_BESIDE)
    )


def _is_report(place: Path) -> bool:
    if place.is_symlink():
        return False
    try:
        # The start tells nearly all others apart, however large they are.
        with place.open("rb") as stream:
            if not _START.match(stream.read(_STARTS_WITHIN)):
                return False
        msgspec.json.decode(place.read_bytes(), type=_Report)
    except (OSError, ValueError):  # whatever msgspec cannot decode is a `ValueError`, too
        return False
    return True
