"""Looks for what makes tests coupled or unstable, for as long as the time that was given for it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from paritygate.causes.flow import Ground, Run, attribute
from paritygate.causes.unstable.flow import Known, explain_unstable
from paritygate.confirm.flow import Confirmation
from paritygate.gate.result import Made, varied_axes
from paritygate.outcomes.cells import Cell

LEAST_SECONDS = 60.0


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """For how many seconds causes are looked for."""

    seconds: float
    monotonic: Callable[[], float]

    @classmethod
    def of(cls, asked: float | None, cells: float, monotonic: Callable[[], float]) -> Budget:
        """Take what was asked for, or as long as the cells of the gate took, a minute at least."""
        return cls(seconds=max(LEAST_SECONDS, cells) if asked is None else asked, monotonic=monotonic)

    def began(self) -> Callable[[], bool]:
        """Begin, and give what says whether the time is over."""
        end = self.monotonic() + self.seconds
        return lambda: self.monotonic() >= end


def explain(made: Made, gate: tuple[Cell, ...], confirmation: Confirmation, run: Run, budget: Budget) -> Confirmation:
    """Give what is coupled, then what is unstable, its cause, and put the cells beside those that confirmed them."""
    if budget.seconds <= 0:
        return confirmation
    ground = Ground(
        plans=made.planned.plans,
        varied=frozenset(each.axis for each in varied_axes(made, gate) if each.varied),
        cells=(*gate, *confirmation.cells),
        filesystem_of=made.planned.filesystem_of,
        over=budget.began(),
    )
    coupled = attribute(confirmation.findings, ground, run)
    known = (*gate, *confirmation.cells, *coupled.cells)
    unstable = explain_unstable(coupled.findings, Known(plans=ground.plans, cells=known), run, ground.over)
    return Confirmation(findings=unstable.findings, cells=(*confirmation.cells, *coupled.cells, *unstable.cells))
