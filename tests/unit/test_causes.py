"""Causes found by mixing environments: the code that searches is real, only the cells are made up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any, ClassVar

import msgspec
import pytest

from paritygate.causes.computers import Beyond, Computers, Part, computers_of
from paritygate.causes.differences import Differences
from paritygate.causes.flow import Attribution, Ground, attribute
from paritygate.causes.wording import UNFINISHED
from paritygate.classifier.labels import label
from paritygate.environments import filesystem_of
from paritygate.outcomes.artifact import Cause, EngineRecord, Finding
from paritygate.outcomes.cells import Cell, Dates, EnvironmentName, Touch
from paritygate.outcomes.plans import CellPlan, Environment, Filesystem, Selection
from paritygate.outcomes.trees import Difference
from paritygate.outcomes.words import (
    Axis,
    CauseKind,
    CellStatus,
    FileState,
    Label,
    Purpose,
    RunnerName,
    Touching,
    Worktree,
)
from tests.support.builders import a_cell, a_failure, a_run, an_environment, gate_plans, ids

World = Callable[[CellPlan], Cell]

TIMEZONE, LOCALE, CASE, WORKERS, WORKTREE = Axis.TIMEZONE, Axis.LOCALE, Axis.CASE_SENSITIVE, Axis.WORKERS, Axis.WORKTREE
FIVE = (TIMEZONE, LOCALE, CASE, WORKERS, WORKTREE)

LOCAL = an_environment(
    "local", timezone="Asia/Tokyo", locale="en_US.UTF-8", case_sensitive=False, workers=0, worktree=Worktree.DIRTY
)
SERVER = an_environment("server", case_sensitive=True, workers=2)


def servers(plan: CellPlan) -> frozenset[Axis]:
    """Say which axes of a cell are the server's."""
    return frozenset(axis for axis in FIVE if plan.environment.value(axis) == SERVER.value(axis))


def is_gate(plan: CellPlan) -> bool:
    return plan.purpose is Purpose.GATE


def cell_of(plan: CellPlan, outcomes: Mapping[str, str], **changes: Any) -> Cell:
    return a_cell(plan.environment.name, plan.attempt, outcomes, seed=plan.seed, purpose=plan.purpose, **changes)


class Explained(msgspec.Struct, frozen=True):
    """What came of a search, and the further plans, batch by batch."""

    attribution: Attribution
    batches: list[list[CellPlan]]

    def finding(self, nodeid: str = "t") -> Finding:
        return next(each for each in self.attribution.findings if each.nodeid == nodeid)

    def cause(self, nodeid: str = "t") -> Cause:
        cause = self.finding(nodeid).cause
        assert cause is not None, self.finding(nodeid).note
        return cause

    @property
    def names(self) -> list[list[str]]:
        return [[plan.name for plan in batch] for batch in self.batches]

    @property
    def sizes(self) -> list[int]:
        return [len(batch) for batch in self.batches]


def explain(
    world: World,
    *environments: Environment,
    varied: Sequence[Axis] = FIVE,
    batches: int = 99,
    change: Callable[[tuple[CellPlan, ...]], tuple[CellPlan, ...]] = lambda plans: plans,
    **more: Any,
) -> Explained:
    """Run a gate in a made-up world, and look for the causes of what it shows, in so many batches at most.

    `more` is what a search may begin with besides: in which paths the trees differ, where environments run.
    """
    ran: list[list[CellPlan]] = []

    def run(plans: tuple[CellPlan, ...]) -> tuple[Cell, ...]:
        ran.append(list(plans))
        return tuple(world(plan) for plan in plans)

    def filesystem(environment: Environment) -> Filesystem | None:
        return filesystem_of(environment, environments or (LOCAL, SERVER), {Worktree.CLEAN: ("Readme",)}, 7)

    plans = change(gate_plans(*(environments or (LOCAL, SERVER))))
    cells = tuple(world(plan) for plan in plans)
    ground = Ground(
        plans=plans,
        varied=frozenset(varied),
        cells=cells,
        filesystem_of=filesystem,
        over=lambda _: len(ran) >= batches,
        **more,
    )
    return Explained(attribute(label(cells), ground, run), ran)


