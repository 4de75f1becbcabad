"""Made-up tests in made-up cells, to drive the search for causes of instabilities: the code that searches is the real one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from paritygate.causes.flow import Attribution
from paritygate.causes.unstable.flow import Evidence, explain_unstable
from paritygate.classifier.labels import label
from paritygate.confirm.flow import confirm
from paritygate.outcomes.artifact import Cause, Finding
from paritygate.outcomes.cells import Cell, NodeId, TestId, TestRun
from paritygate.outcomes.plans import CellPlan, Environment
from tests.support.builders import a_cell, a_failure, a_run, an_environment, gate_plans

Behaviour = Callable[[str, list[str], CellPlan], bool | str]
"""Whether a test fails, or in which way of several: its name, what ran before it in its process, and the cell."""

Spent = Callable[[Sequence[Cell], Sequence[Cell]], bool]
"""Whether the time is over, told of every batch of cells, beside those of the gate."""

ONE = an_environment("local", workers=0)


class Searched(msgspec.Struct, frozen=True):
    """What came of a search, and the further plans, batch by batch."""

    attribution: Attribution
    batches: list[list[CellPlan]]

    def finding(self, nodeid: str = "victim") -> Finding:
        return next(each for each in self.attribution.findings if each.nodeid == nodeid)

    def cause(self, nodeid: str = "victim") -> Cause:
        cause = self.finding(nodeid).cause
        assert cause is not None, self.finding(nodeid).note
        return cause

    @property
    def cells(self) -> int:
        return sum(len(batch) for batch in self.batches)


def search(
    names: Sequence[str],
    fails: Behaviour,
    *environments: Environment,
    batches: int = 99,
    seconds: float = 0.0,
    spent: Spent = lambda _gate, _batch: False,
) -> Searched:
    """Run a gate over made-up tests, in this order and its reverse, and look for what makes them unstable.

    Each test takes so many seconds. The search ends after so many batches, or when a batch has `spent` the time.
    """
    ran: list[list[CellPlan]] = []
    over = False

    def run(plans: tuple[CellPlan, ...]) -> tuple[Cell, ...]:
        nonlocal over
        ran.append(list(plans))
        made = tuple(cell_of(plan, names, fails, seconds) for plan in plans)
        over = spent(cells, made)
        return made

    plans = gate_plans(*(environments or (ONE,)))
    cells = tuple(cell_of(plan, names, fails, seconds) for plan in plans)
    confirmed = confirm(label(cells), cells, plans, run)
    known = Evidence(plans=plans, cells=(*cells, *confirmed.cells))
    ran.clear()
    over = False
    return Searched(explain_unstable(confirmed.findings, known, run, lambda _: over or len(ran) >= batches), ran)


def cell_of(plan: CellPlan, names: Sequence[str], fails: Behaviour, seconds: float = 0.0) -> Cell:
    """Act a cell: with workers the first half of the names is one worker's and the second half the other's."""
    order = [str(test.nodeid) for test in plan.order.exactly] or list(names[::-1] if plan.order.reversed else names)
    if only := {str(test.nodeid) for test in plan.order.only}:
        order = [name for name in order if name in only]
    first = set(names[: len(names) // 2])
    shares = {"": order}
    if plan.environment.workers > 1:
        shares = {"gw0": [name for name in order if name in first], "gw1": [name for name in order if name not in first]}
    runs: list[TestRun] = []
    for worker, share in shares.items():
        for place, name in enumerate(share):
            failed = fails(name, share[:place], plan)
            changes = {"failure": a_failure(failed) if isinstance(failed, str) else a_failure()} if failed else {}
            moment = 1.0 + place * seconds
            runs.append(a_run(name, "failed" if failed else "passed", worker=worker, began=moment, seconds=seconds, **changes))
    return a_cell(
        plan.environment.name,
        plan.attempt,
        runs=runs,
        seed=plan.seed,
        purpose=plan.purpose,
        workers=plan.environment.workers,
        order={worker: tuple(TestId(NodeId(name)) for name in share) for worker, share in shares.items()},
    )
