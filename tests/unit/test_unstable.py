"""Causes of instability, found by running parts of orders: the code that searches is real, only the cells are made up."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from math import comb

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paritygate.causes.unstable.answers import Answer, Open, Times
from paritygate.causes.unstable.bisection import Lists, Looking, Tests, culprits, fewer, parts
from paritygate.causes.unstable.company import explain_chance
from paritygate.causes.unstable.corners import corners_of
from paritygate.causes.unstable.flow import MOST_AT_ONCE, Evidence, explain_unstable
from paritygate.causes.unstable.ordering import Bench, Inquiry, explain_order
from paritygate.causes.unstable.racing import LOOKS, Side, by_chance, is_proven, may_be_proven
from paritygate.causes.unstable.seeds import explain_seed
from paritygate.causes.unstable.suspects import Ran, Suspect, Trial
from paritygate.causes.unstable.wording import UNSOUGHT
from paritygate.causes.views import Likeness, Seen, Views
from paritygate.causes.wording import UNFINISHED
from paritygate.classifier.labels import label
from paritygate.outcomes.artifact import Cause
from paritygate.outcomes.cells import Cell, EnvironmentName, NodeId, TestId
from paritygate.outcomes.plans import CellPlan, Order
from paritygate.outcomes.words import CauseKind, CellStatus, Label, Outcome, Purpose
from tests.support.builders import a_cell, an_environment, gate_plans
from tests.support.worlds import ONE, Behaviour, search

Red = dict[str, Callable[[CellPlan], bool]]

TWO = an_environment("server", workers=2)
HUNDRED = [f"t{number:03}" for number in range(100)]


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

    def test_one_that_helps_under_one_seed_alone_is_looked_for_under_that(self) -> None:
        searched = search(
            [*HUNDRED, "victim"], lambda name, before, plan: name == "victim" and not ("t050" in before and plan.seed == 101)
        )
        assert (searched.cause().setters, searched.cause().detail.rpartition("; ")[2]) == (
            ("t050",),
            "only with the seeds of attempt 1",
        )


class TestOtherFailures:
    def test_where_it_fails_otherwise_without_the_others_a_seed_is_told_in_whole_cells(self) -> None:
        def fails(name: str, before: list[str], plan: CellPlan) -> bool | str:
            return name == "victim" and ((plan.seed == 101 and "f1") if before else "lonely")

        searched = search([*HUNDRED[:5], "victim", *HUNDRED[5:9]], fails)
        assert searched.cause().kind is CauseKind.DATA_SEED
        assert "(6 of 6)" in searched.cause().detail

    def test_a_failure_at_another_place_is_neither_side(self) -> None:
        def fails(name: str, before: list[str], plan: CellPlan) -> bool | str:
            mixed = plan.purpose is not Purpose.GATE
            return name == "victim" and "t3" in before and ("elsewhere" if mixed else "here")

        searched = search(["t0", "t1", "t2", "t3", "victim"], fails)
        assert searched.finding().cause is None or searched.cause().kind is CauseKind.CHANCE


class TestSilence:
    """Cells that told nothing bear nothing out."""

    def test_a_seed_of_which_no_cell_tells_is_open(self) -> None:
        suspect = a_suspect()
        trials = tuple(Trial(env=suspect.ill.env, order=Order(seed=place), workers=0, seed=1, hash_seed=1) for place in (1, 2))
        answer = replied(lambda views: explain_seed(suspect, trials, views), lambda *_: Likeness.NOTHING)
        assert isinstance(answer, Open)
        assert "which one could not be proven" in answer.why

    def test_a_polluter_that_is_not_seen_often_enough_is_open(self) -> None:
        def reply(trial: Trial, place: int) -> Likeness:
            spoilt = TestId(NodeId("t0")) in trial.order.exactly
            return Likeness.NOTHING if place > 4 else Likeness.TARGET if spoilt else Likeness.BASE

        bench = Bench.single(a_suspect())
        assert isinstance(replied(lambda views: explain_order(bench, views), reply), Open)

    def test_a_list_that_does_not_flip_a_second_time_is_not_taken_apart(self) -> None:
        tests = tuple(TestId(NodeId(str(number))) for number in range(9))
        lists, _ = flipping(tests, lambda _: False)
        asked: list[Trial] = []

        def looking(views: Views[Trial]) -> Inquiry:
            found = yield from culprits(tests, Lists(views, lists.trial, Likeness.TARGET))
            return Open(f"{len(found)} found")

        def reply(trial: Trial, place: int) -> Likeness:
            asked.append(trial)
            return Likeness.TARGET if trial == lists.trial(tests) and not place else Likeness.BASE

        assert replied(looking, reply) == Open("0 found")
        assert (len(asked), asked[-2:]) == (7, [lists.trial(tests)] * 2)


def a_suspect() -> Suspect:
    tests = tuple(TestId(NodeId(name)) for name in ("t0", "victim"))
    ill, well = (
        Ran(
            env=EnvironmentName("local"),
            attempt=place,
            order=Order(seed=0, exactly=order),
            planned=Order(seed=0),
            workers=0,
            seed=place,
            lists=(order,),
        )
        for place, order in ((1, tests), (2, tests[::-1]))
    )
    return Suspect(test=tests[1], well=well, ill=ill, better=Outcome.PASSED, worse=Outcome.FAILED)


def replied(inquiry: Callable[[Views[Trial]], Inquiry], reply: Callable[[Trial, int], Likeness]) -> Answer:
    """Answer every question of an inquiry, each trial by its place among its own; returns what it comes to."""
    views: dict[Trial, list[Seen]] = {}
    asking = inquiry(Views(views))
    while True:
        try:
            wanted = next(asking)
        except StopIteration as end:
            answer: Answer = end.value
            return answer
        for each, count in wanted.items():
            for _ in range(count):
                told = views.setdefault(each, [])
                told.append(Seen(reply(each, len(told))))


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

    def test_only_what_ran_beside_it_when_it_failed_is_said_to_have(self) -> None:
        def fails(name: str, _: list[str], plan: CellPlan) -> bool:
            return name == "victim" and plan.environment.workers > 1 and not plan.order.reversed

        searched = search(["t0", "t1", "t2", "t3", "t4", "victim", "t5"], fails, TWO, seconds=0.5)
        assert searched.cause().overlapping == ("t2",)

    def test_a_coin_that_one_process_has_shown_is_chance_when_the_time_is_over(self) -> None:
        told = iter([True, False, True, *[False] * 9])
        searched = search(["t0", "victim"], lambda name, _, __: name == "victim" and next(told), TWO, batches=1)
        assert searched.cause().kind is CauseKind.CHANCE

    def test_what_seldom_fails_beside_others_proves_no_race(self) -> None:
        counted = iter(range(10**6))

        def fails(name: str, _: list[str], plan: CellPlan) -> bool:
            return name == "victim" and plan.environment.workers > 1 and next(counted) % 10 == 0

        finding = search(["t0", "t1", "t2", "victim"], fails, TWO).finding()
        assert finding.cause is None
        assert finding.note == (
            "its cause is open: it goes wrong beside other workers 2 of 24 times and in one process 0 of 26 times, "
            "which proves neither a race nor chance"
        )

    @pytest.mark.parametrize(
        ("beside", "alone", "proven"), [((6, 6), (0, 7), True), ((6, 6), (0, 6), False), ((5, 6), (0, 7), False)]
    )
    def test_a_race_is_as_sure_as_a_coupling(self, beside: tuple[int, int], alone: tuple[int, int], proven: bool) -> None:  # noqa: FBT001
        assert (by_chance([Side(Times(*beside), Times(*alone))]) < 1 / 1000) is proven


class TestRaces:
    """A coin that got here has gone well in one process once; of those fewer than 1 of 1,000 may be called a race."""

    def test_what_fails_in_most_simultaneous_runs_is_proven_by_more_of_them(self) -> None:
        told = iter([True, False, *[True, False, True, True, True, False] * 9])

        def fails(name: str, _: list[str], plan: CellPlan) -> bool:
            return name == "victim" and plan.environment.workers > 1 and next(told)

        cause = search(["t0", "t1", "t2", "victim"], fails, ONE, TWO).cause()
        assert (cause.kind, cause.rate) == (CauseKind.RACE, (8, 12))
        assert cause.detail.startswith(
            "fails with 2 workers (8 of 12), passes where its worker's list runs in one process (14 of 14)"
        )

    @pytest.mark.parametrize("percent", range(1, 100))
    def test_a_coin_of_any_bias_is_hardly_ever_called_one(self, percent: int) -> None:
        assert called_a_race((percent / 100,), (percent / 100,)) < 1 / 1000

    @pytest.mark.parametrize("ill", range(5, 100, 30))
    @pytest.mark.parametrize("well", range(5, 100, 30))
    def test_nor_is_one_that_has_another_bias_in_each_order(self, ill: int, well: int) -> None:
        biases = (ill / 100, well / 100)
        assert called_a_race(biases, biases) < 1 / 1000

    @pytest.mark.parametrize(("percent", "least"), [(40, 0.6), (50, 0.8), (70, 0.95), (100, 1.0)])
    def test_one_that_shows_in_part_of_the_runs_is_mostly_called_one(self, percent: int, least: float) -> None:
        assert called_a_race((percent / 100,), (0.0,)) >= least

    def test_one_that_seldom_shows_in_one_order_and_mostly_in_the_other_is_called_one(self) -> None:
        assert called_a_race((0.25, 0.75), (0.0, 0.0)) >= 0.99

    def test_failing_in_one_process_too_is_none_however_much_oftener_it_fails_beside_others(self) -> None:
        assert not is_proven([Side(Times(36, 36), Times(1, 37))], LOOKS[-1])
        assert not may_be_proven([Side(Times(6, 6), Times(1, 7))])
        assert not may_be_proven([Side(Times(6, 6), Times(1, 7)), Side(Times(6, 6), Times(0, 7))])

    def test_cells_that_told_nothing_prove_nothing(self) -> None:
        assert is_proven([Side(Times(6, 6), Times(0, 7))], LOOKS[0])
        assert not is_proven([Side(Times(6, 6), Times(0, 6))], LOOKS[0])
        assert not is_proven([Side(Times(9, 9), Times(0, 13))], LOOKS[2])
        assert not is_proven([Side(Times(6, 6), Times(0, 6)), Side(Times(12, 12), Times(0, 13))], LOOKS[2])

    @pytest.mark.parametrize("start", range(4))
    def test_two_that_write_one_file_are_both_races_though_each_seldom_fails_in_the_order_in_which_it_failed_first(
        self, start: int
    ) -> None:
        """In every cell the second to write goes well and the other does not; each mostly loses in the other's order."""
        names = ["t0", "a", "t1", "b"]

        def fails(name: str, _: list[str], plan: CellPlan) -> bool:
            if plan.environment.workers <= 1 or name not in {"a", "b"}:
                return False
            seldom, mostly = ("b", "a") if plan.order.reversed else ("a", "b")
            chooser = random.Random(f"{start} {plan.attempt}")  # noqa: S311 - it decides what a made-up test does
            first = seldom if plan.purpose is Purpose.GATE or chooser.random() < 0.25 else mostly
            return name == first

        searched = search(names, fails, ONE, TWO)
        assert [searched.cause(each).kind for each in "ab"] == [CauseKind.RACE] * 2
        assert searched.cause("a").overlapping == searched.cause("b").overlapping == ()
        assert searched.cells <= 120

    @pytest.mark.parametrize("batches", range(1, 12))
    def test_what_has_failed_in_no_process_of_its_own_is_never_called_chance(self, batches: int) -> None:
        counted = iter(range(10**6))

        def fails(name: str, _: list[str], plan: CellPlan) -> bool:
            return name == "victim" and plan.environment.workers > 1 and next(counted) % 4 == 0

        cause = search(["t0", "t1", "t2", "victim"], fails, ONE, TWO, batches=batches).finding().cause
        assert cause is None or cause.kind is CauseKind.RACE

    def test_what_cannot_be_compared_with_one_process_is_neither(self) -> None:
        """As of a test that ends its process: what its worker ran is not known."""
        suspect = a_suspect()
        ill, well = (msgspec.structs.replace(each, workers=2, lists=()) for each in (suspect.ill, suspect.well))
        suspect = msgspec.structs.replace(suspect, ill=ill, well=well)
        corners = corners_of(suspect, [suspect])
        answer = replied(lambda views: explain_chance(Bench.single(suspect), corners, views), lambda *_: Likeness.TARGET)
        assert isinstance(answer, Open)
        assert "cannot be compared" in answer.why

    @pytest.mark.parametrize("batches", [4, 12])
    def test_a_coin_that_seldom_falls_is_chance_by_what_one_process_shows(self, batches: int) -> None:
        counted = iter(range(10**6))

        def fails(name: str, _: list[str], __: CellPlan) -> bool:
            return name == "victim" and next(counted) % 9 == 3

        cause = search(["t0", "t1", "t2", "victim"], fails, ONE, TWO, batches=batches).cause()
        assert cause.kind is CauseKind.CHANCE
        assert cause.rate is not None
        assert 0 < cause.rate[0] < cause.rate[1]

    @pytest.mark.parametrize("batches", [3, 4])
    def test_what_was_seen_of_both_sides_is_said_when_the_time_is_over(self, batches: int) -> None:
        def fails(name: str, _: list[str], plan: CellPlan) -> bool:
            return name == "victim" and plan.environment.workers > 1 and not plan.order.reversed

        searched = search([*HUNDRED, "victim"], fails, ONE, TWO, seconds=1.0, batches=batches)
        assert searched.finding().cause is None
        seen = {3: "", 4: "; so far it went wrong beside other workers 4 of 4 times and in one process 0 of 7 times"}
        assert searched.finding().note == f"{UNFINISHED}{seen[batches]}"

    def test_what_more_runs_may_still_prove_a_race_is_not_called_chance_when_the_time_is_over(self) -> None:
        told: Iterator[bool] = iter(())

        def fails(name: str, _: list[str], plan: CellPlan) -> bool:
            return name == "victim" and plan.environment.workers > 1 and next(told)

        kinds = set()
        for batches in range(1, 12):
            told = iter([True, False, *[True, True, False, True, True, False] * 9])
            finding = search(["t0", "t1", "t2", "victim"], fails, ONE, TWO, seconds=1.0, batches=batches).finding()
            kinds.add(finding.cause.kind if finding.cause is not None else None)
        assert kinds == {None, CauseKind.RACE}