def fails_if(spoilt: Callable[[frozenset[Axis]], bool]) -> World:
    """Act a test that fails, always in the same way, where the server's axes in a cell spoil it."""
    return lambda plan: cell_of(plan, {"t": "failed" if spoilt(servers(plan)) else "passed"})


def a_long_suite(plan: CellPlan) -> Cell:
    """Act a suite in which `slow` takes a minute and holds what `y` needs too, where both run at once."""
    axes = servers(plan)
    asked = [str(test.nodeid) for test in plan.order.exactly or plan.order.only] or ["t", "y", "slow"]
    red = {"t": LOCALE in axes, "y": WORKERS in axes and "slow" in asked}
    runs = [a_run(name, "failed" if red.get(name) else "passed", seconds=60.0 if name == "slow" else 0.1) for name in asked]
    return cell_of(plan, {}, runs=runs)


class TestOneAxis:
    def test_it_is_found_by_each_axis_alone_and_proven_twice_in_both_directions(self) -> None:
        explained = explain(fails_if(lambda axes: LOCALE in axes))
        assert explained.cause() == Cause(
            kind=CauseKind.AXIS,
            axes=(LOCALE,),
            ways=((LOCALE,),),
            detail="local with server's locale fails, 2 of 2; server with local's passes, 2 of 2",
        )
        assert explained.names == [
            ["local+timezone-1", "local+locale-1", "local+case_sensitive-1", "local+workers-1", "local+worktree-1"],
            ["local+locale-2", "server+locale-1", "server+locale-2"],
        ]
        assert (explained.finding().label, explained.finding().note) == (Label.COUPLING, "")
        assert len(explained.attribution.cells) == 8

    def test_it_is_looked_for_from_where_the_test_passes(self) -> None:
        explained = explain(lambda plan: cell_of(plan, {"t": "passed" if TIMEZONE in servers(plan) else "failed"}))
        assert explained.cause().detail == "server with local's timezone fails, 2 of 2; local with server's passes, 2 of 2"
        assert explained.sizes == [5, 3]

    def test_tests_with_different_causes_share_the_cells(self) -> None:
        def world(plan: CellPlan) -> Cell:
            axes = servers(plan)
            red = {"t": TIMEZONE in axes, "u": WORKERS in axes, "v": LOCALE not in axes}
            return cell_of(plan, {name: "failed" if bad else "passed" for name, bad in red.items()})

        explained = explain(world)
        assert {name: explained.cause(name).axes for name in "tuv"} == {"t": (TIMEZONE,), "u": (WORKERS,), "v": (LOCALE,)}
        assert explained.sizes == [5, 9]  # `v` begins on the other side, but what the others have seen is enough for it

    def test_what_others_have_seen_from_the_other_side_need_not_be_enough(self) -> None:
        def world(plan: CellPlan) -> Cell:
            axes = servers(plan)
            red = {"t": TIMEZONE in axes, "u": TIMEZONE in axes, "v": not axes >= {LOCALE, CASE}}
            return cell_of(plan, {name: "failed" if bad else "passed" for name, bad in red.items()})

        explained = explain(world)
        assert explained.cause("v").ways == ((LOCALE,), (CASE,))
        assert explained.sizes == [5, 7, 4]

    def test_what_is_not_red_is_explained_too(self) -> None:
        def world(plan: CellPlan) -> Cell:
            return cell_of(plan, {"u": "passed"} if WORKTREE in servers(plan) else {"t": "passed", "u": "passed"})

        explained = explain(world)
        assert explained.cause().axes == (WORKTREE,)
        assert explained.cause().detail.startswith("local with server's worktree is not collected, 2 of 2;")

    def test_where_nothing_else_differs_no_cell_is_needed(self) -> None:
        other = an_environment("other", timezone="Asia/Tokyo")
        explained = explain(
            lambda plan: cell_of(plan, {"t": "failed" if plan.environment.timezone == "Asia/Tokyo" else "passed"}),
            other,
            an_environment("plain"),
        )
        assert (explained.cause().axes, explained.sizes) == ((TIMEZONE,), [])
        assert explained.cause().detail == "nothing else differs between other and plain"

    def test_equal_trees_are_no_difference(self) -> None:
        explained = explain(fails_if(lambda axes: LOCALE in axes), varied=(TIMEZONE, LOCALE, CASE, WORKERS))
        assert explained.names[1] == ["local+locale-2", "server+locale-1", "server+locale-2"]

    def test_only_axes_that_varied_are_tried(self) -> None:
        explained = explain(fails_if(lambda axes: LOCALE in axes), varied=(TIMEZONE, LOCALE))
        assert explained.names == [["local+timezone-1", "local+locale-1"], ["local+locale-2", "local+timezone-2"]]
        assert explained.cause().axes == (LOCALE,)

    def test_a_test_that_is_not_coupled_costs_nothing(self) -> None:
        assert explain(fails_if(lambda _: True)).sizes == []


