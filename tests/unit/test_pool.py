"""Cells spread over several places: where each goes, and what becomes of those of a place that is lost."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paritygate.gate import spread
from paritygate.outcomes.artifact import EngineRecord
from paritygate.outcomes.cells import Cell, EnvironmentName
from paritygate.outcomes.plans import CellPlan, Progress
from paritygate.outcomes.words import CellStatus, Outcome, RunnerName
from paritygate.runners.pool import Loss, Member, Pool, fitting, run_side_by_side
from paritygate.runners.protocol import Watch
from tests.support.builders import a_cell, a_finding
from tests.support.plans import a_plan, an_environment

DAY = datetime(2026, 1, 1, 12, 30, tzinfo=UTC)


def plans_of(*weights: int, env: str = "here") -> list[CellPlan]:
    environment = an_environment(name=EnvironmentName(env))
    return [
        a_plan(msgspec.structs.replace(environment, workers=weight), attempt=attempt)
        for attempt, weight in enumerate(weights, start=1)
    ]


def ended(plan: CellPlan, status: CellStatus = CellStatus.FINISHED) -> Cell:
    return Cell(
        env=plan.environment.name,
        attempt=plan.attempt,
        seed=plan.seed,
        runner=RunnerName.DOCKER,
        purpose=plan.purpose,
        status=status,
        returncode=0,
        passed=status is CellStatus.FINISHED,
        detail="" if status is CellStatus.FINISHED else "the line broke",
    )


class Place:
    """A place that runs cells at once, keeps count of how busy it is, and may be lost with one of them."""

    def __init__(self, name: str, processors: int, lost_with: Sequence[str] = ()) -> None:
        self.name, self.processors = name, processors
        self.busiest = self.stopped = 0
        self.ran: list[str] = []
        self._there = True
        self._lost_with = lost_with
        self._busy: list[int] = []
        self._guard = threading.Lock()

    def run(self, plan: CellPlan, watch: Watch) -> Cell:
        """Run one cell."""
        watch(Progress(cell=plan.name, step="started"))
        with self._guard:
            self._busy.append(max(1, plan.environment.workers))
            self.busiest = max(self.busiest, sum(self._busy) if len(self._busy) > 1 else 0)
            self.ran.append(plan.name)
            self._there = self._there and plan.name not in self._lost_with
            there = self._there
        with self._guard:
            self._busy.remove(max(1, plan.environment.workers))
        return ended(plan, CellStatus.FINISHED if there else CellStatus.CRASHED)

    def stop(self) -> None:
        """Note it."""
        self.stopped += 1

    def answers(self) -> bool:
        """Say whether it is there."""
        return self._there

    def member(self, *environments: str) -> Member:
        """Make it one of a pool."""
        some = frozenset(map(EnvironmentName, environments)) or None
        return Member(runner=self, processors=self.processors, name=self.name, environments=some, answers=self.answers)


def ignore(progress: Progress) -> None:
    return


def simulated(plans: Sequence[CellPlan], speeds: dict[str, float]) -> dict[str, int]:
    """Count the cells of each place, in a time that is only counted: a cell takes as long as its place is slow."""
    pool = Pool([Place(name, 2).member() for name in speeds])
    waiting, counts, now = dict(enumerate(plans)), dict.fromkeys(speeds, 0), 0.0
    running: list[tuple[float, int, int]] = []
    while waiting or running:
        for index, place in fitting(waiting, pool):
            assert place is not None
            counts[pool.members[place].name] += 1
            heapq.heappush(running, (now + 1 / speeds[pool.members[place].name], index, place))
            del waiting[index]
        now, index, place = heapq.heappop(running)
        pool.end(place, plans[index])
    return counts


def test_equal_places_get_equally_many_cells() -> None:
    assert simulated(plans_of(*[0] * 40), dict.fromkeys("abcd", 1.0)) == dict.fromkeys("abcd", 10)


def test_a_place_gets_as_many_more_cells_as_it_is_faster() -> None:
    assert simulated(plans_of(*[0] * 70), {"a": 4.0, "b": 2.0, "c": 1.0}) == {"a": 40, "b": 20, "c": 10}


def test_the_first_cells_go_to_different_places() -> None:
    pool = Pool([Place("a", 2).member(), Place("b", 2).member()])
    assert fitting(dict(enumerate(plans_of(0, 0, 2, 0, 0))), pool) == [(0, 0), (1, 1), (3, 0), (4, 1)]


def test_a_cell_goes_where_it_takes_the_smaller_part() -> None:
    pool = Pool([Place("small", 2).member(), Place("large", 8).member()])
    assert fitting(dict(enumerate(plans_of(0, 0, 0, 0))), pool) == [(0, 1), (1, 1), (2, 1), (3, 0)]


def test_a_heavy_cell_goes_where_it_fits_and_else_runs_alone() -> None:
    pool = Pool([Place("small", 2).member(), Place("large", 8).member()])
    assert fitting({0: plans_of(4)[0]}, pool) == [(0, 1)]
    (heavy,) = plans_of(16)
    assert fitting({0: heavy}, pool) == [(0, 0)]
    assert fitting({1: heavy}, pool) == []


def test_cells_run_where_their_environment_is_and_mixtures_with_the_one_they_are_made_of() -> None:
    places = Place("a", 2), Place("b", 2)
    pool = Pool([places[0].member("local"), places[1].member("server")])
    plans = [plan for env in ("local", "server", "server+timezone", "local+workers") for plan in plans_of(0, env=env)]
    cells = run_side_by_side(plans, pool, ignore)
    assert [cell.engine for cell in cells] == ["a", "b", "b", "a"]


class Late(Place):
    """A place on which the first cell ends well, and only once the place is known to be lost with another."""

    def __init__(self) -> None:
        super().__init__("late", 8, lost_with=("here-2",))
        self.known = threading.Event()

    def run(self, plan: CellPlan, watch: Watch) -> Cell:
        """Run one cell."""
        if plan.name == "here-1":
            assert self.known.wait(30)
            return ended(plan)
        return super().run(plan, watch)


def test_what_ended_well_on_a_lost_place_counts() -> None:
    late, other = Late(), Place("other", 1)
    pool = Pool([late.member(), other.member()], lambda _line: late.known.set())
    cells = run_side_by_side(plans_of(0, 0), pool, ignore)
    assert [(cell.engine, cell.status) for cell in cells] == [("late", CellStatus.FINISHED), ("other", CellStatus.FINISHED)]
    assert other.ran == ["here-2"]


def test_the_cells_of_a_lost_place_start_anew_on_another_and_none_goes_there_any_more() -> None:
    said: list[str] = []
    places = Place("a", 1), Place("b", 1, lost_with=("here-2",))
    pool = Pool([place.member() for place in places], said.append)
    cells = run_side_by_side(plans_of(*[0] * 6), pool, ignore)
    assert [(cell.attempt, cell.status, cell.engine) for cell in cells] == [
        (attempt, CellStatus.FINISHED, "a") for attempt in range(1, 7)
    ]
    assert places[1].ran == ["here-2"]
    assert pool.lost["b"].cells == ("here-2",)
    assert said == ["warning: the engine `b` is lost; its cells start anew on another, if there is one"]
    assert {cell.engine for cell in run_side_by_side(plans_of(0, 0, 0), pool, ignore)} == {"a"}


def test_a_cell_that_dies_where_the_place_still_answers_is_dead_and_stays_so() -> None:
    class Deadly(Place):
        def run(self, plan: CellPlan, watch: Watch) -> Cell:
            """Die, and not for the place."""
            del watch
            self.ran.append(plan.name)
            return ended(plan, CellStatus.CRASHED)

    places = Deadly("a", 1), Deadly("b", 1)
    pool = Pool([place.member() for place in places])
    cells = run_side_by_side(plans_of(0, 0), pool, ignore)
    assert [cell.status for cell in cells] == [CellStatus.CRASHED] * 2
    assert (places[0].ran + places[1].ran, pool.lost) == (["here-1", "here-2"], {})


def test_where_all_are_lost_what_ended_stays_and_the_rest_says_so() -> None:
    pool = Pool([Place("a", 1, ("here-2",)).member(), Place("b", 1, ("here-1", "here-2")).member()])
    lost = run_side_by_side(plans_of(0, 0, 0), pool, ignore)
    assert {cell.status for cell in lost if cell.status is not CellStatus.FINISHED} <= {CellStatus.CRASHED, CellStatus.UNUSABLE}
    assert lost[1].status is CellStatus.CRASHED
    assert lost[1].detail.startswith("no engine is left for it: lost were `a` at ")
    assert lost[1].detail.endswith(" UTC (the line broke)")
    later = run_side_by_side(plans_of(0), pool, ignore)
    assert (later[0].status, later[0].engine) == (CellStatus.UNUSABLE, "")


def test_an_environment_whose_only_engine_is_lost_has_dead_cells_and_others_go_on() -> None:
    pool = Pool([Place("a", 1, ("local-1",)).member("local"), Place("b", 1).member("server")])
    cells = run_side_by_side([*plans_of(0, 0, env="local"), *plans_of(0, env="server")], pool, ignore)
    assert [cell.status for cell in cells] == [CellStatus.CRASHED, CellStatus.UNUSABLE, CellStatus.FINISHED]
    assert all("no engine is left for it: lost were `a`" in cell.detail for cell in cells[:2])


def test_whoever_interrupts_stops_the_cells_of_every_place() -> None:
    def interrupt(_progress: Progress) -> None:
        raise KeyboardInterrupt

    places = Place("a", 1), Place("b", 1)
    with pytest.raises(KeyboardInterrupt):
        run_side_by_side(plans_of(0, 0), Pool([place.member() for place in places]), interrupt)
    assert [place.stopped for place in places] == [1, 1]


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.integers(0, 5), max_size=12),
    st.lists(st.tuples(st.integers(1, 4), st.sets(st.integers(1, 12), max_size=2)), min_size=1, max_size=4),
)
def test_every_cell_comes_once_in_its_place_and_no_place_is_too_busy(
    weights: list[int], given_places: list[tuple[int, set[int]]]
) -> None:
    places = [
        Place(str(number), processors, [f"here-{attempt}" for attempt in lost_with])
        for number, (processors, lost_with) in enumerate(given_places)
    ]
    pool = Pool([place.member() for place in places])
    cells = run_side_by_side(plans_of(*weights), pool, ignore)
    assert [cell.attempt for cell in cells] == list(range(1, len(weights) + 1))
    assert all(place.busiest <= place.processors for place in places)
    for cell in cells:
        left = [place.name for place in places if place.name not in pool.lost]
        assert cell.status is CellStatus.FINISHED or not left


RECORDS = tuple(
    EngineRecord(name=name, url=f"tcp://{name}:2376", version="Docker Engine 1", platform="linux/amd64", cpus=2) for name in "ab"
)


def cell_on(engine: str, env: str, attempt: int, outcome: Outcome = Outcome.PASSED) -> Cell:
    return a_cell(env, attempt, {"t.py::test_it": outcome}, engine=engine)


def test_a_report_says_where_cells_ran_and_what_became_of_a_lost_engine() -> None:
    engines = spread.with_losses(RECORDS, {"b": Loss(DAY, ("one-2", "two-1"))})
    cells = [cell_on("a", "one", 1), cell_on("a", "one", 2), cell_on("b", "two", 1)]
    assert list(spread.remarks(engines, cells)) == [
        "cells ran on 2 engines: 2 on `a` (linux/amd64, Docker Engine 1), 1 on `b` (linux/amd64, Docker Engine 1)",
        "the engine `b` was lost at 2026-01-01T12:30:00+00:00: one-2 (on `a`) started anew; two-1 did not come to an end",
    ]
    assert list(spread.remarks((), cells)) == []


PASSED, FAILED = Outcome.PASSED, Outcome.FAILED


@pytest.mark.parametrize(
    ("outcomes", "goes_with_it"),
    [
        ({"a": [PASSED, PASSED], "b": [FAILED, FAILED]}, True),
        ({"a": [PASSED, FAILED], "b": [FAILED, FAILED]}, False),
        ({"a": [PASSED, PASSED], "b": [PASSED, PASSED]}, False),
        ({"a": [PASSED, FAILED]}, False),
    ],
)
def test_a_divergence_that_goes_with_the_engine_is_remarked(outcomes: dict[str, list[Outcome]], *, goes_with_it: bool) -> None:
    cells = [
        cell_on(engine, "one", attempt, outcome)
        for engine, each in outcomes.items()
        for attempt, outcome in enumerate(each, start=1)
    ]
    said = list(spread.going_with_engines([a_finding("t.py::test_it", "nondeterminism")], cells))
    why = "it may depend on the computer rather than on chance or an axis"
    expected = f"`t.py::test_it` always passed on `a` and always failed on `b`: {why}"
    assert said == ([expected] if goes_with_it else [])
    assert list(spread.going_with_engines([a_finding("t.py::test_it", "consistent-red")], cells)) == []
