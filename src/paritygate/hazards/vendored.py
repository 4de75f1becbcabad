"""Tests that a project took over from CPython's own suite: other people's code, told by the helpers that only that suite has."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Collection
from pathlib import Path

_HELPERS = re.compile(
    rb"^[ \t]*(?:from[ \t]+test[ \t]+import\b[^\n]*\bsupport\b|from[ \t]+test\.support\b|import[ \t]+test\.support\b)",
    re.MULTILINE,
)
_OWN_PACKAGE = ("test/__init__.py", "test/support.py", "test/support/__init__.py")
_FEWEST = 2
"""One module with such an import may be the project's own, which borrows a helper."""


def from_cpython(project: Path, paths: Collection[str]) -> set[str]:
    """Choose those of `paths` in folders where most test modules import `test.support`.

    Where the project has a package `test` itself, the import may mean that one, so nothing is chosen.
    """
    if any(path == own or path.endswith(f"/{own}") for path in paths for own in _OWN_PACKAGE):
        return set()
    modules: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        folder, name = posixpath.split(path)
        if name.startswith("test_"):
            modules[folder].append(path)
    taken = {folder for folder, inside in modules.items() if _taken_over(project, inside)}
    return {path for path in paths if posixpath.dirname(path) in taken}


def _taken_over(project: Path, modules: list[str]) -> bool:
    borrowing = sum(_borrows(project / path) for path in modules)
    return borrowing >= _FEWEST and borrowing * 2 > len(modules)


def _borrows(path: Path) -> bool:
    try:
        return _HELPERS.search(path.read_bytes()) is not None
    except OSError:
        return False
