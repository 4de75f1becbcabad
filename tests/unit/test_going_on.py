"""Looking for causes where a report has some: it never says less than before, and no cell runs twice. Only cells are made up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import count
from pathlib import Path

import msgspec
import pytest

from paritygate import archive, recorded
from paritygate.causes.wording import UNFINISHED
from paritygate.classifier import labels
from paritygate.confirm.flow import confirm
from paritygate.gate.explaining import Budget
from paritygate.gate.going_on import GoingOn, told_by_rules
from paritygate.gate.remembering import Memory, Reading
from paritygate.outcomes.artifact import Artifact, Cause, Finding, Freeze, Material, Varied
from paritygate.outcomes.cells import Cell, Dates, NodeId, TestId, Touch
from paritygate.outcomes.plans import CellPlan, Order
from paritygate.outcomes.sweeps import Clause, Rule, Sweep, SweptValue
from paritygate.outcomes.trees import Difference
from paritygate.outcomes.words import (
    Axis,
    CauseKind,
    CellStatus,
    FileState,
    FreezeState,
    Label,
    Outcome,
    Purpose,
    Touching,
    VerdictName,
    Worktree,
)
from paritygate.process import Interruption
from paritygate.sweeps import conclusions
from tests.support.builders import a_record, an_artifact, an_environment, gate_plans, ids
from tests.support.worlds import cell_of

HERE = an_environment("here", timezone="Asia/Tokyo", locale="en_US.UTF-8", worktree=Worktree.DIRTY)
THERE = an_environment("there", workers=2)
VARIED = (Axis.TIMEZONE, Axis.LOCALE, Axis.WORKERS, Axis.WORKTREE)
NAMES = ("zone", "calm", "polluter", "both", "rates", "mid", "victim", "dice", "last")
FILE = "data/rates.json"
DIFFERENT = {FILE: Difference(FILE, FileState.IGNORED)}

ALL = {
    "zone": (CauseKind.AXIS, (Axis.TIMEZONE,)),
    "both": (CauseKind.AXIS, (Axis.TIMEZONE, Axis.LOCALE)),
    "rates": (CauseKind.AXIS, (Axis.WORKTREE,)),
    "victim": (CauseKind.ORDER, ()),
    "dice": (CauseKind.DATA_SEED, ()),
}


def fails(name: str, before: list[str], plan: CellPlan) -> bool:
    """Act tests that one axis spoils, or two together, or a lacking file, another test or a seed."""
    servers = {axis for axis in VARIED if plan.environment.value(axis) == THERE.value(axis)}
    match name:
        case "zone":
            return Axis.TIMEZONE in servers
        case "both":
            return {Axis.TIMEZONE, Axis.LOCALE} <= servers
        case "rates":
            return Axis.WORKTREE in servers
        case "victim":
            return "polluter" in before
        case "dice":
            return plan.seed == 101
        case _:
            return False


def world(plan: CellPlan) -> Cell:
    cell = cell_of(plan, NAMES, fails)
    if not plan.watched:
        return cell
    touched = (Touch(FILE, Touching.OPENED),)
    return msgspec.structs.replace(
        cell, tests=tuple(msgspec.structs.replace(run, touched=touched if run.nodeid == "rates" else ()) for run in cell.tests)
    )


class Place:
    """Runs made-up cells, one second each, and knows all that it ran; it is interrupted after so many batches."""

    def __init__(self, acted: Callable[[CellPlan], Cell] = world, interrupted_after: int = 99) -> None:
        self.batches: list[tuple[CellPlan, ...]] = []
        self._acted = acted
        self._left = interrupted_after

    def run(self, plans: Sequence[CellPlan]) -> tuple[Cell, ...]:
        if len(self.batches) == self._left:
            raise Interruption(2)
        self.batches.append(tuple(plans))
        return tuple(self._acted(plan) for plan in plans)

    def seconds(self) -> float:
        return float(self.cells)

    @property
    def cells(self) -> int:
        return sum(len(batch) for batch in self.batches)


@cache
def a_report(acted: Callable[[CellPlan], Cell] = world) -> Artifact:
    """Run a gate and its confirmation, and write down what both were made of; no causes have been looked for."""
    ran: dict[str, CellPlan] = {}

    def run(plans: Sequence[CellPlan]) -> tuple[Cell, ...]:
        ran.update({plan.name: plan for plan in plans})
        return tuple(acted(plan) for plan in plans)

    envs = (HERE, THERE)
    plans = gate_plans(*envs)
    gate = run(plans)
    confirmed = confirm(labels.label(gate), gate, plans, run)
    return an_artifact(
        cells=(*gate, *confirmed.cells),
        tests=confirmed.findings,
        axes=tuple(Varied(axis=axis, varied=True) for axis in VARIED),
        environments=tuple(a_record(each.name, {axis: each.value(axis) for axis in VARIED}) for each in envs),
        labels=labels.counts(confirmed.findings, {}),
        material=Material(plans=recorded.plans_for_the_record(ran.values()), images={}, different=DIFFERENT),
    )


def going_on(report: Artifact, place: Place, path: Path) -> GoingOn:
    """Go on from a report that was written and read again."""
    archive.write(report, path)
    read = archive.read(path)
    return GoingOn(read, recorded.material_of(read, path), place.run)


def explained(report: Artifact, place: Place, path: Path, seconds: float = 999.0) -> Artifact:
    start = place.seconds()
    return going_on(report, place, path).explained(Budget(seconds=seconds, monotonic=lambda: place.seconds() - start))


def causes(report: Artifact) -> dict[str, Cause]:
    return {each.nodeid: each.cause for each in report.tests if each.cause is not None}


def kinds(report: Artifact) -> dict[str, tuple[CauseKind, tuple[Axis, ...]]]:
    return {name: (cause.kind, cause.axes) for name, cause in causes(report).items()}


def finding(report: Artifact, nodeid: str) -> Finding:
    return next(each for each in report.tests if each.nodeid == nodeid)


def names(report: Artifact) -> list[str]:
    return [f"{cell.env}-{cell.attempt}" for cell in report.cells]


def test_all_causes_are_found_where_there_is_time(tmp_path: Path) -> None:
    found = explained(a_report(), Place(), tmp_path / "r.json")
    assert kinds(found) == ALL
    assert (causes(found)["rates"].files, causes(found)["victim"].polluters) == ((FILE,), ("polluter",))


def test_short_searches_one_after_another_lose_nothing_and_run_no_cell_twice(tmp_path: Path) -> None:
    at_once = Place()
    whole = explained(a_report(), at_once, tmp_path / "whole.json")
    report, place = a_report(), Place()
    for _ in count():
        before = report
        report = explained(before, place, tmp_path / "r.json", seconds=1.0)
        assert causes(before).items() <= causes(report).items()
        assert report.cells[: len(before.cells)] == before.cells
        assert report.labels == before.labels
        if report.cells == before.cells:
            break
    assert causes(report) == causes(whole)
    assert (len(names(report)), place.cells) == (len(set(names(report))), at_once.cells)
    assert {plan.name for plan in report.material.plans} == set(names(report)) if report.material else False
    assert [each.label for each in archive.from_cells(report)] == [each.label for each in report.tests]


def test_what_an_uninterrupted_search_found_costs_no_cell_again(tmp_path: Path) -> None:
    whole = explained(a_report(), Place(), tmp_path / "r.json")
    place = Place()
    again = explained(whole, place, tmp_path / "r.json")
    assert (place.batches, again.cells, again.tests) == ([], whole.cells, whole.tests)


def test_without_the_plans_of_its_cells_a_report_keeps_its_causes_their_files_and_their_remarks(tmp_path: Path) -> None:
    whole = explained(a_report(), Place(), tmp_path / "r.json")
    material = recorded.material_of(whole, tmp_path)
    gate = tuple(plan for plan in material.plans if plan.purpose is not Purpose.HYBRID)
    bare = msgspec.structs.replace(whole, material=msgspec.structs.replace(material, plans=gate))
    short = explained(bare, place := Place(), tmp_path / "r.json", seconds=1.0)
    assert (causes(short), place.batches != []) == (causes(whole), True)
    assert all(UNFINISHED not in each.note for each in short.tests)
    assert len(names(short)) == len(set(names(short)))


def test_what_is_open_after_a_search_that_ended_is_not_said_to_have_been_cut(tmp_path: Path) -> None:
    note = "its cause is open: a seed matters"
    report = a_report()
    tests = tuple(msgspec.structs.replace(each, note=note) if each.nodeid == "dice" else each for each in report.tests)
    short = explained(msgspec.structs.replace(report, tests=tests), Place(), tmp_path / "r.json", seconds=0.5)
    assert finding(short, "dice").note == note
    assert UNFINISHED in finding(short, "victim").note


@pytest.mark.parametrize("batches", range(7))
def test_an_interruption_keeps_what_was_found_and_the_next_search_goes_on(tmp_path: Path, batches: int) -> None:
    whole = explained(a_report(), Place(), tmp_path / "whole.json")
    place = Place(interrupted_after=batches)
    search = going_on(a_report(), place, tmp_path / "r.json")
    with pytest.raises(Interruption):
        search.explained(Budget(seconds=999.0, monotonic=lambda: 0.0))
    kept = search.so_far()
    assert len(kept.cells) == len(a_report().cells) + place.cells
    rest = Place()
    assert causes(explained(kept, rest, tmp_path / "r.json")) == causes(whole)
    assert place.cells + rest.cells == len(whole.cells) - len(a_report().cells)


@pytest.mark.parametrize("seconds", [1, 9, 20, 30, 45, 70])
def test_no_time_is_left_over_while_anything_is_cut(tmp_path: Path, seconds: int) -> None:
    place = Place()
    found = explained(a_report(), place, tmp_path / "r.json", seconds=float(seconds))
    cut = {each.nodeid for each in found.tests if UNFINISHED in each.note}
    assert cut == ALL.keys() - kinds(found).keys()
    assert (place.seconds() >= seconds) or not cut


def test_a_frozen_test_that_the_gate_has_not_looked_into_is_looked_into_apart_from_all_others(tmp_path: Path) -> None:
    def unstable_here(plan: CellPlan) -> Cell:
        """Let `dice` change in one environment alone, since nothing else may be let through."""
        cell = world(plan)
        if "there" not in plan.environment.name:
            return cell
        calm = (
            msgspec.structs.replace(run, outcome=Outcome.PASSED, failure=None) if run.nodeid == "dice" else run
            for run in cell.tests
        )
        return msgspec.structs.replace(cell, tests=tuple(calm))

    full = a_report(unstable_here)
    others = msgspec.structs.replace(full, tests=tuple(each for each in full.tests if each.nodeid != "dice"))
    gated = explained(others, Place(unstable_here), tmp_path / "r.json")
    frozen = Freeze(owner="@me", expires="2027-01-01", reason="dice", state=FreezeState.LET_THROUGH)
    tests = tuple(next((one for one in gated.tests if one.nodeid == each.nodeid), each) for each in full.tests)
    gated = msgspec.structs.replace(gated, tests=tests, freezes={NodeId("dice"): frozen})
    found = explained(gated, Place(unstable_here), tmp_path / "r.json")
    assert {each for cell in found.cells[len(gated.cells) :] for each in cell.about} == {*ids("dice")}
    assert kinds(found) == ALL


class TestMemory:
    ZONE, CALM = ids("zone", "calm")

    def memory(self, plan: CellPlan, **changes: object) -> tuple[Memory, list[CellPlan]]:
        """Make a memory with one cell of a report, and list what runs all the same."""
        ran: list[CellPlan] = []

        def run(plans: Sequence[CellPlan]) -> tuple[Cell, ...]:
            ran.extend(plans)
            return tuple(world(each) for each in plans)

        plans = gate_plans(HERE, THERE)
        gate = tuple(msgspec.structs.replace(world(each), dates=(Dates("2026-01-02", "2026-01-01"),)) for each in plans)
        cell = msgspec.structs.replace(world(plan), about=(self.ZONE,), dates=(Dates("2026-01-02", "2026-01-01"),))
        cell = msgspec.structs.replace(cell, **changes)
        memory = Memory(gate, plans, (cell,), run)
        memory.add(recorded.plans_for_the_record((plan,))[0], cell)
        return memory, ran

    @staticmethod
    def a_plan(**changes: object) -> CellPlan:
        mixed = an_environment("here+locale", timezone="Asia/Tokyo", worktree=Worktree.DIRTY)
        plan = msgspec.structs.replace(gate_plans(mixed)[0], purpose=Purpose.HYBRID, watched=(FILE,), attempt=4)
        return msgspec.structs.replace(plan, **changes)

    def test_a_cell_answers_the_same_plan_once_and_the_next_number_follows_its_own(self) -> None:
        plan = self.a_plan()
        memory, ran = self.memory(plan)
        reading = Reading(memory, (self.ZONE,))
        wanted = msgspec.structs.replace(plan, attempt=1)
        assert (reading.holds((wanted,)), reading.holds((wanted, wanted))) == (True, False)
        first, second = reading.run((wanted, wanted))
        assert ([first.attempt, second.attempt], [each.name for each in ran]) == ([4, 5], ["here+locale-5"])
        assert Reading(memory, (self.ZONE,)).holds((wanted, wanted))

    @pytest.mark.parametrize(
        "asked",
        [
            {"seed": 303},
            {"hash_seed": 101},
            {"reseeds": False},
            {"order": Order(seed=7, reversed=True)},
            {"order": Order(seed=7, only=ids("zone"))},
            {"order": Order(seed=7, exactly=ids("zone"))},
            {"environment": an_environment("here+locale", timezone="Asia/Tokyo")},
        ],
        ids=lambda asked: next(iter(asked)),
    )
    def test_it_answers_no_other_plan(self, asked: dict[str, object]) -> None:
        plan = self.a_plan()
        memory, _ = self.memory(plan)
        assert not Reading(memory, (self.ZONE,)).holds((msgspec.structs.replace(plan, **asked),))

    @pytest.mark.parametrize(
        ("asked", "held"),
        [
            (Order(seed=7, only=ids("zone", "calm")), True),
            (Order(seed=7, only=ids("zone", "calm", "both")), False),
            (Order(seed=7, only=ids("zone")), False),
            (Order(seed=7), False),
        ],
    )
    def test_one_that_was_cut_down_answers_for_the_tests_that_it_ran(self, asked: Order, held: bool) -> None:  # noqa: FBT001
        plan = self.a_plan(order=Order(seed=7, only=ids("zone", "calm")))
        memory, _ = self.memory(plan)
        assert Reading(memory, (self.ZONE,)).holds((msgspec.structs.replace(plan, order=asked),)) is held

    @pytest.mark.parametrize(("asked", "held"), [(("zone", "calm"), True), (("calm", "zone"), False), (("zone",), False)])
    def test_a_list_is_answered_by_itself_alone(self, asked: tuple[str, ...], held: bool) -> None:  # noqa: FBT001
        plan = self.a_plan(order=Order(seed=0, exactly=ids("zone", "calm")))
        memory, _ = self.memory(plan)
        wanted = msgspec.structs.replace(plan, order=Order(seed=0, exactly=ids(*asked)))
        assert Reading(memory, (self.ZONE,)).holds((wanted,)) is held

    @pytest.mark.parametrize(
        "changes",
        [
            {"status": CellStatus.OUT_OF_MEMORY},
            {"status": CellStatus.CRASHED},
            {"dates": (Dates("2026-01-01", "2026-01-01"),)},
            {"about": ids("zone", "dice")},
            {"about": ()},
        ],
        ids=["memory", "crashed", "dates", "others", "nobody"],
    )
    def test_one_that_told_nothing_or_is_about_others_answers_nothing(self, changes: dict[str, object]) -> None:
        plan = self.a_plan()
        memory, _ = self.memory(plan, **changes)
        assert not Reading(memory, (self.ZONE,)).holds((plan,))

    def test_one_that_checked_the_order_says_nothing_of_files(self) -> None:
        own = self.a_plan(environment=HERE, watched=None, order=Order(seed=7, exactly=ids("zone")))
        memory, _ = self.memory(own)
        assert not Reading(memory, (self.ZONE,)).holds((msgspec.structs.replace(own, watched=(FILE,)),))
        assert Reading(memory, (self.ZONE,)).holds((own,))


RULE = "fails west of UTC (2 of 2 zones), passes elsewhere (5)"


def with_a_rule(report: Artifact, nodeid: str) -> Artifact:
    clause = Clause(outcome=Outcome.FAILED, values=("west",))
    rule = Rule(nodeid=NodeId(nodeid), clauses=(clause,), elsewhere=Outcome.PASSED, text=RULE)
    sweeps = (Sweep(axis=Axis.TIMEZONE, values=(SweptValue(value="west", env=THERE.name),), rules=(rule,)),)
    return msgspec.structs.replace(report, sweeps=sweeps, tests=conclusions.with_causes(report.tests, sweeps))


def test_a_rule_of_a_sweep_stays_the_cause_and_what_has_none_is_looked_for(tmp_path: Path) -> None:
    swept = with_a_rule(a_report(), "zone")
    found = explained(swept, Place(), tmp_path / "report.json")
    assert kinds(found) == ALL
    assert causes(found)["zone"] == Cause(kind=CauseKind.AXIS, axes=(Axis.TIMEZONE,), detail=RULE)
    assert [each.nodeid for each in found.tests] == [each.nodeid for each in swept.tests]
    assert found.sweeps == swept.sweeps
    assert found.labels == explained(a_report(), Place(), tmp_path / "other.json").labels


def test_no_cell_runs_for_a_test_that_has_a_rule(tmp_path: Path) -> None:
    def only_zone(plan: CellPlan) -> Cell:
        return cell_of(plan, NAMES, lambda name, before, plan: name == "zone" and fails(name, before, plan))

    place = Place(only_zone)
    found = explained(with_a_rule(a_report(only_zone), "zone"), place, tmp_path / "report.json")
    assert place.cells == 0
    assert causes(found)["zone"].detail == RULE
    assert found.verdict.name is VerdictName.COUPLING


def test_a_rule_is_no_cause_of_what_turned_out_to_be_no_coupling() -> None:
    assert [*told_by_rules(with_a_rule(a_report(), "zone"))] == [TestId(NodeId("zone"), 0)]
    assert told_by_rules(with_a_rule(a_report(), "dice")) == {}


def test_the_report_of_this_test_has_what_it_is_about() -> None:
    report = a_report()
    assert {each.nodeid: each.label for each in report.tests if each.nodeid in ALL} == {
        "zone": Label.COUPLING,
        "both": Label.COUPLING,
        "rates": Label.COUPLING,
        "victim": Label.NONDETERMINISM,
        "dice": Label.NONDETERMINISM_EVERYWHERE,
    }
