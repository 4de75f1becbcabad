"""Guesses which tests were meant by ids that name none: by what their files define, as those lie on this computer.

It refuses nothing, since a file may make tests that nobody can read in it.
"""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from paritygate.classifier.grid import NOWHERE
from paritygate.gate.grounds.parts import Trees
from paritygate.outcomes.artifact import Artifact, Finding
from paritygate.outcomes.plans import Selection
from paritygate.outcomes.words import Worktree

NEAR = 3
ALIKE = 0.6
BEFORE = "test_"
MOST_BYTES = 1 << 20
MAKES_NAMES = ("import *", "globals", "locals", "vars(", "setattr", "exec", "sys.modules", "__dict__", "__getattr__")
"""What a file says that may have tests whose names it does not spell."""


def not_spelled(asked: Selection, trees: Trees) -> Iterator[str]:
    """Say of each id that was asked for whose test its file nowhere spells that it is so, and which one may be meant."""
    for word in asked.paths:
        file, _, rest = word.partition("::")
        text = _text(file, trees) if rest and Worktree.DIRTY in trees else None
        name = rest.partition("[")[0].partition("::")[0]
        if text is None or not name or name in text or any(each in text for each in MAKES_NAMES):
            continue
        ids = _ids(file, text)
        if ids:
            yield f"`{file}` nowhere spells `{name}`; {_guess(word, ids)}"


def with_guesses(artifact: Artifact, trees: Trees) -> Artifact:
    """Say of each test that was asked for and is in no cell which one may be meant."""
    if all(each.note != NOWHERE for each in artifact.tests):
        return artifact
    there = [each.nodeid for each in artifact.tests if each.note != NOWHERE]
    texts = {file: _text(file, trees) for file in {each.nodeid.partition("::")[0] for each in artifact.tests}}
    return msgspec.structs.replace(artifact, tests=tuple(_guessed(each, there, texts) for each in artifact.tests))


def _guessed(finding: Finding, there: Sequence[str], texts: Mapping[str, str | None]) -> Finding:
    file, _, name = finding.nodeid.partition("::")
    if finding.note != NOWHERE or not name:
        return finding
    collected = [each.partition("[")[0] for each in there if each.startswith(f"{file}::")]
    ids = tuple(dict.fromkeys([*collected, *_ids(file, texts[file] or "")]))
    return msgspec.structs.replace(finding, note=f"{NOWHERE}; {_guess(finding.nodeid, ids)}") if ids else finding


def _guess(word: str, ids: Sequence[str]) -> str:
    """Name what is near, the same name in another class first; where nothing is, some of what there is."""
    bare = word.partition("[")[0]
    last = bare.rpartition("::")[2]
    same = [each for each in ids if each.rpartition("::")[2] == last and each != bare]
    by_name: dict[str, list[str]] = {}
    for each in ids:
        by_name.setdefault(each.rpartition("::")[2].removeprefix(BEFORE), []).append(each)
    close = difflib.get_close_matches(last.removeprefix(BEFORE), by_name, NEAR, ALIKE)
    near = list(dict.fromkeys([*same, *(each for name in close for each in by_name[name] if each != bare)]))[:NEAR]
    if near:
        return f"did you mean {' or '.join(f'`{each}`' for each in near)}?"
    shown = ", ".join(f"`{each.partition('::')[2]}`" for each in ids[:NEAR])
    more = len(ids) - NEAR
    return f"its file has {shown}{f' and {more} more' if more > 0 else ''}"


def _ids(file: str, text: str) -> tuple[str, ...]:
    """List the tests that a file spells, by their ids without parameters; none where it cannot be read as Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    return tuple(f"{file}::{name}" for name in _names(tree, ""))


def _names(node: ast.AST, above: str) -> Iterator[str]:
    for each in ast.iter_child_nodes(node):
        match each:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if name.startswith("test"):
                    yield above + name
            case ast.ClassDef(name=name):
                yield from _names(each, f"{above}{name}::")
            case ast.If() | ast.Try() | ast.With() | ast.For() | ast.ExceptHandler():
                yield from _names(each, above)
            case _:
                pass


def _text(file: str, trees: Trees) -> str | None:
    """Read a Python file of the tree, of a size that people write."""
    tree = trees.get(Worktree.DIRTY) or next(iter(trees.values()))
    place = Path(tree.root, tree.directory, file)
    try:
        if place.suffix != ".py" or not place.resolve().is_relative_to(Path(tree.root).resolve()):
            return None
        return place.read_text(encoding="utf-8") if place.stat().st_size <= MOST_BYTES else None
    except (OSError, ValueError):
        return None