def called_a_race(beside: Sequence[float], alone: Sequence[float]) -> float:
    """Say how often a test is called a race that fails so often on each side, over all that may happen up to each look.

    For one order, or for that of the cell in which it failed first and that of the one in which it passed.
    """
    going_on, called, before = {(0,) * len(beside): 1.0}, 0.0, [(0, 0)] * len(beside)
    for look in LOOKS:
        wanted = [look.ill, look.well][: len(beside)]
        reached = going_on
        for place, (now, then) in enumerate(zip(wanted, before, strict=True)):
            well = (1 - alone[place]) ** (now[1] - then[1])
            reached = fallen(reached, place, now[0] - then[0], beside[place], well)
        judged = {seen: sides(seen, wanted) for seen in reached}
        proven = {seen for seen, each in judged.items() if is_proven(each, look)}
        called += sum(reached[seen] for seen in proven)
        going_on = {seen: reached[seen] for seen, each in judged.items() if seen not in proven and may_be_proven(each)}
        before = wanted
    return called


def fallen(
    reached: dict[tuple[int, ...], float], place: int, runs: int, bias: float, well: float
) -> dict[tuple[int, ...], float]:
    """Count on in one order: how likely each number of failures is after so many more runs, and none of it in one process."""
    further: dict[tuple[int, ...], float] = {}
    for seen, chance in reached.items():
        for more in range(runs + 1):
            likely = comb(runs, more) * bias**more * (1 - bias) ** (runs - more) * well
            counts = (*seen[:place], seen[place] + more, *seen[place + 1 :])
            further[counts] = further.get(counts, 0.0) + chance * likely
    return further


