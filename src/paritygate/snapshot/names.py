"""Names in git's index against names on disk: what a disk that folds case or Unicode forms hides. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable

from paritygate.outcomes.trees import NameMismatch

COLLISION = "collision"


def fold(path: str) -> str:
    """Make names equal that some filesystem takes for one: canonical caseless matching (Unicode Standard, D145)."""
    if path.isascii():
        return path.lower()
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", path).casefold())


def parents(paths: Iterable[str]) -> set[str]:
    """List every directory above some paths."""
    found: set[str] = set()
    for path in paths:
        above = path.rpartition("/")[0]
        while above and above not in found:
            found.add(above)
            above = above.rpartition("/")[0]
    return found


def partners(tracked: Collection[str], on_disk: Collection[str]) -> dict[str, str]:
    """Find for each tracked name that the disk lacks the untracked name on disk that folds to the same."""
    missing = [path for path in tracked if path not in on_disk]
    if not missing:
        return {}
    extra = {fold(path): path for path in sorted(on_disk, reverse=True) if path not in tracked}
    return {path: extra[fold(path)] for path in missing if fold(path) in extra}


def mismatches(tracked: Collection[str], renamed: dict[str, str]) -> tuple[NameMismatch, ...]:
    """List tracked names that the disk spells otherwise, and tracked names that fold to one."""
    found = [NameMismatch(tracked=path, on_disk=disk, why=_why(path, disk)) for path, disk in renamed.items()]
    first: dict[str, str] = {}
    for path in sorted({*tracked, *parents(tracked)}):
        other = first.setdefault(fold(path), path)
        if other != path:
            found.append(NameMismatch(tracked=path, on_disk=other, why=COLLISION))
    return tuple(sorted(found, key=lambda mismatch: (mismatch.tracked, mismatch.on_disk)))


def shadowed(paths: Iterable[str]) -> tuple[str, ...]:
    """List the paths that where case does not count are another's, which comes first; not what lies below one of them."""
    first: dict[str, str] = {}
    found: list[str] = []
    for path in sorted(paths):
        if first.setdefault(fold(path), path) != path and not (found and path.startswith(f"{found[-1]}/")):
            found.append(path)
    return tuple(found)


def collisions(found: Iterable[NameMismatch]) -> tuple[str, ...]:
    """Say which tracked names are one where case does not count."""
    return tuple(f"`{each.on_disk}` and `{each.tracked}`" for each in found if each.why == COLLISION)


def _why(tracked: str, disk: str) -> str:
    same = unicodedata.normalize("NFC", tracked) == unicodedata.normalize("NFC", disk)
    return "unicode form" if same else "case"