class TestSeveralAxes:
    def test_either_of_two_is_enough(self) -> None:
        explained = explain(fails_if(lambda axes: bool(axes & {TIMEZONE, LOCALE})))
        assert explained.cause().ways == ((TIMEZONE,), (LOCALE,))
        assert explained.cause().axes == (TIMEZONE, LOCALE)
        assert explained.cause().detail == (
            "local with server's timezone fails, 2 of 2; local with server's locale fails, 2 of 2; "
            "server with local's timezone and locale passes, 2 of 2"
        )
        assert explained.sizes == [5, 4]

    def test_two_are_needed_together(self) -> None:
        explained = explain(fails_if(lambda axes: axes >= {TIMEZONE, LOCALE}))
        assert explained.cause().ways == ((TIMEZONE, LOCALE),)
        assert explained.cause().detail == (
            "local with server's timezone and locale fails, 2 of 2; server with local's passes, 2 of 2"
        )
        assert explained.sizes == [5, 5, 4]

    def test_two_are_needed_together_and_nothing_else_differs(self) -> None:
        one = an_environment("one", timezone="Asia/Tokyo", locale="en_US.UTF-8")
        explained = explain(fails_if(lambda axes: axes >= {TIMEZONE, LOCALE}), one, an_environment("two"))
        assert explained.cause().ways == ((TIMEZONE, LOCALE),)
        assert explained.cause().detail == "two with one's timezone passes, 2 of 2; two with one's locale passes, 2 of 2"
        assert explained.names == [["one+timezone-1", "one+locale-1"], ["one+locale-2", "one+timezone-2"]]

    def test_one_with_either_of_two_others(self) -> None:
        explained = explain(fails_if(lambda axes: TIMEZONE in axes and bool(axes & {LOCALE, CASE})))
        assert explained.cause().ways == ((TIMEZONE, LOCALE), (TIMEZONE, CASE))
        assert explained.sizes == [5, 5, 4, 4]

    def test_one_or_two_others_together(self) -> None:
        explained = explain(fails_if(lambda axes: TIMEZONE in axes or axes >= {LOCALE, CASE}))
        assert explained.cause().ways == ((TIMEZONE,), (LOCALE, CASE))
        assert explained.sizes == [5, 3, 4, 4]

    def test_three_together(self) -> None:
        explained = explain(fails_if(lambda axes: axes >= {TIMEZONE, LOCALE, WORKERS}))
        assert explained.cause().ways == ((TIMEZONE, LOCALE, WORKERS),)
        assert explained.sizes == [5, 5, 4]


def pairs_of_ways() -> Iterator[tuple[frozenset[Axis], ...]]:
    """List every set of axes, and every two of which none is within the other."""
    sets = [frozenset(some) for size in range(1, len(FIVE) + 1) for some in combinations(FIVE, size)]
    yield from ((one,) for one in sets)
    yield from ((one, other) for one, other in combinations(sets, 2) if not (one < other or other < one))


def fails_where_one_is_whole(ways: tuple[frozenset[Axis], ...]) -> World:
    return fails_if(lambda axes: any(axes >= way for way in ways))


class TestEveryCombination:
    def test_whatever_two_sets_of_axes_do_a_smallest_one_is_named_and_nothing_that_is_not_enough_or_too_much(self) -> None:
        costs = []
        for ways in pairs_of_ways():
            explained = explain(fails_where_one_is_whole(ways))
            named = {frozenset(way) for way in explained.cause().ways}
            assert named <= set(ways)
            assert min(map(len, named)) == min(map(len, ways))
            costs.append(sum(explained.sizes))
        assert (len(costs), max(costs)) == (316, 23)


