"""Which tests were asked for: words of the user, turned into paths from the project that are known to be in a tree.

It opens no file: what exists is what the trees say.
"""

from __future__ import annotations

import difflib
import os
import posixpath
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from paritygate.errors import UsageError
from paritygate.outcomes.plans import Selection
from paritygate.outcomes.trees import Tree

_LINKS = 40
_NEAR = 3
_COMPARED = 20_000


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What the user gave: `paths` may be node ids; `arguments` go to pytest as they are."""

    paths: tuple[str, ...] = ()
    keyword: str = ""
    marker: str = ""
    arguments: tuple[str, ...] = ()


def parse(words: Sequence[str]) -> Asked:
    """Read words in pytest's own manner: `-k` and `-m` with their value, other options as they are, all else paths.

    An option of pytest's that takes a value has to be one word, `--name=value`; after `--` everything is an argument.
    """
    given: dict[str, str] = {"-k": "", "-m": ""}
    paths: list[str] = []
    arguments: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            arguments.extend(rest)
        elif word[:2] in given:
            given[word[:2]] = word[2:].removeprefix("=") or _value(word, rest)
        elif word.startswith("-") and word != "-":
            arguments.append(word)
        else:
            paths.append(word)
    return Asked(paths=tuple(paths), keyword=given["-k"], marker=given["-m"], arguments=tuple(arguments))


def select(asked: Asked, trees: Sequence[Tree]) -> Selection:
    """Make paths relative to the project's directory; a path that no tree has is a `UsageError` with near misses.

    A path may be given from the project, from the tree's top, or absolute.
    """
    modules = "--pyargs" in asked.arguments
    found = tuple(dict.fromkeys(_resolve(word, trees, modules=modules) for word in asked.paths))
    return Selection(
        paths=found,
        keyword=asked.keyword,
        marker=asked.marker,
        arguments=asked.arguments,
        directory=trees[0].directory if trees else "",
    )


def words_of(asked: Selection) -> tuple[str, ...]:
    """Write a selection as words that ask for it."""
    keyword = ("-k", asked.keyword) if asked.keyword else ()
    return (*asked.paths, *keyword, *(("-m", asked.marker) if asked.marker else ()), *asked.arguments)


def for_tree(selection: Selection, tree: Tree) -> tuple[Selection | None, tuple[str, ...]]:
    """Keep the paths that one tree has, and return those that it lacks.

    None when nothing is left to run: no path that was asked for, or the project itself, is in the tree. Without paths,
    pytest's own default stands.
    """
    kept = msgspec.structs.replace(selection, directory=tree.directory)
    there = _Names(tree)
    if tree.directory not in there:
        return None, selection.paths
    if not selection.paths or "--pyargs" in selection.arguments:
        return kept, ()
    lacking = tuple(word for word in selection.paths if _from_top(tree.directory, _split(word)[0]) not in there)
    left = tuple(word for word in selection.paths if word not in lacking)
    return (msgspec.structs.replace(kept, paths=left) if left else None), lacking


class _Names:
    """The names in a tree, links followed as a filesystem would; the top itself is one."""

    def __init__(self, tree: Tree) -> None:
        self._names = {entry.path for entry in tree.entries}
        self._links = {entry.path: entry.target for entry in tree.entries if entry.kind == "link"}

    def __contains__(self, path: str) -> bool:
        for _ in range(_LINKS):
            if path in {"", "."} or path in self._names:
                return True
            link = next((above for above in _upwards(path) if above in self._links), None)
            if link is None:
                return False
            path = posixpath.normpath(posixpath.join(posixpath.dirname(link), self._links[link], path[len(link) + 1 :]))
        return False


def _value(option: str, rest: Iterator[str]) -> str:
    value = next(rest, None)
    if value is None:
        raise UsageError(f"`{option}` needs a value", f"write `{option} EXPRESSION`; a file named so is `./{option}`")
    return value


def _resolve(word: str, trees: Sequence[Tree], *, modules: bool) -> str:
    path, node = _split(word)
    names = [_Names(tree) for tree in trees]
    for candidate in _candidates(path, trees):
        if any(candidate in there for there in names):
            return _from_project(trees[0].directory, candidate) + node
    if modules:
        return word
    raise UsageError(f"`{word}` is in no tree of `{_project(trees)}`", hint=_hint(path, trees))


def _candidates(path: str, trees: Sequence[Tree]) -> Iterator[str]:
    """Say where in the tree a path may be meant; a path that leads out of it is a `UsageError`."""
    for root, directory in dict.fromkeys((tree.root, tree.directory) for tree in trees):
        if Path(path).is_absolute():
            # The root has every link resolved; links of the tree's own stay unless only the real path lies in it.
            tried = [os.path.relpath(place, root).replace(os.sep, "/") for place in (path, os.path.realpath(path))]
        else:
            tried = [_from_top(directory, path), posixpath.normpath(path)]
        inside = [place for place in tried if place != ".." and not place.startswith("../")]
        if not inside:
            raise UsageError(f"`{path}` lies outside the tree `{root}`", hint="only what is in the repository is sent to a cell")
        yield from inside


def _split(word: str) -> tuple[str, str]:
    """Split a node id at its first `::`; what follows is the test's own affair."""
    path, separator, node = word.partition("::")
    return path.replace(os.sep, "/") if os.sep != "/" else path, separator + node


def _from_top(directory: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(directory, path))


def _from_project(directory: str, path: str) -> str:
    return posixpath.relpath(path or ".", directory or ".")


def _upwards(path: str) -> Iterator[str]:
    while path.strip("/"):
        yield path
        path = posixpath.dirname(path)


def _project(trees: Sequence[Tree]) -> str:
    return posixpath.join(trees[0].root, trees[0].directory) if trees[0].directory else trees[0].root


def _hint(path: str, trees: Sequence[Tree]) -> str:
    near = _near_misses(path, trees)
    if near:
        return f"did you mean {' or '.join(f'`{name}`' for name in near)}?"
    withheld = any(path in tree.withheld or _from_top(tree.directory, path) in tree.withheld for tree in trees)
    if withheld:
        return "it looks like a secret and is withheld; name it under `include` to send it"
    return "give a path from the project or from the top of its repository; caches and environments are never sent"


def _near_misses(path: str, trees: Sequence[Tree]) -> list[str]:
    """Guess: the same path in another case, the same name elsewhere, then similar spellings."""
    directory = trees[0].directory
    names = sorted({_from_project(directory, entry.path) for tree in trees for entry in tree.entries if entry.kind != "link"})
    wanted = posixpath.normpath(path)
    offered = [name for name in names if not wanted.endswith(".py") or name.endswith(".py")][:_COMPARED]
    case = [name for name in offered if name.casefold() == wanted.casefold()]
    same = [name for name in offered if posixpath.basename(name).casefold() == posixpath.basename(wanted).casefold()]
    close = difflib.get_close_matches(wanted, offered, _NEAR, 0.8)
    return list(dict.fromkeys([*case, *same, *close]))[:_NEAR]
