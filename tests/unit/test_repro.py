"""A test of a report run once more: which one, in which cell, after what, and whether it does what it did."""

from __future__ import annotations

import runpy
from pathlib import Path

import msgspec
import pytest

import paritygate
from paritygate import archive
from paritygate.errors import UsageError
from paritygate.outcomes.artifact import Artifact, Cause, CellImage, Material
from paritygate.outcomes.cells import Cell, Dates, Distribution, EnvironmentName, Failure, NodeId, TestId
from paritygate.outcomes.plans import CellPlan, Order, Selection
from paritygate.outcomes.words import CauseKind, CellStatus, ExitCode, Label, Outcome, Purpose
from paritygate.repro import command
from paritygate.repro.choosing import Chosen, choose
from paritygate.repro.flow import prepare, shell
from paritygate.repro.judging import judge
from paritygate.repro.planning import Planned, plan
from paritygate.repro.request import Wanted, World
from tests.support.builders import a_broken_file, a_cell, a_finding, a_probe, a_run, an_artifact, an_environment, gate_plans, ids
from tests.support.plans import a_plan

LAUNCHER = Path(paritygate.__file__).parent / "guest" / "launcher.py"
REPORT = Path("parity_report.json")
T, U, V = "tests/test_a.py::test_t", "tests/test_a.py::test_u[ä b-\x1b]", "tests/test_b.py::test_v"
MATERIAL = Material(
    plans=gate_plans(an_environment("a"), an_environment("b", workers=2)),
    images={EnvironmentName(name): CellImage(name=name, identity=name) for name in "ab"},
)


def a_failure(fingerprint: str = "f") -> Failure:
    return Failure(
        phase="call",
        exception="AssertionError",
        message="assert 1 == 2\n  more",
        fingerprint=fingerprint,
        file="tests/test_a.py",
        line=3,
        text=">   assert 1 == 2\n\x1b[31mred",
    )


def a_report(**changes: object) -> Artifact:
    """Make a report in which `T` passes in a and fails in b, on one of two workers."""
    cells = [a_cell("a", attempt, {V: "passed", T: "passed", U: "passed"}) for attempt in (1, 2)]
    for attempt in (1, 2):
        runs = [a_run(T, "failed", failure=a_failure()), a_run(U), a_run(V)]
        order = {"gw0": ids(U, T), "gw1": ids(V)}
        cells.append(a_cell("b", attempt, runs=runs, order=order, workers=2))
    tests = (
        a_finding(T, "coupling", {"a": "passed passed", "b": "failed failed"}),
        a_finding(U, "consistent-green"),
        a_finding(V, "consistent-green"),
    )
    return msgspec.structs.replace(an_artifact(cells=tuple(cells), tests=tests, material=MATERIAL), **changes)


def wanted(nodeid: str = T, **changes: object) -> Wanted:
    return msgspec.structs.replace(Wanted(report=REPORT, project=Path(), nodeid=nodeid), **changes)


def chosen(nodeid: str = T, cell: str = "", report: Artifact | None = None) -> Chosen:
    return choose(report or a_report(), wanted(nodeid, cell=cell))