def parts(plan: CellPlan) -> frozenset[Part]:
    """Say which axes of a cell are the server's, and whether it runs on the server's computer, as its base's cells do."""
    there = plan.environment.name.partition("+")[0] == SERVER.name
    return servers(plan) | ({Beyond.COMPUTER} if there else frozenset[Part]())


def holds_one_of(one: frozenset[Part], other: frozenset[Part], seen: frozenset[Part]) -> bool:
    return one <= seen or other <= seen


class TestComputers:
    """Two environments on two computers: a mixture of axes on the one never stands for its complement on the other."""

    APART: ClassVar[Computers] = {LOCAL.name: ("host",), SERVER.name: ("ssh",)}

    def explained(self, red: Callable[[frozenset[Part]], bool], varied: Sequence[Axis] = FIVE) -> Explained:
        """Look for the cause of a test that fails where this is so."""
        world = lambda plan: cell_of(plan, {"t": "failed" if red(parts(plan)) else "passed"})  # noqa: E731 - as short as it is
        return explain(world, varied=varied, computers=self.APART)

    @pytest.mark.parametrize("varied", [FIVE, (TIMEZONE, WORKERS), (TIMEZONE,), ()])
    def test_what_the_computer_does_is_blamed_on_no_axis(self, varied: Sequence[Axis]) -> None:
        explained = self.explained(lambda seen: Beyond.COMPUTER in seen, varied)
        cause = explained.cause()
        assert (cause.kind, cause.axes, cause.ways) == (CauseKind.COMPUTER, (), ())
        assert cause.detail.startswith("not an axis: the two computers themselves (host / ssh); ")
        if varied:
            shown = "local with server's computer fails, 2 of 2; server with local's passes, 2 of 2"
            assert cause.detail.endswith(f"; {shown}")
        assert explained.finding().note == ""

    def test_it_is_shown_on_each_computer_with_all_axes_of_the_other(self) -> None:
        explained = self.explained(lambda seen: Beyond.COMPUTER in seen, (TIMEZONE, WORKERS))
        names = {name.rpartition("-")[0] for batch in explained.names for name in batch}
        assert {"server+timezone+workers", "local+timezone+workers"} <= names

    def test_an_axis_is_named_where_it_does_so_on_either_computer(self) -> None:
        explained = self.explained(lambda seen: LOCALE in seen)
        assert explained.cause() == Cause(
            kind=CauseKind.AXIS,
            axes=(LOCALE,),
            ways=((LOCALE,),),
            detail="local with server's locale fails, 2 of 2; server with local's passes, 2 of 2",
        )
        assert explained.finding().note == ""

    def test_an_axis_and_the_computer_are_each_enough(self) -> None:
        explained = self.explained(lambda seen: bool(seen & {LOCALE, Beyond.COMPUTER}))
        assert (explained.cause().kind, explained.cause().axes) == (CauseKind.AXIS, (LOCALE,))
        assert explained.finding().note == "enough as well, and not an axis: the two computers themselves (host / ssh)"

    def test_an_axis_that_matters_on_one_computer_alone(self) -> None:
        explained = self.explained(lambda seen: seen >= {LOCALE, Beyond.COMPUTER})
        cause = explained.cause()
        assert (cause.kind, cause.axes, cause.ways) == (CauseKind.COMPUTER, (LOCALE,), ((LOCALE,),))
        assert cause.detail.startswith("not an axis: the two computers themselves (host / ssh) with locale; ")

    def test_whatever_two_sets_do_no_axis_is_named_that_the_test_does_not_hang_on(self) -> None:
        everything: tuple[Part, ...] = (TIMEZONE, WORKERS, WORKTREE, Beyond.COMPUTER)
        sets = [frozenset(some) for size in (1, 2) for some in combinations(everything, size)]
        for one, other in combinations(sets, 2):
            red = partial(holds_one_of, one, other)
            cause = self.explained(red, (TIMEZONE, WORKERS, WORKTREE)).cause()
            more = {Beyond.COMPUTER} if cause.kind is CauseKind.COMPUTER else set[Part]()
            for way in cause.ways or (cause.axes,):
                assert red(frozenset({*way, *more})), (one, other, cause)
                assert not any(red(frozenset({*way, *more} - {each})) for each in {*way, *more}), (one, other, cause)

    def test_environments_on_one_computer_are_compared_first(self) -> None:
        third = msgspec.structs.replace(SERVER, name=EnvironmentName("third"))
        world = lambda plan: cell_of(plan, {"t": "failed" if TIMEZONE in servers(plan) else "passed"})  # noqa: E731
        computers = {LOCAL.name: ("host",), third.name: ("ssh",), SERVER.name: ("host",)}
        explained = explain(world, LOCAL, third, SERVER, computers=computers)
        assert explained.cause().axes == (TIMEZONE,)
        assert not any(name.startswith("third") for batch in explained.names for name in batch)

    def test_engines_that_both_have_are_one_place_and_one_of_its_own_is_another(self) -> None:
        def engine(name: str, *environments: str) -> EngineRecord:
            known = tuple(map(EnvironmentName, environments))
            return EngineRecord(name=name, url="", version="", platform="", cpus=1, environments=known)

        one, two, three = map(EnvironmentName, ("one", "two", "three"))
        runners = {one: RunnerName.DOCKER, two: RunnerName.DOCKER, three: RunnerName.SSH}
        pool = (engine("a", "one", "two"), engine("b", "one", "two"))
        assert computers_of(runners, pool) == {
            one: ("engine `a`", "engine `b`"),
            two: ("engine `a`", "engine `b`"),
            three: ("ssh",),
        }
        assert computers_of(runners, (engine("a", "one"), engine("b", "two"))) == {
            one: ("engine `a`",),
            two: ("engine `b`",),
            three: ("ssh",),
        }
        assert computers_of(runners, ()) == {one: ("docker",), two: ("docker",), three: ("ssh",)}


