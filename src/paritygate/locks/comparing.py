"""A lock against the files that there are: what is wrong with each, by its name. Pure: digests and git's view are handed in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

import msgspec


class State(StrEnum):
    """What is wrong with a file; the words that it is told by."""

    CHANGED = "changed"
    LINE_ENDINGS = "equal but for line endings"
    MISSING = "missing"
    UNREADABLE = "unreadable"
    UNLOCKED = "not locked"
    UNTRACKED = "not tracked by git"
    IGNORED = "ignored by git"


class Standing(StrEnum):
    """What a file is to git; `NO_GIT` where there is none to ask."""

    TRACKED = "tracked"
    UNTRACKED = "untracked"
    IGNORED = "ignored"
    NO_GIT = "no git"


class File(msgspec.Struct, frozen=True, kw_only=True):
    """What is at a locked path: `digest` is empty where nothing can be read, and `why` says why, empty for nothing there.

    `alike` are the digests that it would have with other line endings, `stored` is that of what git has where git calls the file
    unmodified and converts its line endings, empty where it does not.
    """

    digest: str = ""
    alike: frozenset[str] = frozenset()
    stored: str = ""
    standing: Standing = Standing.NO_GIT
    why: str = ""


class Broken(msgspec.Struct, frozen=True, order=True):
    """One thing that is wrong with one file."""

    path: str
    state: State
    why: str = ""

    @property
    def line(self) -> str:
        """Say it in a line."""
        return f"{self.state}: `{self.path}`{f' ({self.why})' if self.why else ''}"


def broken(lock: Mapping[str, str], files: Mapping[str, File], unlocked: Iterable[str]) -> tuple[Broken, ...]:
    """List everything that is wrong, by path."""
    found = [fault for path, digest in lock.items() for fault in _faults(path, digest, files[path])]
    return tuple(sorted([*found, *(Broken(path, State.UNLOCKED) for path in unlocked)]))


def converted(lock: Mapping[str, str], files: Mapping[str, File]) -> tuple[str, ...]:
    """List the files that are equal to their lock but for line endings, and rightly so: git converts them, both ways."""
    return tuple(path for path, digest in lock.items() if files[path].digest != digest == files[path].stored)


def _faults(path: str, digest: str, file: File) -> Iterator[Broken]:
    if not file.digest:
        yield Broken(path, State.UNREADABLE if file.why else State.MISSING, file.why)
    elif digest not in {file.digest, file.stored}:
        yield Broken(path, State.LINE_ENDINGS if digest in file.alike else State.CHANGED)
    if file.digest:
        match file.standing:
            case Standing.UNTRACKED:
                yield Broken(path, State.UNTRACKED, "a fresh clone lacks it")
            case Standing.IGNORED:
                yield Broken(path, State.IGNORED, "a fresh clone lacks it")
            case Standing.TRACKED | Standing.NO_GIT:
                return