class TestChoosing:
    def test_the_first_red_cell_shows_the_problem_best(self) -> None:
        assert (chosen().cell.env, chosen().cell.attempt, chosen().outcome) == ("b", 1, Outcome.FAILED)

    def test_a_cell_can_be_named_and_an_id_may_have_any_letters(self) -> None:
        assert (chosen(U, "a-2").cell.attempt, chosen(U, "a-2").test.nodeid) == (2, U)

    def test_where_nothing_is_red_what_is_no_plain_pass_comes_first(self) -> None:
        cells = (a_cell("a", 1, {T: "passed"}), a_cell("b", 1, {T: "skipped"}))
        assert chosen(report=a_report(cells=cells)).cell.env == "b"

    def test_a_failure_that_only_a_further_attempt_saw_comes_after_the_gate(self) -> None:
        later = a_cell("a", 3, {T: "failed"}, purpose=Purpose.CONFIRM)
        report = a_report(cells=(later, *a_report().cells))
        assert (chosen(report=report).cell.purpose, chosen(cell="a-3", report=report).cell) == (Purpose.GATE, later)

    def test_a_cell_that_was_run_for_others_says_nothing_of_a_test(self) -> None:
        other = a_cell("a", 3, {V: "passed"}, purpose=Purpose.CONFIRM, about=ids(V))
        with pytest.raises(UsageError, match="the cell `a-3` says nothing of") as caught:
            chosen(cell="a-3", report=a_report(cells=(*a_report().cells, other)))
        assert caught.value.hint == "these do: `a-1`, `a-2`, `b-1`, `b-2`"

    def test_of_a_cell_that_died_and_was_repeated_the_last_is_meant(self) -> None:
        report = a_report()
        again = a_cell("a", 1, {T: "skipped"})
        repeated = msgspec.structs.replace(report, cells=(*report.cells, again))
        assert chosen(cell="a-1", report=repeated).outcome is Outcome.SKIPPED

    def test_an_unknown_test_is_answered_with_near_misses_divergent_ones_first(self) -> None:
        with pytest.raises(UsageError, match=r"knows no test `tests/test_a\.py`") as caught:
            chosen("tests/test_a.py")
        assert caught.value.hint == f"did you mean `{T}` or `{U}`?"
        with pytest.raises(UsageError) as caught:
            chosen("somewhere/test_c.py::test_v")
        assert V in caught.value.hint

    def test_a_parameter_may_be_asked_for_by_the_letters_that_pytest_escapes(self) -> None:
        escaped = r"tests/test_a.py::test_t[gr\xfc\xdfe::1]"
        cells = tuple(a_cell(env, 1, {escaped: word}) for env, word in (("a", "passed"), ("b", "failed")))
        report = a_report(cells=cells, tests=(a_finding(escaped, "coupling", {"a": "passed", "b": "failed"}),))
        assert chosen("tests/test_a.py::test_t[grüße::1]", report=report).test.nodeid == escaped

    def test_an_unknown_cell_is_answered_with_those_that_there_are(self) -> None:
        with pytest.raises(UsageError, match="has no cell `c-1`") as caught:
            chosen(cell="c-1")
        assert caught.value.hint == "there are `a-1`, `a-2`, `b-1`, `b-2`"

    def test_an_excluded_test_says_why(self) -> None:
        with pytest.raises(UsageError, match="is excluded: needs a GPU"):
            chosen("t::gpu", report=a_report(excluded={NodeId("t::gpu"): "needs a GPU"}))

    def test_of_several_tests_of_one_id_the_one_that_diverges_is_meant_or_the_one_that_is_numbered(self) -> None:
        twice = tuple(
            a_cell(env, 1, runs=[a_run(T), a_run(T, "failed" if env == "b" else "passed", occurrence=1)]) for env in "ab"
        )
        tests = (a_finding(T), a_finding(T, "coupling", {"a": "passed", "b": "failed"}, occurrence=1))
        report = a_report(cells=twice, tests=tests)
        assert chosen(report=report).test.occurrence == 1
        assert choose(report, wanted(number=1)).test.occurrence == 0
        with pytest.raises(UsageError, match="has no number 3") as caught:
            choose(report, wanted(number=3))
        assert caught.value.hint == "there are 2 tests of that id"

    def test_an_address_in_an_id_may_be_that_of_any_run(self) -> None:
        nodeid = "t::test[<object at 0x...>]"
        cells = tuple(a_cell(env, 1, {nodeid: word}) for env, word in (("a", "passed"), ("b", "failed")))
        report = a_report(cells=cells, tests=(a_finding(nodeid, "coupling", {"a": "passed", "b": "failed"}),))
        assert chosen("t::test[<object at 0x7f8e5c0d2e50>]", report=report).test.nodeid == nodeid

    def test_a_file_that_could_not_be_imported_speaks_for_its_tests(self) -> None:
        broken = a_cell("b", 1, runs=[a_broken_file("tests/test_a.py")])
        found = chosen(report=a_report(cells=(a_cell("a", 1, {T: "passed"}), broken)))
        assert (found.outcome, found.run, found.cell) == (Outcome.ERROR, broken.tests[0], broken)

    def test_a_test_that_a_cell_does_not_have_is_not_collected_there(self) -> None:
        found = chosen(report=a_report(cells=(a_cell("a", 1, {T: "passed"}), a_cell("b", 1, {V: "passed"}))))
        assert (found.outcome, found.cell.env) == (Outcome.NOT_COLLECTED, "b")