class TestHiding:
    def test_an_axis_that_hides_another_is_the_cause_and_the_other_is_told(self) -> None:
        def world(plan: CellPlan) -> Cell:
            axes = servers(plan)
            line = "zone" if TIMEZONE in axes else "words" if LOCALE in axes else ""
            run = a_run("t", "failed", failure=a_failure(line)) if line else a_run("t")
            return cell_of(plan, {}, runs=[run])

        explained = explain(world)
        assert explained.cause().ways == ((TIMEZONE,),)
        assert explained.cause().detail == (
            "local with server's timezone fails, 2 of 2; server with local's timezone and locale passes, 2 of 2"
        )
        assert explained.finding().note == "behind that is locale; local with server's locale fails in another way"
        assert explained.sizes == [5, 3, 2]

    def test_so_is_one_that_hides_another_outcome(self) -> None:
        def world(plan: CellPlan) -> Cell:
            axes = servers(plan)
            return cell_of(plan, {"t": "skipped" if WORKERS in axes else "failed" if TIMEZONE in axes else "passed"})

        explained = explain(world)
        assert explained.cause().ways == ((WORKERS,),)
        assert explained.finding().note == "behind that is timezone; local with server's timezone fails"

    def test_a_failure_in_another_way_is_no_reproduction(self) -> None:
        def world(plan: CellPlan) -> Cell:
            axes = servers(plan)
            if plan.environment.name == "server":
                return cell_of(plan, {}, runs=[a_run("t", "failed", failure=a_failure("server's own"))])
            return cell_of(plan, {}, runs=[a_run("t", "failed", failure=a_failure("hybrid's")) if LOCALE in axes else a_run("t")])

        explained = explain(world)
        assert explained.finding().cause is None
        assert explained.finding().note == (
            "none of the axes that were varied explains it; local with server's locale fails in another way"
        )


