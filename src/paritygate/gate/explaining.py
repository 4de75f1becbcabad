"""Looks for what makes tests coupled or unstable, for as long as the time that was given for it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from paritygate.causes.flow import Ground, Run, attribute
from paritygate.causes.unstable.flow import Evidence, explain_unstable
from paritygate.confirm.flow import Confirmation
from paritygate.gate.material import Planned
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.words import Axis

LEAST_SECONDS = 60.0


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What a search begins with: the plans, the axes that varied, the cells of the gate, and what confirmed it."""

    planned: Planned
    varied: frozenset[Axis]
    gate: tuple[Cell, ...]
    confirmation: Confirmation


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


def explain(known: Known, run: Run, budget: Budget) -> Confirmation:
    """Give what is coupled, then what is unstable, its cause, and put the cells beside those that confirmed them."""
    confirmation = known.confirmation
    if budget.seconds <= 0:
        return confirmation
    ground = Ground(
        plans=known.planned.plans,
        varied=known.varied,
        cells=(*known.gate, *confirmation.cells),
        filesystem_of=known.planned.filesystem_of,
        over=budget.began(),
    )
    coupled = attribute(confirmation.findings, ground, run)
    evidence = Evidence(plans=ground.plans, cells=(*ground.cells, *coupled.cells))
    unstable = explain_unstable(coupled.findings, evidence, run, ground.over)
    return Confirmation(findings=unstable.findings, cells=(*confirmation.cells, *coupled.cells, *unstable.cells))