class TestPlanning:
    def test_in_one_process_what_ran_before_comes_first_and_nothing_after_it_runs(self) -> None:
        planned = plan(MATERIAL, chosen(cell="a-2"), alone=False)
        assert planned.plan.order == Order(seed=7, exactly=ids(V, T))
        assert (planned.before, planned.how) == (1, "after what ran before it")

    def test_under_workers_each_runs_what_it_ran_and_its_own_stops_at_the_test(self) -> None:
        report = a_report()
        planned = plan(MATERIAL, chosen(U, "b-1", report), alone=False)
        assert planned.plan.order == Order(seed=7, shares=(("gw0", ids(U)), ("gw1", ids(V))))
        assert (planned.before, planned.plan.environment.workers) == (1, 2)

    def test_alone_it_stays_on_its_worker(self) -> None:
        planned = plan(MATERIAL, chosen(), alone=True)
        assert planned.plan.order == Order(seed=7, exactly=ids(T), shares=(("gw0", ids(T)),))
        assert (planned.before, planned.how) == (0, "by itself")

    def test_a_test_that_ended_its_process_runs_in_its_place_among_the_others_in_the_order_of_the_gate(self) -> None:
        runs = [a_run(T, "timed_out"), a_run(U), a_run(V)]
        cell = a_cell("b", 2, runs=runs, order={"gw0": ids(U), "gw1": ids(V)}, workers=2)
        planned = plan(MATERIAL, chosen(report=a_report(cells=(cell,))), alone=False)
        assert planned.plan.order == Order(seed=7, reversed=True, only=ids(U, V, T))

    def test_a_replaced_worker_leaves_no_list_that_could_be_run_again(self) -> None:
        order = {"gw0": ids(U), "gw1": ids(V), "gw2": ids(T)}
        cell = a_cell("b", 1, runs=[a_run(T, "failed"), a_run(U), a_run(V)], order=order, workers=2)
        assert plan(MATERIAL, chosen(report=a_report(cells=(cell,))), alone=False).plan.order.only == ids(U, V, T)

    def test_a_file_that_could_not_be_imported_is_collected_with_all_others_and_nothing_runs(self) -> None:
        broken = a_cell("b", 1, runs=[a_broken_file("tests/test_a.py")])
        planned = plan(MATERIAL, chosen(report=a_report(cells=(broken,))), alone=False)
        assert (planned.plan.order.exactly, planned.how) == (ids(T), "by itself")


