"""Finds tests whose ids change from one collection to the next, as those of parameters do that are drawn or told by a clock.

Such a test looks as if it were missing in every other attempt; what it does there is not compared.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from paritygate.outcomes.cells import Cell, TestId
from paritygate.outcomes.words import CellStatus

Families = dict[str, set[TestId]]


def drifting(cells: Iterable[Cell]) -> frozenset[TestId]:
    """List the tests of which attempts in one environment have equally many of the same function, under other ids."""
    found: set[TestId] = set()
    finished = [(cell.env, _families(cell)) for cell in cells if cell.status is CellStatus.FINISHED]
    for (env, first), (other, second) in combinations(finished, 2):
        if env == other:
            for function in first.keys() & second.keys():
                if len(first[function]) == len(second[function]):
                    found |= first[function] ^ second[function]
    return frozenset(found)


def _families(cell: Cell) -> Families:
    """Gather parametrised tests under their function."""
    families: Families = {}
    for run in cell.tests:
        file, separator, name = run.nodeid.partition("::")
        function, bracket, _ = name.partition("[")
        if bracket:
            families.setdefault(file + separator + function, set()).add(run.test)
    return families
