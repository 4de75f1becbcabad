"""Runs planned cells on one engine, side by side, and again where the calendar moved under them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from paritygate.classifier import labels, surroundings
from paritygate.classifier.evidence import KILLING
from paritygate.gate.request import World
from paritygate.outcomes.cells import Cell, EnvironmentName, TestId, TestRun
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import CellStatus, Label, RunnerName, Worktree
from paritygate.runners.pool import Pool, run_in_time

MOST_KILLINGS = 3
SHOWN = 3
STEADY = frozenset({Label.CONSISTENT_GREEN, Label.CONSISTENT_RED})


def without_tests(plan: CellPlan, why: str, runner: RunnerName = RunnerName.DOCKER) -> Cell:
    """Make the cell of an environment that has none of the paths asked for."""
    return Cell(
        env=plan.environment.name,
        attempt=plan.attempt,
        seed=plan.seed,
        runner=runner,
        purpose=plan.purpose,
        status=CellStatus.NO_TESTS,
        returncode=None,
        passed=False,
        detail=why,
        workers=plan.environment.workers,
    )


class Cells:
    """The places on which cells run, and a voice. `nothing` says of a tree why there is nothing to run.

    `plans` are those of all cells so far, by name; of a cell that ran again, the first. `ended` are all cells that came to an
    end, in that order. `where` says which runner an environment has, where that is no engine.
    """

    def __init__(
        self,
        pool: Pool,
        nothing: Mapping[Worktree, str],
        world: World,
        where: Mapping[EnvironmentName, RunnerName] | None = None,
    ) -> None:
        self._where = where or {}
        self._pool = pool
        self._nothing = nothing
        self._world = world
        self.plans: dict[str, CellPlan] = {}
        self.ended: list[Cell] = []

    def run(self, plans: Sequence[CellPlan], why: str = "") -> tuple[Cell, ...]:
        """Run cells to their ends, in the order of the plans; one that has nothing to run is not started."""
        return tuple(cell for _, cell in self.run_in_time(plans, lambda: False, why))

    def run_in_time(
        self, plans: Sequence[CellPlan], over: Callable[[], bool], why: str = ""
    ) -> tuple[tuple[CellPlan, Cell], ...]:
        """Run cells until the time is `over`, the first in any case; gives those that were begun, each with its plan."""
        self.plans = {plan.name: plan for plan in plans} | self.plans
        started = {number: plan for number, plan in enumerate(plans) if plan.environment.worktree not in self._nothing}
        self._world.announce([*started.values()], why)
        ran = run_in_time([*started.values()], self._pool, self._world.watch, self.ended.append, over)
        cells = {number: ran[index] for index, number in enumerate(started) if index in ran}
        cells |= {number: self._without_tests(plan) for number, plan in enumerate(plans) if number not in started}
        return tuple((plan, cells[number]) for number, plan in enumerate(plans) if number in cells)

    def _without_tests(self, plan: CellPlan) -> Cell:
        where = self._where.get(plan.environment.name, RunnerName.DOCKER)
        return without_tests(plan, self._nothing[plan.environment.worktree], where)

    def confirm(self, plans: Sequence[CellPlan]) -> tuple[Cell, ...]:
        """Run further cells, and say why."""
        self._world.say(f"confirming what looks coupled: {_further(plans)}")
        return self.run(plans, "confirming")

    def explain(self, plans: Sequence[CellPlan]) -> tuple[Cell, ...]:
        """Run cells of mixed environments or orders, and say why."""
        self._world.say(f"looking for causes: {_further(plans)}")
        return self.run(plans, "looking for causes")

    def again_where_dates_moved(self, plans: Sequence[CellPlan], cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
        """Run those cells once more that saw other dates than their fellows, if any test diverges; the later ones count."""
        moved = {(attempt.env, attempt.attempt) for attempt in surroundings.dates_moved(cells)}
        if not moved or all(finding.label in STEADY for finding in labels.label(cells)):
            return cells
        chosen = [index for index, cell in enumerate(cells) if (cell.env, cell.attempt) in moved]
        self._world.say(f"the date changed while cells ran, and tests diverge: {len(chosen)} of them run again")
        later = dict(zip(chosen, self.run([plans[index] for index in chosen]), strict=True))
        return tuple(later.get(index, cell) for index, cell in enumerate(cells))

    def again_without_killers(self, plans: Sequence[CellPlan], cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
        """Run those cells again, without them, in which tests ended their process.

        What came after such a test ran in a fresh process, without what had run before it: so far from its order that neither
        green nor red says what it should. The killers' own outcomes stay; all others are taken from the undisturbed run.
        """
        for _ in range(MOST_KILLINGS):
            disturbed = [index for index, cell in enumerate(cells) if killers(cell) and company(cell)]
            if not disturbed:
                break
            cells_said = "1 cell runs" if len(disturbed) == 1 else f"{len(disturbed)} cells run"
            self._world.say(f"tests ended their process: {cells_said} again without them")
            again = self.run([without(plans[index], cells[index]) for index in disturbed])
            later = {index: merged(cells[index], cell) for index, cell in zip(disturbed, again, strict=True)}
            cells = tuple(later.get(index, cell) for index, cell in enumerate(cells))
        return cells


def _further(plans: Sequence[CellPlan]) -> str:
    return f"{len(plans)} further cell{'s' * (len(plans) != 1)}"


def killers(cell: Cell) -> tuple[TestRun, ...]:
    """List the tests of a finished cell that ended their process and that it has not been run without."""
    if cell.status is not CellStatus.FINISHED:
        return ()
    apart = {test for order in cell.order.values() for test in order}
    return tuple(run for run in cell.tests if run.outcome in KILLING and run.test in apart)


def company(cell: Cell) -> tuple[TestId, ...]:
    """List the tests that ran in a cell and did not end their process."""
    return tuple(run.test for run in cell.tests if run.outcome not in KILLING)


def without(plan: CellPlan, cell: Cell) -> CellPlan:
    """Plan a cell anew without the tests that ended their process in it."""
    return msgspec.structs.replace(plan, order=msgspec.structs.replace(plan.order, only=company(cell)))


def merged(first: Cell, again: Cell) -> Cell:
    """Put the killers of a cell beside what all others did without them; where that run died too, the first one stands."""
    if again.status is not CellStatus.FINISHED:
        apart = {worker: tuple(test for test in order if test in company(first)) for worker, order in first.order.items()}
        return msgspec.structs.replace(first, order=apart)
    gone = killers(first)
    names = ", ".join(f"`{run.nodeid}`" for run in gone[:SHOWN]) + (f" and {len(gone) - SHOWN} more" if len(gone) > SHOWN else "")
    return msgspec.structs.replace(
        again,
        returncode=first.returncode,
        passed=False,
        detail="; ".join(part for part in (first.detail, f"run again without {names}", again.detail) if part),
        seconds=first.seconds + again.seconds,
        collected=first.collected,
        deselected=first.deselected,
        dates=first.dates + again.dates,
        rewritten=tuple(dict.fromkeys(first.rewritten + again.rewritten)),
        tests=tuple(run for run in first.tests if run.outcome in KILLING) + again.tests,
    )
