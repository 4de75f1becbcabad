"""Which files are meant by paths, folders and globs, and which ought to be locked beside those that are.

Pure: names in, names out.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

ANY_DEPTH = "**"
CODE = (".py", ".pyi")
_MAGIC = frozenset("*?[")


def chosen(pattern: str, files: Iterable[str]) -> Iterator[str]:
    """Yield the files that a pattern means.

    A glob (`*`, `?`, `[...]` within a name, `**` for any depth) and the path of a file mean what they match; a folder means
    everything below it but Python sources, which are reviewed as code is.
    """
    pattern = posixpath.normpath(pattern)
    parts = pattern.split("/")
    inside = "" if pattern == "." else f"{pattern}/"
    is_glob = not _MAGIC.isdisjoint(pattern)
    for file in files:
        meant = file == pattern or (is_glob and _matches(parts, file.split("/")))
        if meant or (file.startswith(inside) and not file.endswith(CODE)):
            yield file


def covers(pattern: str, file: str) -> bool:
    """Say whether a pattern means a file, there or not."""
    return any(chosen(pattern, (file,)))


def beside(locked: Collection[str], files: Iterable[str]) -> Iterator[str]:
    """Yield the files that lie in a folder of locked ones without being locked themselves.

    Nobody said which folders those are, so it is told by what they hold: a folder with locked files and no Python source is one
    of recordings, and in it and below it belong the files that end as a locked one there does.
    """
    files = tuple(files)
    of_code = {posixpath.dirname(file) for file in files if file.endswith(CODE)}
    kinds: dict[str, set[str]] = {}
    for path in locked:
        folder = posixpath.dirname(path)
        if folder and folder not in of_code:
            kinds.setdefault(folder, set()).add(_kind(path))
    for file in files:
        if file not in locked and any(_kind(file) in kinds[above] for above in _above(file) if above in kinds):
            yield file


def _kind(path: str) -> str:
    return posixpath.splitext(path)[1]


def _above(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path


def _matches(pattern: Sequence[str], path: Sequence[str]) -> bool:
    """Match names one by one; `**` stands for any number of folders."""
    if not pattern:
        return not path
    if pattern[0] == ANY_DEPTH:
        rest = pattern[1:]
        return (not rest and bool(path)) or any(_matches(rest, path[start:]) for start in range(len(path)))
    return bool(path) and fnmatchcase(path[0], pattern[0]) and _matches(pattern[1:], path[1:])