def sides(seen: Sequence[int], wanted: Sequence[tuple[int, int]]) -> list[Side]:
    """Write what was seen as judgements take it: the cell in which it failed first at the end."""
    made = [Side(Times(count, runs), Times(0, lists)) for count, (runs, lists) in zip(seen, wanted, strict=True)]
    return made[::-1]


class TestWithinTheTime:
    """In a suite of a hundred tests of a second each, where the search has as long as two cells after each other took."""

    @pytest.mark.parametrize(
        ("fails", "kind"),
        [
            (lambda name, before, _: name == "victim" and "t070" in before, CauseKind.ORDER),
            (lambda name, before, _: name == "victim" and "t070" not in before, CauseKind.ORDER),
            (lambda name, _, plan: name == "victim" and plan.seed == 101, CauseKind.DATA_SEED),
            (lambda name, _, plan: name == "victim" and hashes(plan) == 101, CauseKind.HASH_SEED),
        ],
    )
    def test_a_cause_is_named(self, fails: Behaviour, kind: CauseKind) -> None:
        tests: list[int] = []

        def spent(_: Sequence[Cell], batch: Sequence[Cell]) -> bool:
            tests.append(sum(len(cell.tests) for cell in batch))
            return sum(tests) >= 400

        assert search([*HUNDRED, "victim"], fails, seconds=1.0, spent=spent).cause().kind is kind

    def test_whole_cells_that_only_measure_chance_come_after_the_search_for_a_polluter(self) -> None:
        coin = random.Random(1)  # noqa: S311 - it decides what a made-up test does

        def fails(name: str, before: list[str], plan: CellPlan) -> bool:
            if name == "coin":
                return plan.environment.workers > 1 and coin.random() < 0.5
            return name == "victim" and "t010" in before

        searched = search([*HUNDRED[:40], "coin", *HUNDRED[40:], "victim"], fails, ONE, TWO, seconds=1.0)
        assert searched.cause().polluters == ("t010",)
        last = max(place for place, batch in enumerate(searched.batches) if any(asked(plan, "victim") for plan in batch))
        measuring = [place for place, batch in enumerate(searched.batches) for plan in batch if not plan.order.exactly]
        assert min(measuring) > last


