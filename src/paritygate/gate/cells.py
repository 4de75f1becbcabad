"""Runs planned cells on one engine, side by side, and again where the calendar moved under them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paritygate.classifier import labels, surroundings
from paritygate.gate.request import World
from paritygate.outcomes.cells import Cell, EnvironmentName
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import CellStatus, Label, RunnerName
from paritygate.runners.pool import run_side_by_side
from paritygate.runners.protocol import Runner

STEADY = frozenset({Label.CONSISTENT_GREEN, Label.CONSISTENT_RED})


def without_tests(plan: CellPlan, why: str) -> Cell:
    """Make the cell of an environment that has none of the paths asked for."""
    return Cell(
        env=plan.environment.name,
        attempt=plan.attempt,
        seed=plan.seed,
        runner=RunnerName.DOCKER,
        purpose=plan.purpose,
        status=CellStatus.NO_TESTS,
        returncode=None,
        passed=False,
        detail=why,
        workers=plan.environment.workers,
    )


class Cells:
    """A runner with its engine's processors, and a voice. `nothing` says of an environment why it has nothing to run."""

    def __init__(self, runner: Runner, processors: int, nothing: Mapping[EnvironmentName, str], world: World) -> None:
        self._runner = runner
        self._processors = processors
        self._nothing = nothing
        self._world = world

    def run(self, plans: Sequence[CellPlan]) -> tuple[Cell, ...]:
        """Run cells to their ends, in the order of the plans; one that has nothing to run is not started."""
        started = [plan for plan in plans if plan.environment.name not in self._nothing]
        ran = iter(run_side_by_side(started, self._runner, self._processors, self._world.watch))
        return tuple(
            without_tests(plan, self._nothing[plan.environment.name]) if plan.environment.name in self._nothing else next(ran)
            for plan in plans
        )

    def confirm(self, plans: Sequence[CellPlan]) -> tuple[Cell, ...]:
        """Run further cells, and say why."""
        self._world.say(f"confirming what looks coupled: {len(plans)} further cell{'s' * (len(plans) != 1)}")
        return self.run(plans)

    def again_where_dates_moved(self, plans: Sequence[CellPlan], cells: tuple[Cell, ...]) -> tuple[Cell, ...]:
        """Run those cells once more that saw other dates than their fellows, if any test diverges; the later ones count."""
        moved = {(attempt.env, attempt.attempt) for attempt in surroundings.dates_moved(cells)}
        if not moved or all(finding.label in STEADY for finding in labels.label(cells)):
            return cells
        chosen = [index for index, cell in enumerate(cells) if (cell.env, cell.attempt) in moved]
        self._world.say(f"the date changed while cells ran, and tests diverge: {len(chosen)} of them run again")
        later = dict(zip(chosen, self.run([plans[index] for index in chosen]), strict=True))
        return tuple(later.get(index, cell) for index, cell in enumerate(cells))
