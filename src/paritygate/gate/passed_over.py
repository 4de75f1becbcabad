"""What to remark where nothing was collected: tests that pytest passes over because of the names of their files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from pathlib import Path

from paritygate.changed.unnoticed import known_of, said_of, unnoticed
from paritygate.gate.grounds.parts import Trees
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import Selection
from paritygate.outcomes.words import CellStatus, Worktree


def remarks(asked: Selection, trees: Trees, cells: Sequence[Cell]) -> Iterator[str]:
    """Say where tests are that were in the selection, if no cell had any; a file that is named is collected by any name."""
    if asked.keyword or asked.marker or any(cell.status is not CellStatus.NO_TESTS for cell in cells):
        return
    tree = trees.get(Worktree.DIRTY) or next(iter(trees.values()))
    project, known = Path(tree.root, tree.directory), known_of(Path(tree.root, tree.directory))
    inside = (posixpath.relpath(entry.path, tree.directory or ".") for entry in tree.entries if entry.kind == "file")
    chosen = (path for path in inside if not path.startswith("../") and _is_asked_for(path, asked.paths))
    if found := unnoticed(project, chosen, known):
        yield "; ".join(said_of(found, known))


def _is_asked_for(path: str, asked: Sequence[str]) -> bool:
    return not asked or any(each == "." or path.startswith(f"{each.rstrip('/')}/") for each in asked)
