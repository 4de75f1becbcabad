"""Looks for what makes tests coupled, for as long as the time that was given for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import msgspec

from paritygate.causes.differences import differences
from paritygate.causes.files import with_rules
from paritygate.causes.flow import Ground, Run, attribute
from paritygate.confirm.flow import Confirmation
from paritygate.gate.request import World
from paritygate.gate.result import Made, varied_axes
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.words import Label
from paritygate.snapshot.ignoring import rules_of

LEAST_SECONDS = 60.0
MOST_CELLS = 16
"""How many cells it takes to find two axes that are needed together, and whether tests need the rest of their suite."""
MARGIN = 2
"""How much slower an engine may become, since others use it as well."""


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """For how many seconds causes are looked for."""

    seconds: float
    monotonic: Callable[[], float]

    @classmethod
    def of(cls, asked: float | None, wall: float, cells: Sequence[Cell], monotonic: Callable[[], float]) -> Budget:
        """Take what was asked for, or as long as the cells of the gate took (`wall`), a minute at least.

        On an engine that takes long to start and to end a cell it is more: as long as it takes so for as many as may be needed.
        """
        around = [max(0.0, cell.seconds - sum(run.seconds for run in cell.tests) / max(1, cell.workers)) for cell in cells]
        least = max(LEAST_SECONDS, MARGIN * MOST_CELLS * sum(around) / max(1, len(around)))
        return cls(seconds=max(least, wall) if asked is None else asked, monotonic=monotonic)

    def began(self) -> Callable[[], bool]:
        """Begin, and give what says whether the time is over."""
        end = self.monotonic() + self.seconds
        return lambda: self.monotonic() >= end


def explain(made: Made, gate: tuple[Cell, ...], confirmation: Confirmation, run: Run, budget: Budget) -> Confirmation:
    """Give the couplings that were confirmed their causes, and put the cells beside those that confirmed them."""
    if budget.seconds <= 0 or all(finding.label is not Label.COUPLING for finding in confirmation.findings):
        return confirmation
    ground = Ground(
        plans=made.planned.plans,
        varied=frozenset(each.axis for each in varied_axes(made, gate) if each.varied),
        cells=(*gate, *confirmation.cells),
        filesystem_of=made.planned.filesystem_of,
        over=budget.began(),
        different=differences(made.trees),
    )
    found = attribute(confirmation.findings, ground, run)
    return Confirmation(findings=found.findings, cells=(*confirmation.cells, *found.cells))


def name_rules(made: Made, confirmation: Confirmation, world: World) -> Confirmation:
    """Say of ignored files that are behind a coupling by which rule git ignores them."""
    top = next(iter(made.trees.values())).root
    return msgspec.structs.replace(
        confirmation, findings=with_rules(confirmation.findings, partial(rules_of, top, world.variables))
    )
