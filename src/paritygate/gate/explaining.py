"""Looks for what makes tests coupled, for as long as the time that was given for it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from paritygate.causes.differences import differences
from paritygate.causes.files import with_rules
from paritygate.causes.flow import Ground, Run, attribute
from paritygate.confirm.flow import Confirmation
from paritygate.gate.request import World
from paritygate.gate.result import Made, varied_axes
from paritygate.outcomes.cells import Cell
from paritygate.snapshot.ignoring import rules_of

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
    """Give the couplings that were confirmed their causes, and put the cells beside those that confirmed them."""
    if budget.seconds <= 0:
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
