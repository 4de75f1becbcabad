"""Which Python files of a tree may import which, by names alone: every place that a name could mean is taken."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping

from paritygate.changed.facts import Facts

_TEST_FOLDERS = frozenset({"test", "tests", "testing"})
_PACKAGE = "__init__.py"


class Graph:
    """A tree's Python files and who sees whom.

    `files` has the facts of those that exist, `known` further names that existed once and are still imported by. `tests` are test
    files, `governing` the modules that pytest loads with each of them. `loose` says that any folder may be one to import from.
    """

    def __init__(self, files: Mapping[str, Facts], known: Collection[str], tests: Collection[str], *, loose: bool) -> None:
        self.files = files
        self.tests = frozenset(tests)
        self._all = {*files, *(path for path in known if path.endswith(".py"))}
        self._loose = loose
        self._roots: dict[str, set[str]] = {}
        self._inner: dict[str, set[str]] = {}
        for path in self._all:
            for name, root in _names(path):
                ours = posixpath.join(root, _PACKAGE) not in self._all
                (self._roots if ours else self._inner).setdefault(name, set()).add(path)
        self._seers: dict[str, set[str]] = {}
        for path, facts in files.items():
            for seen in self._seen(path, facts):
                self._seers.setdefault(seen, set()).add(path)

    def govern(self, modules: Iterable[str]) -> None:
        """Take it that every test file sees these modules."""
        for seen in [path for module in modules for path in self.meant(module)]:
            self._seers.setdefault(seen, set()).update(self.tests)

    def seeing(self, seeds: Iterable[str]) -> set[str]:
        """List the files that see one of some files, by whatever way, with those themselves."""
        found: set[str] = set()
        waiting = list(seeds)
        while waiting:
            path = waiting.pop()
            if path not in found:
                found.add(path)
                waiting.extend(self._seers.get(path, ()))
        return found

    def meant(self, name: str) -> Iterator[str]:
        """List the files that importing a dotted name may run."""
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            known = ".".join(parts[:length])
            here = self._roots.get(known, set())
            yield from here
            if self._loose or not (here or parts[0] in self._roots or parts[0] in sys.stdlib_module_names):
                yield from self._inner.get(known, ())

    def _seen(self, path: str, facts: Facts) -> Iterator[str]:
        for name in facts.modules:
            yield from self.meant(name)
        for place in facts.near:
            yield from (each for each in (f"{place}.py", posixpath.join(place, _PACKAGE)) if each in self._all)
        for folder in above(path):
            beside = (_PACKAGE, "conftest.py") if path in self.tests else (_PACKAGE,)
            yield from (each for each in (posixpath.join(folder, name) for name in beside) if each in self._all)


def above(path: str) -> Iterator[str]:
    """List the folders that a path is in, innermost first; the top is empty."""
    folder = path
    while folder:
        folder = posixpath.dirname(folder)
        yield folder


def on_the_test_side(path: str, tests: Collection[str]) -> bool:
    """Say whether a file is there for tests: one of them, a conftest, or in a folder that is named for them."""
    *folders, name = path.split("/")
    return path in tests or name == "conftest.py" or not _TEST_FOLDERS.isdisjoint(folders)


def _names(path: str) -> Iterator[tuple[str, str]]:
    """List the dotted names that a file has, each with the folder that it would be imported from."""
    parts = path.removesuffix(".py").split("/")
    module = parts[:-1] if parts[-1] == "__init__" else parts
    for start in range(len(module)):
        yield ".".join(module[start:]), "/".join(module[:start])