class TestNoAnswer:
    def test_none_of_the_axes_is_said_after_pairs_and_a_second_look(self) -> None:
        explained = explain(lambda plan: cell_of(plan, {"t": "failed" if plan.environment.name == "server" else "passed"}))
        assert explained.finding().cause is None
        assert explained.finding().note == "none of the axes that were varied explains it"
        assert explained.sizes == [5, 5, 2, 5]  # each alone, all but each, all of them together, each alone again
        assert explained.names[2][0] == "local+timezone+locale+case_sensitive+workers+worktree-1"

    def test_what_is_unstable_in_a_mixture_is_said_to_be(self) -> None:
        def world(plan: CellPlan) -> Cell:
            once = plan.environment.name == "local+workers" and plan.attempt == 2
            return cell_of(plan, {"t": "failed" if WORKERS in servers(plan) and not once else "passed"})

        explained = explain(world)
        assert explained.finding().cause is None
        assert explained.finding().note == (
            "its cause is open, since it is unstable where the two are mixed: local with server's workers fails, then passes"
        )
        assert (explained.finding().label, explained.sizes) == (Label.COUPLING, [5, 3])

    def test_a_dead_cell_is_made_up_for_once(self) -> None:
        def world(plan: CellPlan) -> Cell:
            if plan.environment.name == "local+locale" and plan.attempt == 1:
                return cell_of(plan, {}, status=CellStatus.CRASHED)
            return fails_if(lambda axes: LOCALE in axes)(plan)

        explained = explain(world)
        assert explained.cause().axes == (LOCALE,)
        assert explained.names[1] == ["local+locale-2"]
        assert explained.sizes == [5, 1, 3]

    def test_cells_that_all_die_leave_it_open(self) -> None:
        def world(plan: CellPlan) -> Cell:
            if not is_gate(plan) and LOCALE in servers(plan):
                return cell_of(plan, {}, status=CellStatus.TIMED_OUT)
            return fails_if(lambda axes: LOCALE in axes)(plan)

        explained = explain(world)
        assert explained.finding().cause is None
        assert explained.finding().note == "its cause is open: local with server's locale came to no result"

    def test_no_batch_is_begun_when_the_time_is_over(self) -> None:
        explained = explain(fails_if(lambda axes: LOCALE in axes), batches=1)
        assert explained.sizes == [5]
        assert (explained.finding().label, explained.finding().cause) == (Label.COUPLING, None)
        assert explained.finding().note == UNFINISHED

    def test_a_cell_under_another_calendar_tells_nothing(self) -> None:
        apart, together = Dates("2024-05-02", "2024-05-01"), Dates("2024-05-02", "2024-05-02")

        def world(plan: CellPlan) -> Cell:
            abroad = TIMEZONE not in servers(plan)
            dates = (apart if abroad and is_gate(plan) else together,)
            return cell_of(plan, {"t": "failed" if abroad and is_gate(plan) else "passed"}, dates=dates)

        explained = explain(world)
        assert explained.finding().cause is None
        assert explained.finding().note.startswith("its cause is open: ")