class TestJudging:
    def judged(self, now: Cell, before: Chosen | None = None) -> tuple[str, ExitCode]:
        answer = judge(before or chosen(), Planned(a_plan(), 2, "after what ran before it"), now)
        return answer.text, answer.exit_code

    def test_the_same_failure_is_a_reproduction_and_is_shown(self) -> None:
        text, code = self.judged(a_cell("b", 1, runs=[a_run(T, "failed", failure=a_failure(), output="printed")]))
        assert code == 0
        assert text.splitlines() == [
            f"{T} in b-1 (gate), after what ran before it",
            "  2 other tests, seed 101",
            "  tests/test_a.py:3 AssertionError: assert 1 == 2",
            "  | >   assert 1 == 2",
            "  | \\x1b[31mred",
            "  | printed",
            "reproduced: failed, as in the report",
        ]

    def test_a_failure_of_another_kind_is_none(self) -> None:
        text, code = self.judged(a_cell("b", 1, runs=[a_run(T, "failed", failure=a_failure("other"))]))
        assert (code, text.splitlines()[-1]) == (
            1,
            "not reproduced: failed in another way; in the report it is tests/test_a.py:3 AssertionError: assert 1 == 2",
        )

    def test_another_outcome_is_none(self) -> None:
        text, code = self.judged(a_cell("b", 1, {T: "passed"}))
        assert (code, text.splitlines()[-1]) == (1, "not reproduced: passed; in the report it is failed")

    @pytest.mark.parametrize(
        ("cause", "said"),
        [
            (Cause(kind=CauseKind.RACE, rate=(16, 24)), "a race that showed 16 of 24 times"),
            (Cause(kind=CauseKind.CHANCE, rate=(3, 6)), "chance that showed 3 of 6 times"),
            (Cause(kind=CauseKind.ORDER), ""),
            (None, ""),
        ],
    )
    def test_what_shows_only_sometimes_is_said_to_be_tried_again(self, cause: Cause | None, said: str) -> None:
        passed, failed = a_cell("b", 1, {T: "passed"}), a_cell("b", 1, runs=[a_run(T, "failed", failure=a_failure())])
        more = f"; its cause is {said}: one try proves little, try again" if said else ""
        answer = judge(chosen(), Planned(a_plan(), 2, ""), passed, cause)
        assert (answer.exit_code, answer.said) == (1, f"not reproduced: passed; in the report it is failed{more}")
        assert answer.text.endswith(answer.said)
        assert judge(chosen(), Planned(a_plan(), 2, ""), failed, cause).said == "reproduced: failed, as in the report"

    def test_an_error_is_no_reproduction_of_a_failure(self) -> None:
        assert self.judged(a_cell("b", 1, runs=[a_run(T, "error", failure=a_failure())]))[1] == 1

    def test_where_a_process_was_ended_says_nothing_of_why(self) -> None:
        then, now = (a_cell("b", 1, runs=[a_run(T, "timed_out", failure=a_failure(where))]) for where in ("here", "there"))
        assert self.judged(now, Chosen(TestId(NodeId(T)), then, Outcome.TIMED_OUT, then.tests[0]))[1] == 0

    def test_a_date_that_nobody_wrote_down_is_no_other_one(self) -> None:
        now = a_cell("b", 1, {T: "failed"}, dates=(Dates("2026-11-30", "2026-11-30"),))
        assert "note: " not in self.judged(now)[0]

    def test_a_pass_in_a_green_cell_is_a_reproduction_too(self) -> None:
        assert self.judged(a_cell("a", 1, {T: "passed"}), chosen(cell="a-1"))[1] == 0

    def test_a_cell_without_a_result_says_nothing(self) -> None:
        dead = a_cell("b", 1, status=CellStatus.CRASHED, detail="the cell was killed", stderr_tail="last words")
        text, code = self.judged(dead)
        assert (code, text.splitlines()[-2:]) == (4, ["no result: the cell is crashed: the cell was killed", "  | last words"])

    def test_the_one_line_that_decides_is_there_by_itself(self) -> None:
        now = a_cell("b", 1, runs=[a_run(T, "failed", failure=a_failure())])
        assert judge(chosen(), Planned(a_plan(), 2, ""), now).said == "reproduced: failed, as in the report"
        dead = a_cell("b", 1, status=CellStatus.CRASHED, detail="killed\nby whom", stderr_tail="last words")
        assert judge(chosen(), Planned(a_plan(), 2, ""), dead).said == "no result: the cell is crashed: killed | by whom"

    def test_another_date_than_then_is_said(self) -> None:
        before = msgspec.structs.replace(chosen().cell, dates=(Dates("2026-11-29", "2026-11-30"),))
        now = a_cell("b", 1, {T: "passed"}, dates=(Dates("2026-11-30", "2026-11-30"),))
        text, _ = self.judged(now, Chosen(TestId(NodeId(T)), before, Outcome.FAILED, None))
        assert "the date is UTC's now, and was a day behind UTC's then" in text

    def test_a_test_that_is_still_not_collected_is_a_reproduction(self) -> None:
        before = Chosen(TestId(NodeId(T)), a_cell("b", 1, {V: "passed"}), Outcome.NOT_COLLECTED, None)
        assert self.judged(a_cell("b", 1, status=CellStatus.NO_TESTS), before)[1] == 0


