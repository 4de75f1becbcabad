"""Couplings confirmed or overturned: the code that decides is real, only the cells are made up."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod
from typing import Any, NamedTuple

import pytest

from paritygate.classifier.evidence import attempts_needed, gate_of, judge, sides, tally
from paritygate.classifier.labels import label
from paritygate.confirm.flow import Confirmation, confirm
from paritygate.outcomes.cells import Cell, Dates
from paritygate.outcomes.plans import CellPlan, Environment
from paritygate.outcomes.words import CauseKind, CellStatus, Label, Purpose
from tests.support.builders import a_broken_file, a_cell, a_square, an_environment, gate_plans, ids

World = Callable[[CellPlan], Cell]
PAIR = (an_environment("a"), an_environment("b"))


def cell_of(plan: CellPlan, outcomes: Mapping[str, str], **changes: Any) -> Cell:
    return a_cell(plan.environment.name, plan.attempt, outcomes, seed=plan.seed, purpose=plan.purpose, **changes)


def gate_and_confirm(world: World, *environments: Environment) -> tuple[Confirmation, list[CellPlan]]:
    """Run a gate in a made-up world, confirm what it shows, and list the further plans that were run."""
    ran: list[CellPlan] = []

    def run(plans: Sequence[CellPlan], /) -> tuple[Cell, ...]:
        ran.extend(plans)
        return tuple(world(plan) for plan in plans)

    plans = gate_plans(*(environments or PAIR))
    cells = tuple(world(plan) for plan in plans)
    return confirm(label(cells), cells, plans, run), ran


def batches(world: World, *environments: Environment) -> list[list[str]]:
    """Name the cells of a confirmation, batch by batch."""
    ran: list[list[str]] = []

    def run(plans: Sequence[CellPlan], /) -> tuple[Cell, ...]:
        ran.append([plan.name for plan in plans])
        return tuple(world(plan) for plan in plans)

    plans = gate_plans(*(environments or PAIR))
    cells = tuple(world(plan) for plan in plans)
    confirm(label(cells), cells, plans, run)
    return ran


def is_gate(plan: CellPlan) -> bool:
    return plan.purpose is Purpose.GATE


def really_coupled(plan: CellPlan, others: Sequence[str] = ("u",)) -> Cell:
    return cell_of(plan, {"t": "passed" if plan.environment.name == "a" else "failed", **dict.fromkeys(others, "passed")})


class TestHowMuchIsEnough:
    @pytest.mark.parametrize("outcomes", [2, 3, 4, 9])
    def test_five_further_attempts_in_each_environment_are_enough_for_any_number_of_outcomes(self, outcomes: int) -> None:
        assert attempts_needed(outcomes) == 5

    def test_four_would_not_be(self) -> None:
        assert Fraction(1, 2) ** 8 > Fraction(1, 1000) > Fraction(1, 2) ** 10

    def test_a_smaller_risk_takes_more(self) -> None:
        assert attempts_needed(2, Fraction(1, 1_000_000)) == 10


class TestFurtherAttempts:
    def test_nothing_runs_where_nothing_looks_coupled(self) -> None:
        outcome, ran = gate_and_confirm(lambda plan: cell_of(plan, {"t": "passed"}))
        assert (ran, outcome.cells, [each.label for each in outcome.findings]) == ([], (), [Label.CONSISTENT_GREEN])

    def test_a_real_coupling_is_confirmed_by_five_attempts_on_each_side(self) -> None:
        outcome, ran = gate_and_confirm(really_coupled)
        t, u = outcome.findings
        assert (t.label, t.confirmed, u.label, u.confirmed) == (Label.COUPLING, 10, Label.CONSISTENT_GREEN, 0)
        assert [(plan.environment.name, plan.attempt) for plan in ran] == [(env, n) for n in range(3, 8) for env in "ab"]
        assert len(outcome.cells) == 10

    def test_further_attempts_take_the_orders_of_the_gate_by_turns_with_new_seeds(self) -> None:
        _, ran = gate_and_confirm(lambda plan: really_coupled(plan, others=()))
        of_a = [plan for plan in ran if plan.environment.name == "a"]
        assert [(plan.order.seed, plan.order.reversed) for plan in of_a] == [(7, n % 2 == 1) for n in range(5)]
        assert all(plan.order.only == plan.order.exactly == () for plan in ran)
        assert all(plan.purpose is Purpose.CONFIRM for plan in ran)
        seeds = {plan.attempt: plan.seed for plan in of_a}
        assert len({101, 202, *seeds.values()}) == 7
        assert {plan.attempt: plan.seed for plan in ran if plan.environment.name == "b"} == seeds

    def test_the_first_attempts_run_alone_and_all_the_others_at_once(self) -> None:
        assert batches(really_coupled) == [["a-3", "b-3"], [f"{env}-{n}" for n in range(4, 8) for env in "ab"]]

    def test_what_the_first_attempts_overturn_costs_no_others(self) -> None:
        def world(plan: CellPlan) -> Cell:
            once = plan.environment.name == "b" and plan.attempt == 3
            return cell_of(plan, {"t": "passed" if plan.environment.name == "a" or once else "failed"})

        assert batches(world) == [["a-3", "b-3"]]

    def test_one_contrary_result_overturns_it(self) -> None:
        def world(plan: CellPlan) -> Cell:
            once = plan.environment.name == "b" and plan.attempt == 4
            return cell_of(plan, {"t": "passed" if plan.environment.name == "a" or once else "failed"})

        outcome, _ = gate_and_confirm(world)
        (t,) = outcome.findings
        assert (t.label, t.confirmed) == (Label.NONDETERMINISM, 0)
        assert t.note == "looked coupled; further attempts gave `passed` in 1 of 5 in `b`"

    def test_contrary_results_in_every_environment_make_it_nondeterminism_everywhere(self) -> None:
        def world(plan: CellPlan) -> Cell:
            return cell_of(plan, {"t": "passed" if (plan.environment.name == "a") is is_gate(plan) else "failed"})

        outcome, _ = gate_and_confirm(world)
        assert outcome.findings[0].label is Label.NONDETERMINISM_EVERYWHERE

    def test_a_test_that_is_settled_does_not_keep_the_others_from_being_confirmed(self) -> None:
        def world(plan: CellPlan) -> Cell:
            here = plan.environment.name == "a"
            return cell_of(
                plan, {"real": "passed" if here else "failed", "flaky": "passed" if here or not is_gate(plan) else "failed"}
            )

        outcome, ran = gate_and_confirm(world)
        assert {each.nodeid: each.label for each in outcome.findings} == {"real": Label.COUPLING, "flaky": Label.NONDETERMINISM}
        assert len(ran) == 10

    def test_only_the_environments_that_are_needed_run(self) -> None:
        def world(plan: CellPlan) -> Cell:
            return cell_of(plan, {"t": "failed" if plan.environment.name == "c" else "passed"})

        outcome, ran = gate_and_confirm(world, *(an_environment(name) for name in "abc"))
        assert {plan.environment.name for plan in ran} == {"a", "c"}
        assert (outcome.findings[0].label, outcome.findings[0].confirmed) == (Label.COUPLING, 10)

    def test_three_different_outcomes_are_confirmed_on_three_sides(self) -> None:
        words = {"a": "passed", "b": "failed", "c": "skipped"}
        outcome, ran = gate_and_confirm(
            lambda plan: cell_of(plan, {"t": words[plan.environment.name]}), *map(an_environment, "abc")
        )
        assert (outcome.findings[0].label, outcome.findings[0].confirmed, len(ran)) == (Label.COUPLING, 15, 15)

    def test_missing_tests_and_broken_files_are_confirmed_like_any_other(self) -> None:
        def world(plan: CellPlan) -> Cell:
            if plan.environment.name == "a":
                return cell_of(plan, {"f.py::t": "passed", "g.py::u": "passed"})
            return cell_of(plan, {}, runs=[a_broken_file("f.py")])

        outcome, _ = gate_and_confirm(world)
        assert [(each.nodeid, each.label, each.confirmed) for each in outcome.findings] == [
            ("f.py::t", Label.COUPLING, 10),
            ("g.py::u", Label.COUPLING, 10),
        ]

    def test_ids_with_addresses_are_found_again(self) -> None:
        def world(plan: CellPlan) -> Cell:
            address = f"0x{plan.attempt:06x}{plan.environment.name}"
            return cell_of(plan, {f"t[{address}]": "passed" if plan.environment.name == "a" else "failed"})

        outcome, _ = gate_and_confirm(world)
        assert [(each.nodeid, each.label) for each in outcome.findings] == [("t[0x...]", Label.COUPLING)]


class TestCompany:
    """What runs in a further cell beside the tests that it is about."""

    def test_where_one_process_runs_all_nothing_runs_after_the_last_flagged_test(self) -> None:
        def world(plan: CellPlan) -> Cell:
            names = ("u", "t", "v", "w")[:: -1 if plan.attempt % 2 == 0 else 1]
            red = "passed" if plan.environment.name == "a" else "failed"
            return cell_of(plan, {name: red if name == "t" else "passed" for name in names})

        outcome, ran = gate_and_confirm(world)
        assert outcome.findings[0].label is Label.COUPLING
        orders = [plan.order for plan in ran if plan.environment.name == "a"]
        assert [order.exactly for order in orders] == [ids("u", "t") if n % 2 == 0 else ids("w", "v", "t") for n in range(5)]
        assert not any(order.reversed or order.only for order in orders)
        assert {cell.about for cell in outcome.cells} == {ids("t")}

    def test_what_a_shorter_cell_left_out_counts_neither_for_nor_against_a_test(self) -> None:
        def world(plan: CellPlan) -> Cell:
            here = plan.environment.name == "a"
            outcomes = {"real": "passed" if here else "failed", "flaky": "passed" if here or not is_gate(plan) else "failed"}
            asked = {test.nodeid for test in plan.order.exactly} or outcomes.keys()
            return cell_of(plan, {name: outcome for name, outcome in outcomes.items() if name in asked})

        outcome, ran = gate_and_confirm(world)
        assert [plan.order.exactly for plan in ran if plan.environment.name == "a"] == [(), *[ids("real")] * 4]
        notes = {each.nodeid: each.note for each in outcome.findings}
        assert notes == {"real": "", "flaky": "looked coupled; further attempts gave `passed` in 1 of 1 in `b`"}

    def test_the_cells_say_without_their_plans_what_they_are_evidence_of(self) -> None:
        def world(plan: CellPlan) -> Cell:
            here = plan.environment.name == "a"
            outcomes = {"first": "passed" if here else "failed", "flaky": "passed" if here or not is_gate(plan) else "failed"}
            asked = {test.nodeid for test in plan.order.exactly} or outcomes.keys()
            return cell_of(plan, {name: outcome for name, outcome in outcomes.items() if name in asked})

        gate_cells = tuple(world(plan) for plan in gate_plans(*PAIR))
        outcome, _ = gate_and_confirm(world)
        gate = gate_of(label(gate_cells), gate_cells, ())
        tallies = tally(gate, outcome.cells)
        again = [judge(gate.flagged[test], tallies[test], envs) for test, envs in sides(gate.flagged.values()).items()]
        assert again == list(outcome.findings)

    def test_beside_several_workers_everything_runs(self) -> None:
        _, ran = gate_and_confirm(really_coupled, an_environment("a", workers=2), an_environment("b", workers=2))
        assert all(plan.order.only == plan.order.exactly == () for plan in ran)

    def test_where_a_flagged_test_was_not_collected_everything_runs(self) -> None:
        def world(plan: CellPlan) -> Cell:
            return cell_of(
                plan, {"t": "passed", "u": "passed"} if plan.environment.name == "a" else {"u": "passed", "v": "passed"}
            )

        _, ran = gate_and_confirm(world)
        assert all(plan.order.only == plan.order.exactly == () for plan in ran)

    def test_where_the_gate_cell_died_everything_runs(self) -> None:
        def world(plan: CellPlan) -> Cell:
            died = is_gate(plan) and plan.environment.name == "a"
            return really_coupled(plan) if not died else cell_of(plan, {"t": "passed", "u": "passed"}, status=CellStatus.CRASHED)

        _, ran = gate_and_confirm(world)
        assert {plan.environment.name for plan in ran if plan.order.exactly} == {"b"}

    @pytest.mark.parametrize("kind", ["timed_out", "crashed"])
    def test_a_test_that_ends_its_process_and_is_not_flagged_is_left_out(self, kind: str) -> None:
        def world(plan: CellPlan) -> Cell:
            red = "passed" if plan.environment.name == "a" else "failed"
            return cell_of(plan, {"killer": kind, "t": red, "u": "passed", "v": red})

        outcome, ran = gate_and_confirm(world, an_environment("a"), an_environment("b", workers=2))
        assert [each.label for each in outcome.findings if each.nodeid in "tv"] == [Label.COUPLING, Label.COUPLING]
        confirming = [plan for plan in ran if plan.purpose is Purpose.CONFIRM]
        assert {(plan.environment.name, plan.order.only) for plan in confirming} == {
            ("a", ids("t", "u", "v")),
            ("b", ids("t", "u", "v")),
        }

    def test_a_test_that_ends_its_process_and_is_flagged_runs_apart_so_that_others_keep_their_order(self) -> None:
        def world(plan: CellPlan) -> Cell:
            """Let `needs` pass in `a` where `killer` has not put an end to what `setter` did."""
            here = plan.environment.name == "a"
            asked = {str(test.nodeid) for test in plan.order.exactly or plan.order.only} or {"setter", "killer", "needs"}
            lost = not is_gate(plan) and "killer" in asked
            outcomes = {
                "setter": "passed",
                "killer": "timed_out" if here else "passed",
                "needs": "passed" if here and not lost else "failed",
            }
            order = {"": tuple(test for test in ids(*outcomes) if test.nodeid in asked - {"killer"})}
            return cell_of(plan, {name: outcome for name, outcome in outcomes.items() if name in asked}, order=order)

        outcome, ran = gate_and_confirm(world)
        assert {each.nodeid: (each.label, each.confirmed) for each in outcome.findings} == {
            "killer": (Label.COUPLING, 10),
            "needs": (Label.COUPLING, 10),
            "setter": (Label.CONSISTENT_GREEN, 0),
        }
        of_a = {plan.attempt: plan.order.only for plan in ran if plan.environment.name == "a"}
        assert of_a == dict.fromkeys(range(3, 8), ids("setter", "needs")) | dict.fromkeys(
            range(8, 13), ids("setter", "needs", "killer")
        )
        seeds = {plan.attempt: plan.seed for plan in ran if plan.environment.name == "a"}
        assert [seeds[attempt + 5] for attempt in range(3, 8)] == [seeds[attempt] for attempt in range(3, 8)]

    def test_what_ends_its_process_in_one_environment_runs_in_the_other(self) -> None:
        def world(plan: CellPlan) -> Cell:
            here = plan.environment.name == "a"
            return cell_of(plan, {"t": "passed" if here else "failed", "flaky": "crashed" if plan.name == "a-1" else "passed"})

        _, ran = gate_and_confirm(world, an_environment("a", workers=2), an_environment("b", workers=2))
        assert {(plan.environment.name, plan.order.only) for plan in ran} == {("a", ids("t")), ("b", ())}


class TestDeadCells:
    @pytest.mark.parametrize("deaths", [1, 2])
    def test_a_dead_cell_is_repeated_up_to_twice(self, deaths: int) -> None:
        left = [deaths]

        def world(plan: CellPlan) -> Cell:
            if plan.attempt == 5 and plan.environment.name == "b" and left[0]:
                left[0] -= 1
                return cell_of(plan, {}, status=CellStatus.CRASHED)
            return really_coupled(plan)

        outcome, ran = gate_and_confirm(world)
        assert (outcome.findings[0].label, outcome.findings[0].confirmed, len(ran)) == (Label.COUPLING, 10, 10 + deaths)
        assert len(outcome.cells) == len(ran)

    def test_cells_that_keep_dying_leave_the_test_undecided_and_say_so(self) -> None:
        def world(plan: CellPlan) -> Cell:
            if plan.attempt == 4 and plan.environment.name == "b":
                return cell_of(plan, {}, status=CellStatus.OUT_OF_MEMORY)
            return really_coupled(plan)

        outcome, ran = gate_and_confirm(world)
        t = outcome.findings[0]
        assert (t.label, t.note) == (
            Label.UNDECIDED,
            "looks coupled; further attempts with a result: 5 of 5 in `a`, 4 of 5 in `b`",
        )
        assert len(ran) == 12
        assert [(plan.environment.name, plan.attempt) for plan in ran[10:]] == [("b", 4), ("b", 4)]

    def test_a_death_for_lack_of_memory_contradicts_nothing(self) -> None:
        def world(plan: CellPlan) -> Cell:
            if plan.attempt == 4 and plan.environment.name == "b":
                return cell_of(plan, {"t": "crashed"}, status=CellStatus.OUT_OF_MEMORY)
            return really_coupled(plan)

        outcome, _ = gate_and_confirm(world)
        t = outcome.findings[0]
        assert (t.label, "4 of 5 in `b`" in t.note) == (Label.UNDECIDED, True)

    def test_a_dead_cell_is_not_repeated_for_a_test_that_another_has_settled(self) -> None:
        def world(plan: CellPlan) -> Cell:
            if plan.attempt == 4 and plan.environment.name == "b":
                return cell_of(plan, {}, status=CellStatus.CRASHED)
            if plan.attempt == 5 and plan.environment.name == "a":
                return cell_of(plan, {"t": "failed"})
            return really_coupled(plan)

        outcome, ran = gate_and_confirm(world)
        assert (outcome.findings[0].label, len(ran)) == (Label.NONDETERMINISM, 10)

    def test_what_a_dying_cell_reported_before_counts(self) -> None:
        def world(plan: CellPlan) -> Cell:
            if is_gate(plan) or plan.environment.name == "a":
                return really_coupled(plan)
            return cell_of(plan, {"t": "failed"}, status=CellStatus.TIMED_OUT)

        outcome, ran = gate_and_confirm(world)
        assert (outcome.findings[0].label, len(ran)) == (Label.COUPLING, 10)

    def test_an_unusable_cell_is_no_contrary_result(self) -> None:
        def world(plan: CellPlan) -> Cell:
            return really_coupled(plan) if is_gate(plan) else cell_of(plan, {}, status=CellStatus.UNUSABLE)

        assert gate_and_confirm(world)[0].findings[0].label is Label.UNDECIDED

    def test_pytest_that_could_never_work_in_one_environment_is_confirmed(self) -> None:
        def world(plan: CellPlan) -> Cell:
            return (
                cell_of(plan, {"t": "passed"}) if plan.environment.name == "a" else cell_of(plan, {}, status=CellStatus.UNUSABLE)
            )

        assert gate_and_confirm(world)[0].findings[0].label is Label.COUPLING

    def test_cells_under_another_calendar_are_no_evidence(self) -> None:
        apart, together = Dates("2024-05-02", "2024-05-01"), Dates("2024-05-02", "2024-05-02")

        def world(plan: CellPlan) -> Cell:
            here = plan.environment.name == "a"
            dates = (apart if here and is_gate(plan) else together,)
            return cell_of(plan, {"t": "failed" if here and is_gate(plan) else "passed"}, dates=dates)

        assert gate_and_confirm(world)[0].findings[0].label is Label.UNDECIDED

    def test_another_day_with_dates_as_far_apart_is_evidence(self) -> None:
        def world(plan: CellPlan) -> Cell:
            dates = (Dates("2024-05-02", "2024-05-01"),) if is_gate(plan) else (Dates("2024-05-03", "2024-05-02"),)
            return cell_of(plan, {"t": "passed" if plan.environment.name == "a" else "failed"}, dates=dates)

        assert gate_and_confirm(world)[0].findings[0].label is Label.COUPLING


ONE, MANY = an_environment("local"), an_environment("server", workers=2)
FILES = ("setter", "victim", "setter2", "other")


def needs_a_setter(plan: CellPlan) -> Cell:
    """Act a suite whose victim passes only in a process that ran a setter, which stand on either side of it.

    With workers, the victim has one without a setter; that is order alone.
    """
    lists: dict[str, tuple[str, ...]] = {"": FILES}
    if plan.order.exactly:
        lists = {"": tuple(test.nodeid for test in plan.order.exactly)}
    elif plan.environment.workers:
        lists = {"gw0": ("setter", "setter2"), "gw1": ("other", "victim")}
    if plan.order.reversed:
        lists = {worker: tuple(reversed(names)) for worker, names in lists.items()}
    outcomes = {str(name): "passed" for names in lists.values() for name in names}
    for names in lists.values():
        if "victim" in names and not {"setter", "setter2"} & set(names[: names.index("victim")]):
            outcomes["victim"] = "failed"
    return cell_of(plan, outcomes, order={worker: ids(*names) for worker, names in lists.items()})


class TestOrder:
    def test_a_divergence_that_order_alone_makes_is_nondeterminism_though_it_shows_only_under_workers(self) -> None:
        outcome, ran = gate_and_confirm(needs_a_setter, ONE, MANY)
        (victim,) = [each for each in outcome.findings if each.nodeid == "victim"]
        assert (victim.label, victim.note) == (Label.NONDETERMINISM, "order alone makes the difference")
        assert victim.cause is not None
        assert victim.cause.kind is CauseKind.ORDER
        assert victim.cause.detail == (
            "the order of `server` attempt 1, worker gw1, run by one process in `local`, gave `failed`, twice of two times"
        )
        replays = [plan for plan in ran if plan.purpose is Purpose.HYBRID]
        assert [(plan.environment.name, plan.attempt, plan.seed) for plan in replays] == [("local", 8, 101), ("local", 9, 101)]
        assert all(plan.order.exactly == ids("other", "victim") and plan.environment.workers == 0 for plan in replays)
        assert len(ran) == 12

    def test_a_test_that_knows_that_it_is_in_the_only_worker_is_not_moved_by_order(self) -> None:
        def world(plan: CellPlan) -> Cell:
            lists: dict[str, tuple[str, ...]] = {
                worker: tuple(test.nodeid for test in share) for worker, share in plan.order.shares
            }
            lists = lists or ({"gw0": FILES[:2], "gw1": FILES[2:]} if plan.environment.workers > 1 else {"gw0": FILES})
            outcomes = {str(name): "passed" for names in lists.values() for name in names}
            outcomes |= {"victim": "failed"} if plan.environment.workers == 1 else {}
            return cell_of(plan, outcomes, order={worker: ids(*names) for worker, names in lists.items()})

        outcome, ran = gate_and_confirm(world, an_environment("local", workers=1), MANY)
        (victim,) = [each for each in outcome.findings if each.nodeid == "victim"]
        assert (victim.label, victim.confirmed) == (Label.COUPLING, 10)
        (replay,) = [plan for plan in ran if plan.purpose is Purpose.HYBRID]
        assert (replay.environment.workers, replay.order.shares) == (1, (("gw0", ids(*FILES[:2])),))

    def test_a_collision_of_processes_stays_a_coupling(self) -> None:
        def world(plan: CellPlan) -> Cell:
            lists = (
                {"gw0": ids("x"), "gw1": ids("y", "z")}
                if plan.environment.workers
                else {"": plan.order.exactly or ids("x", "y", "z")}
            )
            red = "failed" if plan.environment.workers else "passed"
            outcomes = {str(test.nodeid): red if test.nodeid in "xy" else "passed" for some in lists.values() for test in some}
            return cell_of(plan, outcomes, order=lists)

        outcome, ran = gate_and_confirm(world, ONE, MANY)
        assert {each.nodeid: (each.label, each.confirmed) for each in outcome.findings} == {
            "x": (Label.COUPLING, 10),
            "y": (Label.COUPLING, 10),
            "z": (Label.CONSISTENT_GREEN, 0),
        }
        assert [plan.order.exactly for plan in ran if plan.purpose is Purpose.HYBRID] == [ids("x"), ids("y")]
        not_order = "the order is not what makes the difference: run by one process in `local`, in the order of"
        assert {each.nodeid: each.note for each in outcome.findings} == {
            "x": f"{not_order} worker gw0 of `server`, it is `passed`",
            "y": f"{not_order} worker gw1 of `server`, it is `passed`",
            "z": "",
        }

    def test_tests_of_one_worker_share_a_replay(self) -> None:
        def world(plan: CellPlan) -> Cell:
            lists = (
                {"gw0": ids("x", "y"), "gw1": ids("z")}
                if plan.environment.workers
                else {"": plan.order.exactly or ids("x", "y", "z")}
            )
            red = "failed" if plan.environment.workers else "passed"
            return cell_of(plan, {str(test.nodeid): red for some in lists.values() for test in some}, order=lists)

        _, ran = gate_and_confirm(world, ONE, MANY)
        assert [plan.order.exactly for plan in ran if plan.purpose is Purpose.HYBRID] == [ids("x", "y"), ids("z")]

    def test_an_order_that_gives_both_outcomes_is_nondeterminism_without_a_cause(self) -> None:
        seen: list[int] = []

        def world(plan: CellPlan) -> Cell:
            if plan.purpose is Purpose.HYBRID:
                seen.append(plan.attempt)
                return cell_of(plan, {"other": "passed", "victim": "failed" if len(seen) == 1 else "passed"})
            return needs_a_setter(plan)

        outcome, _ = gate_and_confirm(world, ONE, MANY)
        (victim,) = [each for each in outcome.findings if each.nodeid == "victim"]
        assert (victim.label, victim.cause) == (Label.NONDETERMINISM, None)
        assert victim.note.endswith("gave `failed`, and `passed` the second time")

    def test_replays_that_die_leave_it_undecided(self) -> None:
        def world(plan: CellPlan) -> Cell:
            return cell_of(plan, {}, status=CellStatus.CRASHED) if plan.purpose is Purpose.HYBRID else needs_a_setter(plan)

        outcome, ran = gate_and_confirm(world, ONE, MANY)
        (victim,) = [each for each in outcome.findings if each.nodeid == "victim"]
        assert victim.label is Label.UNDECIDED
        assert sum(plan.purpose is Purpose.HYBRID for plan in ran) == 3

    def test_what_one_environment_does_not_collect_needs_no_replay(self) -> None:
        def world(plan: CellPlan) -> Cell:
            return cell_of(plan, {"t": "passed"} if plan.environment.workers else {"u": "passed"})

        outcome, ran = gate_and_confirm(world, ONE, MANY)
        assert [each.label for each in outcome.findings] == [Label.COUPLING, Label.COUPLING]
        assert len(ran) == 10

    def test_a_replay_leaves_out_what_the_other_tree_does_not_have(self) -> None:
        def world(plan: CellPlan) -> Cell:
            lists = (
                {"gw0": ids("new", "x"), "gw1": ids("z")}
                if plan.environment.workers
                else {"": plan.order.exactly or ids("x", "z")}
            )
            red = "failed" if plan.environment.workers else "passed"
            return cell_of(plan, {str(test.nodeid): red for some in lists.values() for test in some}, order=lists)

        _, ran = gate_and_confirm(world, ONE, MANY)
        assert [plan.order.exactly for plan in ran if plan.purpose is Purpose.HYBRID] == [ids("x"), ids("z")]

    def test_equal_numbers_of_workers_need_no_replay(self) -> None:
        _, ran = gate_and_confirm(really_coupled)
        assert not any(plan.purpose is Purpose.HYBRID for plan in ran)


class TestChance:
    @pytest.mark.parametrize("percent", range(1, 100))
    def test_a_flaky_test_that_was_flagged_is_called_coupled_in_fewer_than_one_of_a_thousand_cases(self, percent: int) -> None:
        """Sum up exactly: every series of further results, as the code stops on its own, weighed by its chance."""
        p = Fraction(percent, 100)
        series = further_series(p)
        called_coupled = sum((course.chance for course in series if course.coupled), Fraction(0))
        assert sum((course.chance for course in series), Fraction(0)) == 1
        assert called_coupled == (p * (1 - p)) ** 5 < Fraction(1, 1000)

    @pytest.mark.parametrize("percent", range(1, 100))
    def test_of_all_gates_of_a_flaky_test_so_few_flag_it_that_a_false_coupling_is_rarer_still(self, percent: int) -> None:
        """Weigh all 16 results that a gate of two attempts in two environments can have, as the code labels them."""
        p = Fraction(percent, 100)
        flagged = sum((gate_chance(p, square) for square in product([True, False], repeat=4) if is_flagged(square)), Fraction(0))
        coupled = sum((course.chance for course in further_series(p) if course.coupled), Fraction(0))
        assert flagged == 2 * p**2 * (1 - p) ** 2 <= Fraction(1, 8)
        assert flagged * coupled <= Fraction(1, 8192)

    @pytest.mark.parametrize(("percent", "cells"), [(1, "2.0792"), (10, "2.72"), (30, "3.68"), (50, "4"), (90, "2.72")])
    def test_a_flaky_test_that_was_flagged_costs_four_further_cells_on_average_at_most(self, percent: int, cells: str) -> None:
        average = sum((course.chance * course.cells for course in further_series(Fraction(percent, 100))), Fraction(0))
        assert average == Fraction(cells) <= 4

    def test_gates_of_coin_flips_come_out_as_nondeterminism_or_by_luck_as_stable_but_not_coupled(self) -> None:
        coin = random.Random(20240501)  # noqa: S311 - a coin
        found = [
            gate_and_confirm(lambda plan: cell_of(plan, {"t": coin.choice(["passed", "failed"])}))[0].findings[0].label
            for _ in range(400)
        ]
        assert Label.COUPLING not in found
        assert {Label.NONDETERMINISM, Label.NONDETERMINISM_EVERYWHERE} < set(found)


class Course(NamedTuple):
    """A course that a confirmation can take: its chance, whether it ends in a coupling, and how many cells it runs."""

    chance: Fraction
    coupled: bool
    cells: int


def further_series(p: Fraction) -> list[Course]:
    """List every course that a confirmation of a flagged flaky test can take.

    A course is one result a cell, as far as cells are run: two in the first batch and, if both agree, eight in the second. In
    `a` a result agrees with the gate at the chance `p` of passing, in `b` at the chance of failing.
    """
    courses = []
    for first in product([True, False], repeat=2):
        for second in product([True, False], repeat=8) if all(first) else [()]:
            label_found, cells = run_course(first + second)
            assert cells == len(first + second)
            chances = [p if agrees is (place % 2 == 0) else 1 - p for place, agrees in enumerate(first + second)]
            courses.append(Course(prod(chances, start=Fraction(1)), label_found is Label.COUPLING, cells))
    return courses


def gate_chance(p: Fraction, square: tuple[bool, ...]) -> Fraction:
    """Say how likely a gate's four results are, each of which is whether the test passed."""
    return prod((p if passed else 1 - p for passed in square), start=Fraction(1))