class TestCells:
    def test_a_hybrid_has_the_orders_and_seeds_of_the_gate_by_turns(self) -> None:
        explained = explain(fails_if(lambda axes: LOCALE in axes))
        plans = {plan.name: plan for batch in explained.batches for plan in batch}
        first, second = plans["local+locale-1"], plans["local+locale-2"]
        assert [(plan.seed, plan.order.seed, plan.order.reversed) for plan in (first, second)] == [
            (101, 7, False),
            (202, 7, True),
        ]
        assert {plan.purpose for plan in plans.values()} == {Purpose.HYBRID}

    def test_the_filesystem_follows_the_case_axis_and_the_tree(self) -> None:
        explained = explain(fails_if(lambda axes: LOCALE in axes))
        plans = {str(plan.environment.name): plan.filesystem for batch in explained.batches for plan in batch}
        assert plans["local+case_sensitive"] == Filesystem(fold=False)
        assert plans["local+worktree"] == Filesystem(fold=True, shadowed=("Readme",))
        assert plans["local+locale"] == Filesystem(fold=True)
        assert plans["server+locale"] == Filesystem(fold=False)

    def test_what_is_selected_follows_the_tree_and_the_limit_follows_memory(self) -> None:
        def change(plans: tuple[CellPlan, ...]) -> tuple[CellPlan, ...]:
            return tuple(
                msgspec.structs.replace(
                    plan,
                    selection=Selection(paths=(plan.environment.name,)),
                    limits=msgspec.structs.replace(plan.limits, memory=1 if plan.environment.name == "big" else 2),
                )
                for plan in plans
            )

        big, small = an_environment("big", worktree=Worktree.DIRTY), an_environment("small", memory=2)
        explained = explain(
            lambda plan: cell_of(plan, {"t": "failed" if plan.environment.memory else "passed"}),
            big,
            small,
            varied=(WORKTREE, Axis.MEMORY),
            change=change,
        )
        assert explained.cause().axes == (Axis.MEMORY,)
        plans = {plan.environment.name: plan for batch in explained.batches for plan in batch}
        assert {name: (plan.selection.paths, plan.limits.memory) for name, plan in plans.items()} == {
            "big+worktree": (("small",), 1),
            "big+memory": (("big",), 2),
        }

    def test_in_one_process_nothing_runs_after_the_last_coupled_test(self) -> None:
        def world(plan: CellPlan) -> Cell:
            names = ("u", "t", "v")[:: -1 if plan.attempt % 2 == 0 else 1]
            return cell_of(plan, {name: "failed" if name == "t" and LOCALE in servers(plan) else "passed" for name in names})

        explained = explain(world)
        plans = {plan.name: plan.order for batch in explained.batches for plan in batch}
        assert plans["local+locale-1"].exactly == ids("u", "t")
        assert plans["local+locale-2"].exactly == ids("v", "t")
        assert plans["local+workers-1"].exactly == plans["server+locale-1"].exactly == ()
        assert {cell.about for cell in explained.attribution.cells} == {ids("t")}

    def test_what_ends_its_process_runs_apart(self) -> None:
        def world(plan: CellPlan) -> Cell:
            axes = servers(plan)
            asked = [str(test.nodeid) for test in plan.order.exactly or plan.order.only] or ["killer", "t", "u"]
            outcomes = {"killer": "passed" if TIMEZONE in axes else "crashed", "t": "failed" if LOCALE in axes else "passed"}
            order = {"": tuple(test for test in ids("t", "u") if test.nodeid in asked)}
            return cell_of(plan, {name: outcomes.get(name, "passed") for name in asked}, order=order)

        explained = explain(world)
        assert (explained.cause("killer").axes, explained.cause().axes) == ((TIMEZONE,), (LOCALE,))
        assert explained.sizes == [10, 6]
        orders = {(plan.order.exactly, plan.order.only) for plan in explained.batches[0]}
        assert orders == {(ids("t"), ()), ((), ids("t", "u")), ((), ids("t", "u", "killer"))}

    def test_in_a_long_suite_coupled_tests_run_alone_if_they_do_the_same_there(self) -> None:
        explained = explain(a_long_suite)
        assert {name: explained.cause(name).axes for name in "ty"} == {"t": (LOCALE,), "y": (WORKERS,)}
        alone, *others = explained.batches
        assert [(plan.name, plan.order.only) for plan in alone] == [("local-3", ids("t", "y")), ("server-3", ids("t", "y"))]
        # `y` collides with a partner, so it has company until it is explained, and `t` with it.
        assert [len(batch) for batch in others] == [5, 6]

    def test_alone_means_without_the_rest_of_the_suite(self) -> None:
        def world(plan: CellPlan) -> Cell:
            cell = a_long_suite(plan)
            return msgspec.structs.replace(cell, tests=tuple(run for run in cell.tests if run.nodeid != "y"))

        explained = explain(world)
        assert explained.cause().axes == (LOCALE,)
        assert explained.sizes == [2, 5, 3]
        assert {plan.order.only for batch in explained.batches for plan in batch} == {ids("t")}

    def test_of_several_environments_those_are_compared_between_which_the_least_differs(self) -> None:
        near = msgspec.structs.replace(SERVER, name="near", timezone="Asia/Tokyo")
        explained = explain(fails_if(lambda axes: TIMEZONE in axes), LOCAL, SERVER, near)
        assert (explained.cause().axes, explained.sizes) == ((TIMEZONE,), [])
        assert explained.cause().detail == "nothing else differs between near and server"

    def test_each_further_outcome_has_its_cause(self) -> None:
        third = msgspec.structs.replace(LOCAL, name="third", umask=0o077)

        def world(plan: CellPlan) -> Cell:
            red = "failed" if TIMEZONE in servers(plan) else "skipped" if plan.environment.umask == 0o077 else "passed"
            return cell_of(plan, {"t": red})

        explained = explain(world, LOCAL, SERVER, third, varied=(*FIVE, Axis.UMASK))
        assert explained.cause().ways == ((TIMEZONE,), (Axis.UMASK,))

    @pytest.mark.parametrize("number", [1, 10, 100])
    def test_many_coupled_tests_cost_no_more_cells_than_one(self, number: int) -> None:
        def world(plan: CellPlan) -> Cell:
            return cell_of(plan, {f"t{n}": "failed" if LOCALE in servers(plan) else "passed" for n in range(number)})

        explained = explain(world)
        assert explained.sizes == [5, 3]
        assert all(each.cause is not None for each in explained.attribution.findings)


