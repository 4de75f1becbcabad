"""Which files that git does not know are made by installing, building or running a project, told by their names.

Such a file belongs into no commit: whoever needs it makes it.
"""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import PurePosixPath

from paritygate.outcomes.words import FileState

NOT_IN_GIT = frozenset({FileState.IGNORED, FileState.UNTRACKED})
OF_INSTALLATIONS = re.compile(r"(^|/)([^/]+\.(egg-info|dist-info)|\.eggs)(/|$)")
OF_RUNNING = re.compile(r"(^|/)__pycache__(/|$)|\.py[co]$")
VERSION_FILES = frozenset({"_version.py", "_version.pyi", "__version__.py", "version.py"})
"""What setuptools-scm and hatch-vcs write a version to, by the names that projects give it; git ignores it then."""
BUILT_FOLDERS = frozenset({"build", "dist", "_build"})
BUILT_ENDINGS = frozenset({".a", ".dll", ".dylib", ".lib", ".mo", ".o", ".obj", ".pyd", ".so", ".whl"})


class Product(StrEnum):
    """What makes a file: installing the project or running it, which happens in both trees alike, or a build of its own."""

    INSTALLED = "installed"
    BUILT = "built"


def product_of(path: str, state: FileState) -> Product | None:
    """Say what makes a file that git does not know; None where it may as well be somebody's own, as data of tests is."""
    if state not in NOT_IN_GIT:
        return None
    pure = PurePosixPath(path)
    if OF_INSTALLATIONS.search(path) or OF_RUNNING.search(path):
        return Product.INSTALLED
    if state is FileState.IGNORED and pure.name in VERSION_FILES:
        return Product.INSTALLED
    return Product.BUILT if pure.suffix.lower() in BUILT_ENDINGS or _is_in_a_build(pure, path.endswith("/")) else None


def _is_in_a_build(path: PurePosixPath, is_folder: bool) -> bool:  # noqa: FBT001
    """Say whether it lies where builds put things; a folder of such a name among tests is one of test data."""
    folders = path.parts if is_folder else path.parts[:-1]
    place = next((place for place, each in enumerate(folders) if each in BUILT_FOLDERS), None)
    return place is not None and not any(each.startswith("test") for each in folders[:place])