@cache
def is_flagged(square: tuple[bool, ...]) -> bool:
    words = ["passed" if passed else "failed" for passed in square]
    (finding,) = label(a_square({"a": " ".join(words[:2]), "b": " ".join(words[2:])}))
    return finding.label is Label.COUPLING


@cache
def run_course(agreeing: tuple[bool, ...]) -> tuple[Label, int]:
    """Run the code under test over one course, results by turns those of `a` and `b`."""

    def world(plan: CellPlan) -> Cell:
        here = plan.environment.name == "a"
        agrees = is_gate(plan) or agreeing[2 * (plan.attempt - 3) + (not here)]
        return cell_of(plan, {"t": "passed" if here is agrees else "failed"})

    outcome, ran = gate_and_confirm(world)
    return outcome.findings[0].label, len(ran)


NOW, THEN = an_environment("now"), an_environment("then", clock="2028-02-29T12:00:00")


def test_a_coupling_under_a_moved_clock_is_run_once_more_with_files_that_have_its_times() -> None:
    def world(plan: CellPlan) -> Cell:
        return cell_of(plan, {"t": "failed" if plan.environment.clock else "passed"})

    confirmation, ran = gate_and_confirm(world, NOW, THEN)
    assert [each.label for each in confirmation.findings] == [Label.COUPLING]
    assert [plan.environment.name for plan in ran if plan.clock_files] == ["then"]


