"""Reads the trees for the choice: the project's conventions, and what each Python file may see, in every version they have."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping, Sequence

import msgspec

from paritygate.changed import facts, project
from paritygate.changed.facts import Facts
from paritygate.changed.graph import Graph, on_the_test_side
from paritygate.changed.mapping import Surroundings
from paritygate.changed.project import Conventions
from paritygate.outcomes.plans import Selection
from paritygate.outcomes.trees import Tree
from paritygate.snapshot import sources
from paritygate.snapshot.sources import Objects

_PROMPT = b">>>"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for, the trees that it is to run in, `base` (empty: the default branch), our `own` files, and variables."""

    asked: Selection
    trees: tuple[Tree, ...]
    base: str
    own: tuple[str, ...]
    environ: Mapping[str, str]


def conventions(wanted: Wanted) -> Conventions:
    """Read how the project's tests are found."""
    texts: dict[str, str] = {}
    inside = f"{wanted.asked.directory}/" if wanted.asked.directory else ""
    with Objects(wanted.trees[0].root, wanted.environ) as objects:
        for tree in wanted.trees:
            for entry in tree.entries:
                name = entry.path.removeprefix(inside)
                if entry.kind == "file" and entry.path.startswith(inside) and name in (*project.CONFIGURATION, "setup.py"):
                    texts[name] = (_content(entry.source, objects) or b"").decode("utf-8", "replace")
    ordered = {name: texts[name] for name in (*project.CONFIGURATION, "setup.py") if name in texts}
    return project.conventions(ordered, wanted.asked.arguments)


def surroundings(wanted: Wanted, paths: Sequence[str], known: Conventions, reports: frozenset[str]) -> Surroundings:
    """Read everything that the touched files, some of them reports of ours, lie among."""
    entries = [entry for tree in wanted.trees for entry in tree.entries]
    files = frozenset(entry.path for entry in entries if entry.kind == "file")
    named = {from_top(wanted.asked, word.partition("::")[0]) for word in wanted.asked.paths}
    inside = f"{wanted.asked.directory}/" if wanted.asked.directory else ""
    tests = {
        path
        for path in {*files, *paths}
        if path.startswith(inside) and (known.is_test(path.removeprefix(inside)) or (path in named and path in files))
    }
    found = _facts(wanted, tests)
    # `test*.txt` is what data of tests are called too: what holds no prompt has no test in it.
    tests = {path for path in tests if path.endswith(".py") or path in named or found.get(path, Facts()).opaque}
    reached = any(_moves_imports(each) for name, each in found.items() if on_the_test_side(name, tests))
    graph = Graph(found, paths, tests, loose=known.loose or reached)
    graph.govern(known.loaded)
    links = {entry.path: _target(entry.path, entry.target) for entry in entries if entry.kind == "link"}
    return Surroundings(
        files=files, links=links, directory=wanted.asked.directory, graph=graph, doctests=known.doctests, reports=reports
    )


def _moves_imports(each: Facts) -> bool:
    """Say whether a file touches `sys.path`, or asks a fixture to."""
    return any(name == "sys.path" or name.startswith("sys.path.") for name in each.modules)


def _facts(wanted: Wanted, tests: Collection[str]) -> dict[str, Facts]:
    """Read every Python file, in all the versions that the trees have of it."""
    found: dict[str, Facts] = {}
    done: set[tuple[str, str]] = set()
    with Objects(wanted.trees[0].root, wanted.environ) as objects:
        for tree in wanted.trees:
            for entry in tree.entries:
                if entry.kind != "file" or (entry.path, entry.sha256) in done or not _is_read(entry.path, tests):
                    continue
                done.add((entry.path, entry.sha256))
                told = _told(entry.path, _content(entry.source, objects), tests)
                found[entry.path] = facts.together(found[entry.path], told) if entry.path in found else told
    return found


def _is_read(path: str, tests: Collection[str]) -> bool:
    return path.endswith(".py") or path in tests


def _told(path: str, content: bytes | None, tests: Collection[str]) -> Facts:
    if content is None:
        return Facts(opaque="it cannot be read")
    if not path.endswith(".py"):
        # Without NUL bytes, prompts are seen in UTF-16 and UTF-32 too.
        return Facts(opaque="it is a text with tests in it") if _PROMPT in content.replace(b"\0", b"") else Facts()
    return facts.read(path, content, test_side=on_the_test_side(path, tests))


def _content(source: str, objects: Objects) -> bytes | None:
    try:
        if source.startswith(sources.OBJECT):
            return b"".join(objects.read(source)[1])
        with sources.open_file(source.removeprefix(sources.LINE_FEEDS)) as stream:
            return stream.read()
    except OSError:
        return None


def _target(path: str, target: str) -> str:
    """Say where in the tree a link leads."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))


def from_top(asked: Selection, path: str) -> str:
    """Write a path of the project's as one from the tree's top, which is empty itself."""
    plain = posixpath.normpath(posixpath.join(asked.directory, path))
    return "" if plain == "." else plain