class TestTheLine:
    def planned(self, **changes: object) -> tuple[Planned, Cell]:
        names = ("pytest", "pytest-cov", "pytest-randomly", "pytest-xdist")
        probe = a_probe(distributions=tuple(Distribution(name, "1") for name in names))
        environment = an_environment("b", workers=2)
        return Planned(a_plan(environment, seed=2**32 + 5, **changes), 3, ""), a_cell("b", 1, {T: "failed"}, probe=probe)

    def test_pytest_is_called_as_the_launcher_calls_it_but_without_the_recorder(self) -> None:
        planned, cell = self.planned(selection=Selection(arguments=("--dist=load",)))
        specification = {
            "workspace": "/parity/workspace",
            "directory": "",
            "seed": planned.plan.seed,
            "workers": 2,
            "pytest": {"paths": [T], "arguments": ["--dist=load"]},
        }
        installed = {"pytest", "pytest-cov", "pytest-randomly", "pytest-xdist"}
        _, _, *expected = runpy.run_path(str(LAUNCHER))["pytest_arguments"](specification, installed)
        place = expected.index("-n") + 2
        expected[place:place] = ["--dist", "loadfile"]  # what the recorder does itself
        assert list(command.pytest_command(planned, cell, NodeId(T))) == ["python", "-m", "pytest", *expected]

    def test_nothing_is_shared_out_where_there_are_no_workers(self) -> None:
        planned, cell = self.planned()
        alone = msgspec.structs.replace(planned, plan=a_plan(an_environment("b", workers=0)))
        assert "--dist" not in command.pytest_command(alone, cell, NodeId(T))

    @pytest.mark.parametrize(
        ("nodeid", "directory", "said"),
        [
            (T, "", T),
            ("shop/tests/test_a.py::test_t[a/b]", "shop", "tests/test_a.py::test_t[a/b]"),
            ("t.py::test[<object at 0x...>]", "", "t.py::test"),
        ],
    )
    def test_an_id_is_as_pytest_takes_it_in_the_folder_of_the_project(self, nodeid: str, directory: str, said: str) -> None:
        assert command.selectable(NodeId(nodeid), directory) == said

    @pytest.mark.parametrize(("respected", "given"), [(True, False), (False, True)])
    def test_a_pinned_suite_is_unpinned_unless_its_pins_are_respected(self, *, respected: bool, given: bool) -> None:
        planned, cell = self.planned(respect_pins=respected)
        pinned = msgspec.structs.replace(cell, pins=msgspec.structs.replace(cell.pins, suite=True))
        assert ("parity_pin=false" in command.pytest_command(planned, pinned, NodeId(T))) is given

    def test_what_the_line_lacks_is_said(self) -> None:
        planned, _ = self.planned()
        said = list(command.lacking(planned, a_finding("t.py::test[<object at 0x...>]"), 2))
        assert [line.partition(":")[0].partition(",")[0] for line in said] == [
            "it runs the test alone",
            "2 tests have this id",
            "the id holds an address",
            "with one test",
            "nothing ends a test that hangs",
        ]


def no_world() -> World:
    def never(*_: object) -> None:
        raise AssertionError

    return World(connect=never, runner_of=never, say=never, watch=never)  # type: ignore[arg-type]  # nothing here may look for an engine


def test_a_shell_takes_a_terminal(tmp_path: Path) -> None:
    archive.write(a_report(), tmp_path / "r.json")
    with pytest.raises(UsageError, match="a shell takes a terminal"):
        shell(wanted(report=tmp_path / "r.json"), no_world())


def test_a_report_is_asked_only_for_what_it_knows(tmp_path: Path) -> None:
    archive.write(a_report(material=None), tmp_path / "r.json")
    with pytest.raises(UsageError, match="does not say what its cells were made of"):
        prepare(wanted(report=tmp_path / "r.json"))
    archive.write(a_report(), tmp_path / "r.json")
    ready = prepare(wanted(report=tmp_path / "r.json"))
    assert (ready.cell, ready.finding.label, ready.image) == ("b-1", Label.COUPLING, "b")


def test_plans_survive_the_artifact(tmp_path: Path) -> None:
    archive.write(a_report(), tmp_path / "r.json")
    read = archive.read(tmp_path / "r.json").material
    assert read == MATERIAL
    assert isinstance(MATERIAL.plans[0], CellPlan)
