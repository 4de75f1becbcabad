"""How the gate runs cells: again where a test ended its process, and not at all where there is nothing to run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from paritygate.gate.cells import Cells
from paritygate.gate.request import World
from paritygate.outcomes.cells import Cell, EnvironmentName, NodeId, TestId, TestRun
from paritygate.outcomes.plans import CellPlan, Progress
from paritygate.outcomes.words import CellStatus, Outcome, Purpose, RunnerName, Worktree
from paritygate.runners.pool import alone
from paritygate.runners.protocol import Watch
from tests.support.plans import a_plan, an_environment

KILLER, NEEDS, OTHER = (NodeId(f"test_a.py::test_{name}") for name in ("killer", "needs", "other"))


class Scripted:
    """A runner that answers with what it was given, and keeps the plans."""

    def __init__(self, *cells: Cell) -> None:
        self.cells = list(cells)
        self.plans: list[CellPlan] = []

    def run(self, plan: CellPlan, watch: Watch) -> Cell:
        """Answer with the next cell; nobody watches."""
        del watch
        self.plans.append(plan)
        return self.cells.pop(0)

    def stop(self) -> None:
        """Have nothing to stop."""


def a_world(lines: list[str]) -> World:
    def no_engine() -> None:
        raise AssertionError

    def watch(progress: Progress) -> None:
        assert progress.step == "starting"  # what the pool itself says

    return World(
        connect=no_engine,  # type: ignore[arg-type]  # nothing here may look for an engine
        variables={},
        version="0",
        now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        monotonic=lambda: 0.0,
        sleep=lambda _seconds: None,
        say=lines.append,
        watch=watch,
    )


def a_cell(outcomes: dict[NodeId, Outcome], status: CellStatus = CellStatus.FINISHED) -> Cell:
    return Cell(
        env=EnvironmentName("here"),
        attempt=1,
        seed=1,
        runner=RunnerName.DOCKER,
        purpose=Purpose.GATE,
        status=status,
        returncode=0,
        passed=False,
        order={"": tuple(TestId(nodeid) for nodeid in outcomes)},
        tests=tuple(TestRun(nodeid=nodeid, outcome=outcome) for nodeid, outcome in outcomes.items()),
    )


def outcomes_of(cell: Cell) -> dict[NodeId, Outcome]:
    return {run.nodeid: run.outcome for run in cell.tests}


def run_again(runner: Scripted, plans: Sequence[CellPlan], *cells: Cell) -> tuple[tuple[Cell, ...], list[str]]:
    lines: list[str] = []
    return Cells(alone(runner, 2), {}, a_world(lines)).again_without_killers(plans, cells), lines


def test_what_ran_after_a_killed_process_counts_as_it_is_without_the_killer() -> None:
    first = a_cell({KILLER: Outcome.TIMED_OUT, NEEDS: Outcome.FAILED, OTHER: Outcome.PASSED})
    runner = Scripted(a_cell({NEEDS: Outcome.PASSED, OTHER: Outcome.PASSED}))
    (cell,), lines = run_again(runner, [a_plan()], first)
    assert outcomes_of(cell) == {KILLER: Outcome.TIMED_OUT, NEEDS: Outcome.PASSED, OTHER: Outcome.PASSED}
    assert runner.plans[0].order.only == (TestId(NEEDS), TestId(OTHER))
    assert cell.detail == f"run again without `{KILLER}`"
    assert lines == ["tests ended their process: 1 cell runs again without them"]


def test_a_second_killer_is_left_out_too() -> None:
    first = a_cell({KILLER: Outcome.CRASHED, NEEDS: Outcome.PASSED, OTHER: Outcome.PASSED})
    runner = Scripted(a_cell({NEEDS: Outcome.CRASHED, OTHER: Outcome.PASSED}), a_cell({OTHER: Outcome.FAILED}))
    (cell,), _ = run_again(runner, [a_plan()], first)
    assert outcomes_of(cell) == {KILLER: Outcome.CRASHED, NEEDS: Outcome.CRASHED, OTHER: Outcome.FAILED}
    assert [plan.order.only for plan in runner.plans] == [(TestId(NEEDS), TestId(OTHER)), (TestId(OTHER),)]


def test_cells_without_killers_and_cells_that_died_stand_as_they_are() -> None:
    green = a_cell({NEEDS: Outcome.PASSED})
    dead = a_cell({KILLER: Outcome.TIMED_OUT, NEEDS: Outcome.FAILED}, CellStatus.TIMED_OUT)
    alone = a_cell({KILLER: Outcome.TIMED_OUT})
    cells, lines = run_again(Scripted(), [a_plan(), a_plan(), a_plan()], green, dead, alone)
    assert cells == (green, dead, alone)
    assert lines == []


def test_where_the_second_run_dies_the_first_one_stands() -> None:
    first = a_cell({KILLER: Outcome.TIMED_OUT, NEEDS: Outcome.FAILED})
    (cell,), _ = run_again(Scripted(a_cell({}, CellStatus.OUT_OF_MEMORY)), [a_plan()], first)
    assert outcomes_of(cell) == {KILLER: Outcome.TIMED_OUT, NEEDS: Outcome.FAILED}
    assert cell.status is CellStatus.FINISHED


def test_an_environment_without_anything_to_run_starts_no_cell() -> None:
    tree = a_plan().environment.worktree
    (cell,) = Cells(alone(Scripted(), 2), {tree: "its tree has none of `test_new.py`"}, a_world([])).run([a_plan()])
    assert (cell.status, cell.detail) == (CellStatus.NO_TESTS, "its tree has none of `test_new.py`")


def test_cells_are_announced_with_why_they_run() -> None:
    said: list[str] = []
    announced: list[tuple[list[str], str]] = []
    world = msgspec.structs.replace(
        a_world(said), announce=lambda plans, why: announced.append(([plan.name for plan in plans], why))
    )
    runner = Scripted(*(a_cell({OTHER: Outcome.PASSED}) for _ in range(4)))
    nothing = {Worktree.DIRTY: "its tree has none of `tests`"}
    cells = Cells(alone(runner, 1), nothing, world)
    clean = a_plan(an_environment(name=EnvironmentName("a"), worktree=Worktree.CLEAN))
    dirty = a_plan(an_environment(name=EnvironmentName("b"), worktree=Worktree.DIRTY))
    for run in (cells.run, cells.confirm, cells.explain):
        run((clean, dirty))
    assert announced == [(["a-1"], ""), (["a-1"], "confirming"), (["a-1"], "looking for causes")]
    assert said == ["confirming what looks coupled: 2 further cells", "looking for causes: 2 further cells"]
