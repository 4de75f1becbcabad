"""Plans the cell: the same environment, seeds and worker list, and of the tests those that ran before, or none of them."""

from __future__ import annotations

import msgspec

from paritygate import recorded
from paritygate.classifier.evidence import KILLING
from paritygate.outcomes.artifact import Material
from paritygate.outcomes.cells import Cell, TestId
from paritygate.outcomes.plans import CellPlan, Order
from paritygate.repro.choosing import Chosen


class Planned(msgspec.Struct, frozen=True):
    """A cell to be run for one test; `before` says how many others run with it, `how` in words."""

    plan: CellPlan
    before: int
    how: str


def plan(material: Material, chosen: Chosen, *, alone: bool) -> Planned:
    """Plan the cell.

    | | what runs |
    |---|---|
    | `alone`, or nothing says when the test ran (its file could not be imported, it is not collected) | only the test |
    | it ended its process, so that all others ran without it | those, in the gate's order, and the test in its place |
    | it ran in the only process | what ran before it, in that order, and the test |
    | it ran on one of several workers | the same on its worker, and all that the others ran, on the same workers |
    """
    cell, test = chosen.cell, chosen.test
    base = recorded.plan_of(material, cell)
    worker = next((name for name, order in cell.order.items() if test in order), None)
    if alone or (worker is None and chosen.outcome not in KILLING):
        there = ((worker, (test,)),) if worker else ()
        return _planned(base, Order(seed=base.order.seed, exactly=(test,), shares=there), "by itself")
    if worker is None or len(cell.order) > max(1, cell.workers):
        company = tuple(run.test for run in cell.tests if run.outcome not in KILLING and run.test != test)
        order = msgspec.structs.replace(base.order, exactly=(), only=(*company, test))
        return _planned(base, order, "in its place among the others")
    before = _until(cell, worker, test)
    if len(cell.order) == 1 and not worker:
        return _planned(base, Order(seed=base.order.seed, exactly=before), "after what ran before it")
    shares = tuple((name, before if name == worker else order) for name, order in cell.order.items())
    others = "beside what the other workers ran" if len(shares) > 1 else "on the same worker"
    return _planned(base, Order(seed=base.order.seed, shares=shares), f"after what ran before it, {others}")


def _until(cell: Cell, worker: str, test: TestId) -> tuple[TestId, ...]:
    order = cell.order[worker]
    return order[: order.index(test) + 1]


def _planned(base: CellPlan, order: Order, how: str) -> Planned:
    tests = [*order.exactly, *order.only] or [test for _, some in order.shares for test in some]
    return Planned(msgspec.structs.replace(base, order=order), len(set(tests)) - 1, how)