def test_files_have_the_times_of_those_clocks_alone_under_which_a_test_does_something_else() -> None:
    others = [an_environment(f"later-{day}", clock=f"2028-02-{day}T12:00:00") for day in (27, 28)]

    def world(plan: CellPlan) -> Cell:
        return cell_of(plan, {"t": "failed" if plan.environment.name == "then" else "passed"})

    confirmation, ran = gate_and_confirm(world, NOW, *others, THEN)
    assert [each.label for each in confirmation.findings] == [Label.COUPLING]
    assert [plan.environment.name for plan in ran if plan.clock_files] == ["then"]
    confirmation, ran = gate_and_confirm(world, *others, THEN)
    assert [plan.environment.name for plan in ran if plan.clock_files] == ["later-27", "later-28", "then"]


def test_a_coupling_of_the_times_of_files_alone_is_none_that_a_date_makes() -> None:
    def world(plan: CellPlan) -> Cell:
        return cell_of(plan, {"t": "failed" if plan.environment.clock and not plan.clock_files else "passed", "u": "passed"})

    confirmation, ran = gate_and_confirm(world, NOW, THEN)
    assert [each.label for each in confirmation.findings] == [Label.UNDECIDED, Label.CONSISTENT_GREEN]
    assert confirmation.findings[0].note == (
        "where files have the times of the moved clock, too, it is `passed` in `then`: it compares the times of files with the "
        "clock, and those stay true while the clock is moved"
    )
    assert len({plan.name for plan in ran}) == len(ran)


def test_a_coupling_stays_undecided_where_no_cell_says_whether_files_have_to_do_with_it() -> None:
    def world(plan: CellPlan) -> Cell:
        if plan.clock_files:
            return cell_of(plan, {}, status=CellStatus.CRASHED)
        return cell_of(plan, {"t": "failed" if plan.environment.clock else "passed"})

    confirmation, ran = gate_and_confirm(world, NOW, THEN)
    assert [each.label for each in confirmation.findings] == [Label.UNDECIDED]
    assert sum(plan.clock_files for plan in ran) == 3