class TestFiles:
    """Which files a coupling by the tree touches is seen in the cells that look for its cause anyway."""

    DIFFERENT: ClassVar[Differences] = {"a.json": Difference("a.json", FileState.IGNORED)}

    @staticmethod
    def reads_a_file(plan: CellPlan) -> Cell:
        touched = (Touch("a.json", Touching.OPENED),) if "a.json" in (plan.watched or ()) else ()
        return cell_of(plan, {}, runs=[a_run("t", "failed" if WORKTREE in servers(plan) else "passed", touched=touched)])

    def test_they_are_named_without_a_further_cell(self) -> None:
        explained = explain(self.reads_a_file, different=self.DIFFERENT)
        assert (explained.cause().axes, explained.cause().files, explained.sizes) == ((WORKTREE,), ("a.json",), [5, 3])
        assert all(plan.watched == ("a.json",) for batch in explained.batches for plan in batch)

    def test_where_nothing_had_to_be_mixed_both_sides_run_once_more(self) -> None:
        dirty = an_environment("dirty", worktree=Worktree.DIRTY)
        explained = explain(self.reads_a_file, dirty, an_environment("clean"), different=self.DIFFERENT)
        assert (explained.cause().files, explained.names) == (("a.json",), [["dirty-3", "clean-3"]])

    def test_they_do_not_run_once_more_when_the_time_is_over(self) -> None:
        dirty = an_environment("dirty", worktree=Worktree.DIRTY)
        explained = explain(self.reads_a_file, dirty, an_environment("clean"), different=self.DIFFERENT, batches=0)
        assert (explained.cause().axes, explained.cause().files, explained.sizes) == ((WORKTREE,), (), [])

    def test_what_another_axis_flips_names_none(self) -> None:
        def world(plan: CellPlan) -> Cell:
            touched = (Touch("a.json", Touching.OPENED),)
            return cell_of(plan, {}, runs=[a_run("t", "failed" if LOCALE in servers(plan) else "passed", touched=touched)])

        assert explain(world, different=self.DIFFERENT).cause().files == ()


class TestCompanyOfWorkers:
    def test_a_fixture_that_each_worker_sets_up_is_told_where_workers_flip_the_test(self) -> None:
        def world(plan: CellPlan) -> Cell:
            names = ("one", "two") if plan.environment.workers else ("", "")
            fixtures = ("conftest.py::service",) if plan.watched is not None else ()
            red = "failed" if plan.environment.workers else "passed"
            runs = [a_run("t", red, worker=names[0], fixtures=fixtures), a_run("u", worker=names[1], fixtures=fixtures)]
            return cell_of(plan, {}, runs=runs)

        explained = explain(world)
        said = "it uses `service` of conftest.py, which is there once a process: each of 2 workers sets it up for itself"
        assert (explained.cause().axes, explained.finding().note) == ((WORKERS,), said)

    def test_ids_that_only_some_workers_have_are_told(self) -> None:
        def world(plan: CellPlan) -> Cell:
            if not plan.environment.workers:
                return cell_of(plan, {"t[alone]": "passed"})
            return cell_of(plan, {"t[one]": "passed", "t[two]": "passed"}, uneven=ids("t[one]", "t[two]"))

        explained = explain(world)
        for name in ("t[alone]", "t[one]", "t[two]"):
            assert explained.cause(name).axes == (WORKERS,)
            assert explained.finding(name).note == "its ids differ from worker to worker"
