"""Tests whose process was killed in a cell that ran out of memory: they never came to an answer there.

However often such a test dies, that says how much memory there was. A `MemoryError` that it raises itself is an answer.
"""

from __future__ import annotations

from collections.abc import Iterable

from paritygate.outcomes.cells import Cell, EnvironmentName, TestId, TestRun
from paritygate.outcomes.words import CellStatus, Outcome

KILLED = frozenset({"", "SIGKILL"})
"""What a crash is called that may be the kernel's work, or whose kind nobody saw."""


def was_starved(cell: Cell, run: TestRun | None) -> bool:
    """Say whether a test's process was killed in a cell that ran out of memory."""
    if run is None or cell.status is not CellStatus.OUT_OF_MEMORY or run.outcome is not Outcome.CRASHED:
        return False
    return run.failure is None or run.failure.exception in KILLED


def starved(cell: Cell) -> tuple[TestId, ...]:
    """List the tests of a cell that were killed since it ran out of memory."""
    return tuple(run.test for run in cell.tests if was_starved(cell, run))


def deaths(cells: Iterable[Cell]) -> dict[TestId, dict[EnvironmentName, set[int]]]:
    """Say of each such test in which attempts of which environments it died: by their places, as the cells come."""
    found: dict[TestId, dict[EnvironmentName, set[int]]] = {}
    places: dict[EnvironmentName, int] = {}
    for cell in cells:
        place = places.setdefault(cell.env, 0)
        places[cell.env] += 1
        for test in starved(cell):
            found.setdefault(test, {}).setdefault(cell.env, set()).add(place)
    return found
