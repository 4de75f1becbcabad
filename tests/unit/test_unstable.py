"""Causes of instability, found by running parts of orders: the code that searches is real, only the cells are made up."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paritygate.causes.flow import Attribution
from paritygate.causes.unstable.answers import Times
from paritygate.causes.unstable.bisection import Lists, Looking, Tests, culprits, fewer, parts
from paritygate.causes.unstable.company import by_chance
from paritygate.causes.unstable.flow import MOST_AT_ONCE, Evidence, explain_unstable
from paritygate.causes.unstable.suspects import Trial
from paritygate.causes.unstable.wording import UNSOUGHT
from paritygate.causes.views import Likeness, Seen, Views
from paritygate.causes.wording import UNFINISHED
from paritygate.classifier.labels import label
from paritygate.confirm.flow import confirm
from paritygate.outcomes.artifact import Cause, Finding
from paritygate.outcomes.cells import Cell, EnvironmentName, NodeId, TestId, TestRun
from paritygate.outcomes.plans import CellPlan, Environment, Order
from paritygate.outcomes.words import CauseKind, CellStatus, Label, Purpose
from tests.support.builders import a_cell, a_failure, a_run, an_environment, gate_plans

Behaviour = Callable[[str, list[str], CellPlan], bool]
"""Whether a test fails: its name, what ran before it in its process, and the cell."""

Red = dict[str, Callable[[CellPlan], bool]]

ONE = an_environment("local", workers=0)
TWO = an_environment("server", workers=2)
HUNDRED = [f"t{number:03}" for number in range(100)]


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
    names: Sequence[str], fails: Behaviour, *environments: Environment, batches: int = 99, seconds: float = 0.0
) -> Searched:
    """Run a gate over made-up tests, in this order and its reverse, and look for what makes them unstable."""
    ran: list[list[CellPlan]] = []

    def run(plans: tuple[CellPlan, ...]) -> tuple[Cell, ...]:
        ran.append(list(plans))
        return tuple(cell_of(plan, names, fails, seconds) for plan in plans)

    plans = gate_plans(*(environments or (ONE,)))
    cells = tuple(cell_of(plan, names, fails, seconds) for plan in plans)
    confirmed = confirm(label(cells), cells, plans, run)
    known = Evidence(plans=plans, cells=(*cells, *confirmed.cells))
    ran.clear()
    return Searched(explain_unstable(confirmed.findings, known, run, lambda: len(ran) >= batches), ran)


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
            changes = {"failure": a_failure()} if failed else {}
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


def hashes(plan: CellPlan) -> int:
    return plan.seed if plan.hash_seed is None else plan.hash_seed


def among(names: Sequence[str], place: int, *others: str) -> list[str]:
    return [*names[:place], *others, *names[place:]]


class TestPolluters:
    def test_one_of_a_hundred_is_named_with_what_was_seen_of_it(self) -> None:
        names = among(HUNDRED, 60, "polluter")
        searched = search([*names, "victim"], lambda name, before, _: name == "victim" and "polluter" in before)
        assert searched.cause() == Cause(
            kind=CauseKind.ORDER,
            polluters=(NodeId("polluter"),),
            detail="fails after `polluter` (6 of 6), passes without (6 of 6)",
        )
        assert searched.finding().label is Label.NONDETERMINISM
        assert len(searched.attribution.cells) == searched.cells
        assert searched.cells <= 30

    @pytest.mark.parametrize("place", range(0, 101, 9))
    def test_wherever_it_stands(self, place: int) -> None:
        names = among(HUNDRED, place, "polluter")
        searched = search([*names, "victim"], lambda name, before, _: name == "victim" and "polluter" in before)
        assert searched.cause().polluters == ("polluter",)

    @pytest.mark.parametrize(("one", "other"), [(3, 90), (50, 51), (0, 1), (98, 99), (30, 60)])
    def test_two_that_are_needed_together_are_both_named(self, one: int, other: int) -> None:
        both = {HUNDRED[one], HUNDRED[other]}
        searched = search([*HUNDRED, "victim"], lambda name, before, _: name == "victim" and both <= {*before})
        assert set(searched.cause().polluters) == both
        assert searched.cause().detail == f"fails after `{HUNDRED[one]}` and `{HUNDRED[other]}` (6 of 6), passes without (6 of 6)"

    def test_one_that_another_test_undoes_is_found_behind_it(self) -> None:
        def fails(name: str, before: list[str], _: CellPlan) -> bool:
            last = next((each for each in reversed(before) if each in {"polluter", "cleaner"}), "cleaner")
            return name == "victim" and last == "polluter"

        names = ["polluter", *HUNDRED[:9], "cleaner", *HUNDRED[9:20], "victim", *HUNDRED[20:30], "polluter2"]
        searched = search([each.replace("polluter2", "last") for each in names], fails)
        assert searched.finding().label is Label.CONSISTENT_GREEN  # the cleaner comes between, in both orders
        searched = search(["cleaner", *HUNDRED[:9], "polluter", *HUNDRED[9:20], "victim"], fails)
        assert searched.cause().polluters == ("polluter",)

    def test_any_of_several_will_do(self) -> None:
        searched = search([*HUNDRED, "victim"], lambda name, before, _: name == "victim" and bool({"t010", "t020"} & {*before}))
        assert searched.cause().polluters in {("t010",), ("t020",)}


class TestManyVictims:
    def test_those_of_one_polluter_share_its_cells(self) -> None:
        names = among(HUNDRED, 30, "polluter")
        victims = {f"victim{number}" for number in range(12)}
        alone = search([*names, "victim"], lambda name, before, _: name == "victim" and "polluter" in before)
        together = search([*names, *sorted(victims)], lambda name, before, _: name in victims and "polluter" in before)
        assert {together.cause(each).polluters for each in victims} == {("polluter",)}
        assert together.cells <= alone.cells + 2

    def test_those_of_different_polluters_go_on_side_by_side(self) -> None:
        guilty = {f"victim{number}": HUNDRED[7 + 23 * number] for number in range(4)}
        searched = search([*HUNDRED, *guilty], lambda name, before, _: guilty.get(name) in before)
        assert {each: searched.cause(each).polluters for each in guilty} == {each: (other,) for each, other in guilty.items()}
        assert all(len(batch) <= MOST_AT_ONCE for batch in searched.batches)

    def test_victims_of_each_other_are_looked_into_apart(self) -> None:
        names = [*HUNDRED[:10], "a", *HUNDRED[10:20], "b", "c"]
        guilty = {"a": "b", "b": "a", "c": "b"}
        searched = search(names, lambda name, before, _: guilty.get(name) in before)
        assert {each: searched.cause(each).polluters for each in guilty} == {"a": ("b",), "b": ("a",), "c": ("b",)}

    def test_a_victim_that_needs_a_polluter_and_another_victim_gets_both(self) -> None:
        def fails(name: str, before: list[str], _: CellPlan) -> bool:
            return (name == "a" and "polluter" in before) or (name == "b" and {"polluter", "a"} <= {*before})

        searched = search([*HUNDRED[:5], "polluter", *HUNDRED[5:10], "a", *HUNDRED[10:15], "b"], fails)
        assert (searched.cause("a").polluters, searched.cause("b").polluters) == (("polluter",), ("polluter", "a"))


class TestSetters:
    def test_a_brittle_test_is_told_from_a_victim_and_what_it_needs_is_named(self) -> None:
        names = among(HUNDRED, 70, "setter")
        searched = search([*names, "victim"], lambda name, before, _: name == "victim" and "setter" not in before)
        assert searched.cause() == Cause(
            kind=CauseKind.ORDER, setters=(NodeId("setter"),), detail="passes after `setter` (6 of 6), fails without (6 of 6)"
        )

    def test_two_that_are_needed_together_are_both_named(self) -> None:
        searched = search([*HUNDRED, "victim"], lambda name, before, _: name == "victim" and not {"t020", "t080"} <= {*before})
        assert searched.cause().setters == ("t020", "t080")


class TestSeeds:
    def test_random_numbers_are_told_from_hashes(self) -> None:
        red: Red = {"dice": lambda plan: plan.seed == 101, "set": lambda plan: hashes(plan) == 202}
        searched = search([*HUNDRED, *red], lambda name, _, plan: name in red and red[name](plan))
        assert searched.cause("dice") == Cause(
            kind=CauseKind.DATA_SEED,
            detail="fails where random numbers are seeded as in attempt 1 of local (6 of 6), passes as in attempt 2 (6 of 6), "
            "the hash seed being the other's each time",
        )
        assert searched.cause("set").kind is CauseKind.HASH_SEED

    def test_what_takes_both_or_either_is_left_open(self) -> None:
        red: Red = {
            "both": lambda plan: (plan.seed, hashes(plan)) == (101, 101),
            "either": lambda plan: 101 in {plan.seed, hashes(plan)},
        }
        searched = search([*HUNDRED, *red], lambda name, _, plan: name in red and red[name](plan))
        assert {searched.finding(each).cause for each in red} == {None}
        assert "it takes both" in searched.finding("both").note
        assert "each make it by themselves" in searched.finding("either").note

    def test_a_polluter_under_one_seed_alone_is_named_with_that(self) -> None:
        searched = search(
            [*HUNDRED, "victim"], lambda name, before, plan: name == "victim" and "t050" in before and plan.seed == 101
        )
        assert (searched.cause().polluters, searched.cause().detail.rpartition("; ")[2]) == (
            ("t050",),
            "only with the seeds of attempt 1",
        )

    def test_where_another_seed_does_it_too_the_polluter_is_looked_for_without(self) -> None:
        searched = search(
            [*HUNDRED, "victim"], lambda name, before, plan: name == "victim" and ("t050" in before or plan.seed == 101)
        )
        assert (searched.cause().polluters, searched.cause().detail.rpartition("; ")[2]) == (
            ("t050",),
            "another seed alone makes it too",
        )

    def test_what_shares_its_random_numbers_with_another_test_only_because_both_are_seeded_alike_is_no_victim_of_order(
        self,
    ) -> None:
        def fails(name: str, before: list[str], plan: CellPlan) -> bool:
            return name == "victim" and "t050" in before and plan.reseeds

        cause = search([*HUNDRED, "victim"], fails).cause()
        assert (cause.kind, cause.polluters) == (CauseKind.DATA_SEED, ("t050",))
        assert cause.detail.startswith(
            "passes after it where pytest-randomly does not seed random numbers alike before each test (6"
        )


class TestWorkers:
    def test_the_list_of_one_worker_that_does_it_in_one_process_is_order(self) -> None:
        def fails(name: str, before: list[str], plan: CellPlan) -> bool:
            return name == "victim" and "t090" in before and plan.environment.name == "server"

        searched = search([*HUNDRED, "victim"], fails, ONE, TWO)
        assert (searched.cause().kind, searched.cause().polluters) == (CauseKind.ORDER, ("t090",))
        assert {plan.environment.workers for plan in searched.batches[-1]} == {0}

    def test_what_fails_beside_others_and_never_in_one_process_is_a_race_with_what_ran_at_the_same_time(self) -> None:
        def fails(name: str, _: list[str], plan: CellPlan) -> bool:
            return name == "victim" and plan.environment.workers > 1 and not plan.order.reversed

        searched = search(["t0", "partner", "t1", "t2", "t3", "victim"], fails, ONE, TWO, seconds=0.5)
        cause = searched.cause()
        assert (cause.kind, cause.overlapping, cause.rate) == (CauseKind.RACE, ("t1",), (6, 6))
        assert cause.detail == (
            "fails with 2 workers (6 of 6), passes where its worker's list runs in one process (7 of 7); "
            "at the same time, each time: `t1`"
        )

    def test_what_seldom_fails_beside_others_proves_no_race(self) -> None:
        counted = iter(range(10**6))

        def fails(name: str, _: list[str], plan: CellPlan) -> bool:
            return name == "victim" and plan.environment.workers > 1 and next(counted) % 5 == 0

        cause = search(["t0", "t1", "t2", "victim"], fails, TWO).cause()
        assert (cause.kind, cause.rate) == (CauseKind.CHANCE, (2, 6))
        assert cause.detail.endswith("fails 2 of 6 times, and 0 of 7 where its worker's list runs in one process")

    @pytest.mark.parametrize(
        ("beside", "alone", "proven"), [((6, 6), (0, 7), True), ((6, 6), (0, 6), False), ((5, 6), (0, 7), False)]
    )
    def test_a_race_is_as_sure_as_a_coupling(self, beside: tuple[int, int], alone: tuple[int, int], proven: bool) -> None:  # noqa: FBT001
        assert (by_chance(Times(*beside), Times(*alone)) < 1 / 1000) is proven


class TestChance:
    @pytest.mark.parametrize("percent", [10, 30, 50])
    def test_a_coin_gets_no_other_cause(self, percent: int) -> None:
        """A fair coin might be given one in 1 of 5,000 cases; this one has a seed of its own."""
        coin = random.Random(percent)  # noqa: S311 - it decides what a made-up test does
        for _ in range(300):
            searched = search([*HUNDRED[:8], "victim"], lambda name, _, __: name == "victim" and coin.random() * 100 < percent)
            if searched.finding().label is Label.NONDETERMINISM:
                assert searched.cause().kind is CauseKind.CHANCE

    def test_its_rate_is_that_of_further_runs_of_the_same_cell(self) -> None:
        told = iter([True, False, *[False, True, False, False, True] * 9])
        searched = search(["t0", "victim"], lambda name, _, __: name == "victim" and next(told))
        cause = searched.cause()
        assert cause.kind is CauseKind.CHANCE
        assert cause.rate is not None
        assert cause.rate[1] == 6
        assert f"run again as it was, fails {cause.rate[0]} of 6 times" in cause.detail


class TestWhatLookedCoupled:
    def test_a_seed_that_only_a_confirmation_had_is_found(self) -> None:
        def fails(name: str, _: list[str], plan: CellPlan) -> bool:
            return name == "victim" and (plan.environment.name == "server" or plan.seed not in {101, 202})

        searched = search([*HUNDRED[:9], "victim"], fails, ONE, an_environment("server", workers=0))
        assert searched.finding().note.startswith("looked coupled; further attempts gave `failed`")
        assert searched.cause().kind is CauseKind.DATA_SEED
        assert "as in attempt 3 of local (6 of 6), passes as in attempt 1 (6 of 6)" in searched.cause().detail


class TestLimits:
    def test_what_is_not_known_when_the_time_is_over_is_said_to_be_open(self) -> None:
        for batches in range(4):
            searched = search(
                [*HUNDRED, "victim"], lambda name, before, _: name == "victim" and "t050" in before, batches=batches
            )
            assert (searched.finding().cause, searched.finding().note) == (None, UNFINISHED)

    def test_chance_that_has_shown_itself_before_the_time_is_over_is_said(self) -> None:
        told = iter([True, False, *[False] * 9])
        searched = search(["t0", "victim"], lambda name, _, __: name == "victim" and next(told), batches=1)
        assert (searched.cause().kind, searched.cause().rate) == (CauseKind.CHANCE, (0, 1))

    def test_a_test_that_hangs_for_minutes_is_left_open(self) -> None:
        plans = gate_plans(ONE)
        cells = tuple(
            a_cell("local", plan.attempt, {"t": outcome}) for plan, outcome in zip(plans, ("passed", "timed_out"), strict=True)
        )
        found = explain_unstable(label(cells), Evidence(plans=plans, cells=cells), lambda _: pytest.fail("ran"), lambda: False)
        assert (found.findings[0].cause, found.cells) == (None, ())
        assert "it hangs" in found.findings[0].note

    def test_what_differs_only_in_a_cell_that_died_is_left_open_and_that_is_said(self) -> None:
        plans = gate_plans(ONE)
        cells = (
            a_cell("local", 1, {"t": "passed"}),
            a_cell("local", 2, {"t": "crashed", "u": "not_run"}, status=CellStatus.CRASHED),
        )
        found = explain_unstable(label(cells), Evidence(plans=plans, cells=cells), lambda _: pytest.fail("ran"), lambda: False)
        assert next(each.note for each in found.findings if each.nodeid == "t") == UNSOUGHT

    def test_nothing_runs_where_nothing_is_unstable(self) -> None:
        assert search(HUNDRED, lambda name, _, __: name == "t007").batches == []

    def test_a_failure_of_another_kind_does_not_count(self) -> None:
        """In the mixed cells it fails at another place than the gate saw."""
        searched = search(
            ["t0", "victim"], lambda name, _, plan: name == "victim" and plan.purpose is Purpose.GATE and plan.seed == 101
        )
        assert searched.cause().kind is CauseKind.CHANCE


def flipping(tests: Tests, flips: Callable[[frozenset[int]], bool]) -> tuple[Lists, dict[Trial, list[Seen]]]:
    views: dict[Trial, list[Seen]] = {}

    def trial(some: Tests) -> Trial:
        made = Trial(env=EnvironmentName("a"), order=Order(seed=0, exactly=some), workers=0, seed=1, hash_seed=1)
        numbers = frozenset(int(test.nodeid) for test in some)
        views.setdefault(made, [Seen(Likeness.TARGET if flips(numbers) else Likeness.BASE)])
        return made

    return Lists(Views(views), trial, Likeness.TARGET), views


@settings(max_examples=200)
@given(
    st.integers(1, 60).flatmap(lambda size: st.tuples(st.just(size), st.sets(st.integers(0, size - 1), min_size=1, max_size=4)))
)
def test_exactly_the_tests_that_are_needed_together_are_found_however_many(case: tuple[int, set[int]]) -> None:
    size, needed = case
    tests = tuple(TestId(NodeId(str(number))) for number in range(size))
    lists, views = flipping(tests, lambda some: needed <= some)
    found = run(culprits(tests, lists))
    assert {int(test.nodeid) for test in found} == needed
    assert run(fewer(found, lists)) == found
    assert len(views) <= 8 + 14 * len(needed) + 4


@settings(max_examples=200)
@given(st.integers(2, 40), st.randoms(use_true_random=False))
def test_what_is_found_flips_whatever_the_tests_do_to_each_other(size: int, chooser: random.Random) -> None:
    tests = tuple(TestId(NodeId(str(number))) for number in range(size))
    known: dict[frozenset[int], bool] = {frozenset(range(size)): True, frozenset(): False}
    lists, _ = flipping(tests, lambda some: known.setdefault(some, chooser.random() < 0.5))
    found = run(culprits(tests, lists))
    assert known[frozenset(int(test.nodeid) for test in found)]


def run(looking: Looking) -> Tests:
    """Answer every question by what the trial already shows."""
    while True:
        try:
            next(looking)
        except StopIteration as end:
            found: Tests = end.value
            return found


@pytest.mark.parametrize(("size", "sizes"), [(1, [1]), (2, [1, 1]), (3, [1, 1, 1]), (10, [3, 3, 4])])
def test_a_list_is_cut_in_three(size: int, sizes: list[int]) -> None:
    assert [len(part) for part in parts(tuple(TestId(NodeId(str(number))) for number in range(size)))] == sizes