def asked(plan: CellPlan, nodeid: str) -> bool:
    return nodeid in {str(test.nodeid) for test in plan.order.exactly}


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
        told = iter([True, False, True, *[False] * 9])
        searched = search(["t0", "victim"], lambda name, _, __: name == "victim" and next(told), batches=1)
        assert (searched.cause().kind, searched.cause().rate) == (CauseKind.CHANCE, (1, 2))
        assert "a cell of local with nothing but this test, run again as it was" in searched.cause().detail

    def test_a_test_that_hangs_for_minutes_is_left_open(self) -> None:
        plans = gate_plans(ONE)
        cells = tuple(
            a_cell("local", plan.attempt, {"t": outcome}) for plan, outcome in zip(plans, ("passed", "timed_out"), strict=True)
        )
        found = explain_unstable(label(cells), Evidence(plans=plans, cells=cells), lambda _: pytest.fail("ran"), lambda _: False)
        assert (found.findings[0].cause, found.cells) == (None, ())
        assert "it hangs" in found.findings[0].note

    def test_what_differs_only_in_a_cell_that_died_is_left_open_and_that_is_said(self) -> None:
        plans = gate_plans(ONE)
        cells = (
            a_cell("local", 1, {"t": "passed"}),
            a_cell("local", 2, {"t": "crashed", "u": "not_run"}, status=CellStatus.CRASHED),
        )
        found = explain_unstable(label(cells), Evidence(plans=plans, cells=cells), lambda _: pytest.fail("ran"), lambda _: False)
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
        views.setdefault(made, [Seen(Likeness.TARGET if flips(numbers) else Likeness.BASE)] * 2)
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
