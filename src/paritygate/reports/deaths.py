"""Cells that did not finish, and what is said of several of them in the same words, once.

It knows what was seen of a cell, not what that makes of any test.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.text import Text

from paritygate.classifier.evidence import KILLING
from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.words import CellStatus, Purpose
from paritygate.reports.advice import after_status
from paritygate.reports.text import in_one_line, listed, spell_out, wrapped

TAIL_LINES = 8

KNOWN = frozenset({CellStatus.FINISHED, CellStatus.NO_TESTS, CellStatus.UNUSABLE})
"""After these ends of a gate cell an outcome of every test is known."""


def said_once(reasons: Iterable[str], cells: Sequence[Cell]) -> dict[str, str]:
    """Say for each reason what stands for it and for all that differ from it by nothing but the cell they name."""
    gate = {f"`{cell.env}` attempt {cell.attempt}": cell for cell in cells if cell.purpose is Purpose.GATE}
    alike: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for reason in reasons:
        named = min((phrase for phrase in gate if phrase in reason), key=reason.index, default="")
        before, _, behind = reason.partition(named) if named else (reason, "", "")
        alike.setdefault((before, behind), []).append((reason, named))
    result: dict[str, str] = {}
    for (before, behind), group in alike.items():
        names = [named for _, named in group]
        where = f"all {len(gate)} cells" if 1 < len(gate) == len(set(names)) else ", ".join(dict.fromkeys(names))
        result |= {reason: f"{before}{where}{behind}" for reason, _ in group}
    return result


def dead_cells(artifact: Artifact, width: int) -> Iterator[str | Text]:
    """Show the cells that did not finish, those together that ended in the same way; the verdict has been said above."""
    cells, known = artifact.cells, in_one_line(artifact.verdict.line)
    groups: dict[tuple[object, ...], list[Cell]] = {}
    for cell in cells:
        if cell.status is not CellStatus.FINISHED:
            groups.setdefault((cell.purpose, cell.status, cell.detail, cell.running), []).append(cell)
    for group in groups.values():
        yield from _group(group, cells, known, width)
        yield f"  hint: {after_status(group[0], artifact.sweeps)}"


def _group(group: Sequence[Cell], cells: Sequence[Cell], known: str, width: int) -> Iterator[str | Text]:
    first = group[0]
    tail = first.stderr_tail.splitlines()[-TAIL_LINES:]
    same = {line.strip() for line in tail}
    detail = "\n".join(_without(first.detail.splitlines(), same))
    why = f": {in_one_line(detail)}" if detail else ""
    said = bool(first.detail) and in_one_line(first.detail) in known
    yield Text(f"{_named(group, cells)} {first.status}{', as said above' if said else why}", style="bold")
    if first.running:
        yield f"  running then: {listed(test.nodeid for test in first.running)}"
    if tail and len({cell.stderr_tail for cell in group}) > 1:
        yield f"  the end of what {name(first)} printed:"
    for line in tail:
        yield from wrapped(spell_out(line), width, "  | ", "  |   ")


def _without(lines: Iterable[str], said: set[str]) -> Iterator[str]:
    return (line for line in lines if line.strip() not in said)


def _named(group: Sequence[Cell], cells: Sequence[Cell]) -> str:
    purpose = group[0].purpose
    names = tuple(dict.fromkeys(name(cell) for cell in group))
    if len(names) == 1:
        return f"cell {names[0]} ({purpose})"
    if len(group) == sum(cell.purpose is purpose for cell in cells):
        return f"all {len(group)} cells ({purpose})"
    return f"cells {', '.join(names)} ({purpose})"


def name(cell: Cell) -> str:
    """Say which cell this is."""
    return f"{cell.env}-{cell.attempt}"


def culprits(cells: Iterable[Cell]) -> tuple[str, ...]:
    """Say which cells have left tests without an outcome, and in which test, as far as that is known."""
    some = tuple(cells)
    gated = {cell.env for cell in some if cell.purpose is Purpose.GATE}
    return tuple(dict.fromkeys(_culprit(cell) for cell in some if cell.env in gated and _leaves_open(cell)))


def _leaves_open(cell: Cell) -> bool:
    """Say whether a cell of the gate's environments may have left a label open; mixed ones only look for causes."""
    return cell.status not in KNOWN if cell.purpose is Purpose.GATE else cell.status is not CellStatus.FINISHED


def _culprit(cell: Cell) -> str:
    end = f"cell {name(cell)} ({cell.purpose}) {cell.status}"
    if cell.removed:
        return f"{end}: a test has removed {listed(cell.removed)}"
    if cell.running:
        return f"{end} in {listed(test.nodeid for test in cell.running)}"
    killers = [run.nodeid for run in cell.tests if run.outcome in KILLING]
    return f"{end} after {listed(killers)}" if killers else end
