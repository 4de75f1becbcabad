"""Which files are read where nobody names any: tests, and the packages that tests import."""

from __future__ import annotations

import posixpath
from collections.abc import Collection

from paritygate.hazards.source import Role, role_of

_APART = frozenset(
    {
        "docs",
        "doc",
        "examples",
        "example",
        "benchmarks",
        "benchmark",
        "bench",
        "tools",
        "tasks",
        "scripts",
        "ci",
        "dev",
        "devscripts",
        "devtools",
    }
)
_OF_OTHERS = frozenset({"vendor", "vendored", "_vendor", "_vendored", "third_party", "thirdparty", "extern", "node_modules"})
"""Folders of what other projects have written, wherever they are."""
_DATA = frozenset({"data", "fixtures", "samples", "roots", "testdata", "test_data", "resources", "assets"})
"""Folders of what tests read, where they hold code."""
_TOOLS = frozenset({"setup.py", "noxfile.py", "tasks.py", "fabfile.py", "dodo.py", "versioneer.py", "conf.py"})
_ROOTS = frozenset({"", "src", "lib"})


def by_default(files: Collection[str]) -> list[str]:
    """Choose test files, packages at the top or under `src`, and modules beside them; `files` are all of the project's `.py`."""
    packages = {posixpath.dirname(path) for path in files if posixpath.basename(path) == "__init__.py"}
    return sorted(path for path in files if _belongs(path, packages))


def _belongs(path: str, packages: set[str]) -> bool:
    folder, name = posixpath.split(path)
    if path.partition("/")[0] in _APART or not _OF_OTHERS.isdisjoint(path.split("/")[:-1]):
        return False
    role = role_of(path)
    if role is not Role.PACKAGE:
        return role is Role.CONFTEST or name.startswith("test") or _DATA.isdisjoint(path.split("/")[:-1])
    if name in _TOOLS:
        return False
    while folder in packages:
        folder = posixpath.dirname(folder)
    return folder in _ROOTS
