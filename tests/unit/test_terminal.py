"""The artifact as text."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paritygate.outcomes.artifact import (
    Artifact,
    Cause,
    Changed,
    EnvironmentRecord,
    FileFact,
    Finding,
    Material,
    Subject,
    TouchedFile,
    Varied,
    Verdict,
)
from paritygate.outcomes.cells import Cell, EnvironmentName, Failure, NodeId, Spelling, TestId, TestRun
from paritygate.outcomes.sweeps import Sweep, SweptValue
from paritygate.outcomes.words import (
    Axis,
    CauseKind,
    CellStatus,
    ExitCode,
    FileState,
    Label,
    Outcome,
    Purpose,
    RunnerName,
    Touching,
    VerdictName,
)
from paritygate.reports.terminal import render
from paritygate.reports.text import folded, wrapped

LOCAL = EnvironmentName("local-like")
SERVER = EnvironmentName("server-like")
P = Outcome.PASSED
F = Outcome.FAILED
S = Outcome.SKIPPED
DUE = NodeId("tests/test_report.py::test_due_today")


def a_cell(env: EnvironmentName = LOCAL, attempt: int = 1, *tests: TestRun, **changes: object) -> Cell:
    cell = Cell(
        env=env,
        attempt=attempt,
        seed=100 + attempt,
        runner=RunnerName.DOCKER,
        purpose=Purpose.GATE,
        status=CellStatus.FINISHED,
        returncode=0,
        passed=True,
        tests=tests,
    )
    return msgspec.structs.replace(cell, **changes)


def a_failure(message: str = "assert 2 == 1", *, fingerprint: str = "f", line: int = 12) -> Failure:
    return Failure(
        phase="call", exception="AssertionError", message=message, fingerprint=fingerprint, file="tests/test_report.py", line=line
    )


def an_artifact(*tests: Finding, cells: tuple[Cell, ...] = (), **changes: object) -> Artifact:
    artifact = Artifact(
        schema=1,
        paritygate="0.1.0",
        created="2026-01-15T18:00:00Z",
        verdict=Verdict(
            name=VerdictName.PARITY, exit_code=0, axes=(Axis.TIMEZONE,), line="parity: 6 tests over timezone (exit 0)"
        ),
        subject=Subject(project="p", commit="", trees={}, selection=()),
        environments=(
            EnvironmentRecord(name=LOCAL, axes={Axis.TIMEZONE: "Asia/Shanghai", Axis.WORKERS: "0"}),
            EnvironmentRecord(name=SERVER, axes={Axis.TIMEZONE: "UTC", Axis.WORKERS: "2"}),
        ),
        axes=(Varied(axis=Axis.TIMEZONE, varied=True),),
        images={},
        cells=cells,
        tests=tests,
        labels={Label.CONSISTENT_GREEN: 6},
    )
    return msgspec.structs.replace(artifact, **changes)


def a_coupling(nodeid: NodeId = DUE, **changes: object) -> Finding:
    finding = Finding(nodeid=nodeid, label=Label.COUPLING, outcomes={LOCAL: (P, P), SERVER: (F, F)})
    return msgspec.structs.replace(finding, **changes)


def a_run(nodeid: NodeId = DUE, outcome: Outcome = F, failure: Failure | None = None, reason: str = "") -> TestRun:
    return TestRun(nodeid=nodeid, outcome=outcome, failure=failure, reason=reason)


def test_a_whole_report_reads_like_this() -> None:
    artifact = an_artifact(
        a_coupling(cause=Cause(kind=CauseKind.AXIS, axes=(Axis.TIMEZONE,)), note="the date changed", confirmed=10),
        Finding(
            nodeid=NodeId("tests/test_a.py::test_skip"), label=Label.CONSISTENT_GREEN, outcomes={LOCAL: (S, S), SERVER: (S, S)}
        ),
        cells=(
            a_cell(LOCAL, 1, a_run(outcome=P)),
            a_cell(LOCAL, 2, a_run(outcome=P), neutralised=("-x",)),
            a_cell(SERVER, 1, a_run(failure=a_failure("assert 2 == 1\n  where 2 = f()")), neutralised=("-x",)),
            a_cell(SERVER, 2, a_run(failure=a_failure("assert 2 == 1"))),
        ),
        verdict=Verdict(
            name=VerdictName.COUPLING,
            exit_code=3,
            axes=(Axis.TIMEZONE, Axis.WORKERS),
            line="coupling: 1 of 6 tests depends on where it runs",
            reasons=("confirmed by 10 attempts",),
        ),
        subject=Subject(
            project="p",
            commit="",
            trees={},
            selection=(),
            withheld=(".env", "id_rsa"),
            mismatched_names=("models.py -> Models.py",),
        ),
        axes=(
            Varied(axis=Axis.CASE_SENSITIVE, varied=False, why="no case-folding filesystem yet"),
            Varied(axis=Axis.TIMEZONE, varied=True),
            Varied(axis=Axis.WORKERS, varied=True),
        ),
        labels={Label.COUPLING: 1, Label.CONSISTENT_GREEN: 5, Label.EXCLUDED: 1},
        excluded={NodeId("tests/test_gpu.py::test_kernel"): "needs a GPU"},
        notes=("the engine is rootless",),
    )
    assert render(artifact, 100) == (
        """\
coupling: 1 of 6 tests depends on where it runs (exit 3)
  confirmed by 10 attempts

varied      timezone        local-like Asia/Shanghai | server-like UTC
varied      workers         local-like 0 | server-like 2
not varied  case_sensitive  no case-folding filesystem yet

label             tests  what to do
consistent-green      5  nothing; by themselves they are no reason to merge
coupling              1  fix or narrow the patch
excluded              1  not run; its reason is listed

coupling: fix or narrow the patch
  1 test: timezone
  tests/test_report.py::test_due_today   local-like passed passed | server-like failed failed
    server-like-1: tests/test_report.py:12 AssertionError: assert 2 == 1
    cause: timezone
    confirmed by 10 further attempts
    note: the date changed

excluded (1):
  tests/test_gpu.py::test_kernel: needs a GPU
withheld as secret-like: .env, id_rsa
  hint: a file that the tests need is named under `include`
named otherwise in git than on disk: models.py -> Models.py
  hint: a fresh clone has git's names; rename with `git mv`

switched off, since cells would not compare: -x
note: the engine is rootless

seeds: attempt 1 101, attempt 2 102
"""
    )


def test_a_green_report_is_short() -> None:
    assert render(an_artifact(), 100).splitlines() == [
        "parity: 6 tests over timezone (exit 0)",
        "",
        "varied      timezone  local-like Asia/Shanghai | server-like UTC",
        "",
        "label             tests  what to do",
        "consistent-green      6  proceed",
    ]


def test_a_dead_cell_is_shown_with_what_it_ran_the_end_of_its_output_and_what_to_do() -> None:
    cell = a_cell(
        SERVER,
        2,
        status=CellStatus.OUT_OF_MEMORY,
        detail="the limit was 512 MiB",
        running=(TestId(NodeId("tests/test_big.py::test_all")),),
        stderr_tail="".join(f"line {number}\n" for number in range(20)),
    )
    lines = render(an_artifact(cells=(cell,)), 100).splitlines()
    start = lines.index("cell server-like-2 (gate) out_of_memory: the limit was 512 MiB")
    assert lines[start + 1 : start + 11] == [
        "  running then: tests/test_big.py::test_all",
        *(f"  | line {number}" for number in range(12, 20)),
        "  hint: raise `memory`, or lower `workers`",
    ]


BROKEN = "pytest did not start (exit status 4): ImportError in conftest\nconftest.py:3\nE   RuntimeError: on purpose"


def unusable(*names: tuple[EnvironmentName, int], detail: str = BROKEN, **changes: object) -> tuple[Cell, ...]:
    tail = "conftest.py:3\n  raise\nE   RuntimeError: on purpose\n"
    return tuple(
        a_cell(env, attempt, status=CellStatus.UNUSABLE, detail=detail, stderr_tail=tail, **changes) for env, attempt in names
    )


def no_verdict(*reasons: str) -> Verdict:
    return Verdict(name=VerdictName.NO_VERDICT, exit_code=4, axes=(), line=f"no-verdict: {reasons[0]}", reasons=reasons)


ALL_FOUR = ((LOCAL, 1), (LOCAL, 2), (SERVER, 1), (SERVER, 2))


def test_a_reason_that_all_cells_share_is_said_once() -> None:
    verdict = no_verdict(*(f"pytest could not work in `{env}` attempt {attempt}: {BROKEN}" for env, attempt in ALL_FOUR))
    artifact = an_artifact(cells=unusable(*ALL_FOUR), verdict=verdict, axes=(), labels=dict.fromkeys(Label, 0))
    assert render(artifact, 100) == (
        """\
no-verdict: pytest could not work in all 4 cells: pytest did not start (exit status 4): ImportError in conftest | conftest.py:3 | E   RuntimeError: on purpose (exit 4)

all 4 cells (gate) unusable, as said above
  | conftest.py:3
  |   raise
  | E   RuntimeError: on purpose
  hint: correct the selection, the options or the configuration that pytest names

seeds: attempt 1 101, attempt 2 102
"""  # noqa: E501 - the first line is one line whatever its length
    )


def test_a_reason_that_some_cells_share_names_them() -> None:
    cells = (*unusable(*ALL_FOUR[:2]), *unusable((SERVER, 1), detail="the disk is full"), a_cell(SERVER, 2))
    verdict = no_verdict(
        "pytest could not work in `local-like` attempt 1: no",
        "pytest could not work in `local-like` attempt 2: no",
        "pytest could not work in `server-like` attempt 1: the disk is full",
        "python differs",
    )
    lines = render(an_artifact(cells=cells, verdict=verdict), 100).splitlines()
    assert lines[:3] == [
        "no-verdict: pytest could not work in `local-like` attempt 1, `local-like` attempt 2: no (exit 4)",
        "  pytest could not work in `server-like` attempt 1: the disk is full",
        "  python differs",
    ]
    headings = [line for line in lines if " (gate) " in line]
    assert headings == [
        "cells local-like-1, local-like-2 (gate) unusable: pytest did not start (exit status 4): ImportError in conftest",
        "cell server-like-1 (gate) unusable: the disk is full",
    ]


def test_a_line_that_stands_for_several_cells_names_each_of_them_once() -> None:
    reasons = [f"`{SERVER}` attempt {attempt} ran out of memory: certain" for attempt in (1, 2)]
    cells = [a_cell(SERVER, attempt, status=CellStatus.OUT_OF_MEMORY, detail="certain") for attempt in (1, 2)]
    lines = render(an_artifact(cells=(a_cell(LOCAL), *cells), verdict=no_verdict(*reasons)), 150).splitlines()
    assert lines[:2] == [
        "no-verdict: `server-like` attempt 1, `server-like` attempt 2 ran out of memory: certain (exit 4)",
        "",
    ]


def test_the_memory_that_a_sweep_set_is_not_to_be_raised() -> None:
    cells = (a_cell(LOCAL), a_cell(SERVER, status=CellStatus.OUT_OF_MEMORY, detail="certain"))
    values = (SweptValue(value="all", env=LOCAL), SweptValue(value="256m", env=SERVER))
    for sweeps, said in (((), "raise `memory`"), ((Sweep(axis=Axis.MEMORY, values=values),), "let what died take less")):
        lines = render(an_artifact(cells=cells, sweeps=sweeps), 150).splitlines()
        assert [line for line in lines if line.startswith(f"  hint: {said}")]
        assert len([line for line in lines if "hint: " in line]) == 1


def test_of_several_outputs_it_is_said_whose_is_shown() -> None:
    one, two = unusable(*ALL_FOUR[:2])
    lines = render(an_artifact(cells=(one, msgspec.structs.replace(two, stderr_tail="else"))), 100).splitlines()
    assert "  the end of what local-like-1 printed:" in lines
    assert "  | else" not in lines


def test_what_cannot_be_decided_names_the_cell_and_the_test_that_are_the_cause() -> None:
    hanging = TestId(NodeId("t.py::test_hangs"))
    cells = (
        a_cell(LOCAL, 1, a_run(outcome=P), status=CellStatus.UNUSABLE),
        a_cell(SERVER, 1, status=CellStatus.TIMED_OUT, running=(hanging,)),
        a_cell(
            SERVER,
            2,
            a_run(NodeId("t.py::test_dies"), Outcome.CRASHED),
            a_run(outcome=Outcome.NOT_RUN),
            status=CellStatus.CRASHED,
        ),
        *[a_cell(SERVER, 3, status=CellStatus.OUT_OF_MEMORY, purpose=Purpose.CONFIRM)] * 3,
    )
    finding = a_coupling(label=Label.UNDECIDED, outcomes={SERVER: (Outcome.NOT_RUN, Outcome.NOT_RUN)})
    lines = render(an_artifact(finding, cells=cells), 100).splitlines()
    start = lines.index("undecided: see what its cells say of it, mend that, and run again")
    assert lines[start + 1 : start + 4] == [
        "  since cell server-like-1 (gate) timed_out in t.py::test_hangs",
        "  since cell server-like-2 (gate) crashed after t.py::test_dies",
        "  since cell server-like-3 (confirm) out_of_memory",
    ]
    assert lines[start + 4].startswith("  tests/test_report.py::test_due_today")


def test_where_modules_are_gone_no_test_that_merely_ran_last_is_suspected() -> None:
    why = "`tests/test_b.py` is gone from the workspace: a test has removed it; pytest, started anew, ended with exit status 5"
    cell = a_cell(
        SERVER,
        2,
        a_run(NodeId("t.py::test_dies"), Outcome.CRASHED),
        a_run(outcome=Outcome.NOT_RUN),
        status=CellStatus.CRASHED,
        detail=why,
        removed=("tests/test_b.py",),
    )
    finding = a_coupling(label=Label.UNDECIDED, outcomes={SERVER: (Outcome.NOT_RUN, Outcome.NOT_RUN)})
    lines = render(
        an_artifact(finding, cells=(cell,), verdict=no_verdict(f"`server-like` attempt 2 died: {why}")), 100
    ).splitlines()
    assert "  since cell server-like-2 (gate) crashed: a test has removed tests/test_b.py" in lines
    start = lines.index("cell server-like-2 (gate) crashed, as said above")
    assert lines[start + 1] == "  hint: find what removes it among the tests that ran before, and let that work in `tmp_path`"


@pytest.mark.parametrize(("running", "suspects"), [((TestId(NodeId("t.py::test_a"), 0),), True), ((), False)])
def test_only_a_test_that_was_running_is_the_first_suspect(running: tuple[TestId, ...], suspects: bool) -> None:  # noqa: FBT001
    cell = a_cell(SERVER, 2, status=CellStatus.CRASHED, detail="pytest was killed", running=running)
    text = render(an_artifact(cells=(cell,)), 100)
    assert "cell server-like-2 (gate) crashed: pytest was killed\n" in text
    assert ("the test that was running is the first suspect" in text) is suspects


def test_labels_that_no_test_has_are_not_shown() -> None:
    artifact = an_artifact(labels=dict.fromkeys(Label, 0) | {Label.COUPLING: 2})
    assert "label     tests  what to do\ncoupling      2  fix or narrow the patch\n\n" in f"{render(artifact, 100)}\n"


def test_no_verdict_invites_no_merge() -> None:
    assert "consistent-green      6  nothing; by themselves they are no reason to merge" in render(
        an_artifact(verdict=no_verdict("a cell died")), 100
    )


def test_time_zones_with_equal_dates_say_so() -> None:
    axes = (Varied(axis=Axis.TIMEZONE, varied=True, why="dates equal for a part of the run"),)
    line = "varied      timezone  local-like Asia/Shanghai | server-like UTC (dates equal for a part of the run)\n"
    assert line in render(an_artifact(axes=axes), 100)


def test_remarks_about_green_tests_are_shown_with_the_tests() -> None:
    green = {"label": Label.CONSISTENT_GREEN, "outcomes": {LOCAL: (P, P), SERVER: (P, P)}}
    tests = [a_coupling(NodeId(f"t.py::t[{name}]"), note="matched by its form", **green) for name in ("0x...", "b")]
    cell = a_cell(LOCAL, 1, unstable_ids=("t.py::t[0x...]", "t.py::u[0x...]"))
    lines = render(an_artifact(*tests, cells=(cell,)), 100).splitlines()
    assert "note: matched by its form: t.py::t[0x...], t.py::t[b]" in lines
    assert "ids that change from run to run, matched by their form: t.py::u[0x...]" in lines


def test_failures_that_differ_are_shown_twice_and_then_counted() -> None:
    cells = tuple(
        a_cell(LOCAL, attempt, a_run(failure=a_failure(f"number {attempt}", fingerprint=str(attempt), line=attempt)))
        for attempt in (1, 2, 3)
    )
    text = render(an_artifact(a_coupling(), cells=cells), 100)
    assert "    local-like-1: tests/test_report.py:1 AssertionError: number 1\n" in text
    assert "    local-like-2: tests/test_report.py:2 AssertionError: number 2\n    and 1 more that differs\n" in text


def test_what_is_the_same_of_several_tests_is_told_once() -> None:
    nodeids = [NodeId(f"t.py::test[{number}]") for number in range(3)]
    findings = [a_coupling(nodeid, confirmed=10) for nodeid in nodeids]
    cell = a_cell(SERVER, 1, *(a_run(nodeid, failure=a_failure("no" if nodeid.endswith("[2]") else "yes")) for nodeid in nodeids))
    lines = render(an_artifact(*findings, cells=(cell,)), 100).splitlines()
    start = lines.index("coupling: fix or narrow the patch")
    unsought = "    cause: not looked for (`paritygate explain REPORT` does)"
    assert lines[start + 1 : start + 11] == [
        "  t.py::test[0]   local-like passed passed | server-like failed failed",
        "  t.py::test[1]   local-like passed passed | server-like failed failed",
        "    of all 2:",
        "    server-like-1: tests/test_report.py:12 AssertionError: yes",
        unsought,
        "    confirmed by 10 further attempts",
        "  t.py::test[2]   local-like passed passed | server-like failed failed",
        "    server-like-1: tests/test_report.py:12 AssertionError: no",
        unsought,
        "    confirmed by 10 further attempts",
    ]


def test_where_both_sides_fail_their_failures_stand_side_by_side() -> None:
    cells = (
        a_cell(LOCAL, 1, a_run(failure=a_failure("one", fingerprint="1"))),
        a_cell(LOCAL, 2, a_run(failure=a_failure("two", fingerprint="2"))),
        a_cell(SERVER, 1, a_run(failure=a_failure("three", fingerprint="1"))),
    )
    lines = render(an_artifact(a_coupling(), cells=cells), 100).splitlines()
    start = lines.index("    local-like-1: tests/test_report.py:12 AssertionError: one")
    assert lines[start + 1 : start + 3] == [
        "    server-like-1: tests/test_report.py:12 AssertionError: three",
        "    and 1 more that differs",
    ]


def test_a_failure_that_is_the_same_on_both_sides_is_said_once() -> None:
    cells = (a_cell(LOCAL, 1, a_run(failure=a_failure())), a_cell(SERVER, 1, a_run(failure=a_failure())))
    text = render(an_artifact(a_coupling(), cells=cells), 100)
    assert "    local-like-1, server-like-1: tests/test_report.py:12 AssertionError: assert 2 == 1\n" in text


def test_where_nothing_failed_the_reason_of_a_skip_is_shown() -> None:
    finding = a_coupling(outcomes={LOCAL: (P, P), SERVER: (S, S)})
    cells = (a_cell(LOCAL, 1, a_run(outcome=P)), a_cell(SERVER, 1, a_run(outcome=S, reason="needs a terminal")))
    assert "    server-like-1: skipped: needs a terminal\n" in render(an_artifact(finding, cells=cells), 100)


def test_confirming_cells_do_not_speak_for_the_gate() -> None:
    confirming = a_cell(SERVER, 3, a_run(failure=a_failure("later")), purpose=Purpose.CONFIRM)
    assert "later" not in render(an_artifact(a_coupling(), cells=(confirming,)), 100)


def test_what_is_to_be_said_of_a_cell_that_finished_is_said() -> None:
    cell = a_cell(SERVER, 2, detail="all tests ran, though likely: the kernel killed 1 of the cell's processes")
    said = "note: cell server-like-2 (gate): all tests ran, though likely: the kernel killed 1 of the cell's processes"
    assert said in render(an_artifact(cells=(cell,)), 100).splitlines()


def test_a_reason_of_several_lines_stands_in_one() -> None:
    cell = a_cell(SERVER, 2, status=CellStatus.UNUSABLE, detail="pytest did not start:\nconftest.py:1\n    raise \x07")
    assert "unusable: pytest did not start: | conftest.py:1 | raise \\x07" in render(an_artifact(cells=(cell,)), 100)


def test_control_characters_of_tests_are_spelled_out() -> None:
    finding = a_coupling(NodeId("tests/t.py::test[\x1b[2J]"))
    cell = a_cell(SERVER, 1, a_run(NodeId("tests/t.py::test[\x1b[2J]"), failure=a_failure("a\x07b \u202e c")))
    text = render(an_artifact(finding, cells=(cell,)), 100)
    assert "tests/t.py::test[\\x1b[2J]" in text
    assert "AssertionError: a\\x07b \\u202e c" in text
    assert "\x1b" not in text


def test_brackets_in_ids_are_no_markup() -> None:
    assert "tests/t.py::test[bold][/bold]" in render(an_artifact(a_coupling(NodeId("tests/t.py::test[bold][/bold]"))), 100)


def test_an_id_is_never_broken_and_a_message_is_cut() -> None:
    nodeid = NodeId(f"tests/t.py::test_{'x' * 200}")
    cell = a_cell(SERVER, 1, a_run(nodeid, failure=a_failure("y" * 300)))
    lines = render(an_artifact(a_coupling(nodeid), cells=(cell,)), 80).splitlines()
    assert any(line.startswith(f"  {nodeid}   local-like") for line in lines)
    assert next(len(line) for line in lines if "yyy" in line) == 80


def test_the_second_test_of_an_id_is_told_apart() -> None:
    assert f"  {DUE} (number 2 of this id)   local-like" in render(an_artifact(a_coupling(occurrence=1)), 100)


def test_the_worst_label_comes_first_and_ids_are_sorted() -> None:
    findings = [
        a_coupling(NodeId(f"t.py::{label}-{letter}"), label=label)
        for letter in "ba"
        for label in (
            Label.CONSISTENT_RED,
            Label.COUPLING,
            Label.NONDETERMINISM,
            Label.UNDECIDED,
            Label.NONDETERMINISM_EVERYWHERE,
        )
    ]
    text = render(an_artifact(*findings), 100)
    assert re.findall(r"^  t\.py::(\S+)", text, re.MULTILINE) == [
        "undecided-a",
        "undecided-b",
        "nondeterminism-everywhere-a",
        "nondeterminism-everywhere-b",
        "nondeterminism-a",
        "nondeterminism-b",
        "coupling-a",
        "coupling-b",
        "consistent-red-a",
        "consistent-red-b",
    ]


def test_no_more_than_fifty_tests_are_shown_and_the_rest_is_counted() -> None:
    findings = [a_coupling(NodeId(f"t.py::test_{number:03}")) for number in range(60)]
    text = render(an_artifact(*findings), 100)
    assert "t.py::test_049" in text
    assert "t.py::test_050" not in text
    assert text.endswith("and 10 more in the report:\n  t.py: 10 coupling\n")


def test_five_hundred_tests_stay_readable() -> None:
    findings = [a_coupling(NodeId(f"t{number % 30:02}.py::test_{number:03}")) for number in range(480)]
    findings += [a_coupling(NodeId(f"zz.py::test_{number}"), label=Label.CONSISTENT_RED) for number in range(20)]
    lines = render(an_artifact(*findings), 100).splitlines()
    start = lines.index("and 450 more in the report:")
    assert lines[start + 1 : start + 3] == ["  zz.py: 20 consistent-red", "  t04.py: 16 coupling"]
    assert lines[start + 21 :] == ["  elsewhere: 126"]


def test_no_more_than_ten_names_stand_in_a_line() -> None:
    subject = Subject(project="p", commit="", trees={}, selection=(), withheld=tuple(f"{number}.pem" for number in range(12)))
    assert "8.pem, 9.pem and 2 more in the report\n" in render(an_artifact(subject=subject), 100)


def test_colour_changes_no_word() -> None:
    artifact = an_artifact(a_coupling(), cells=(a_cell(SERVER, 1, status=CellStatus.CRASHED),))
    plain, coloured = render(artifact, 100), render(artifact, 100, colour=True)
    assert "\x1b[" in coloured
    stripped = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", coloured).splitlines()]
    assert stripped == plain.splitlines()
    assert plain.isascii()


@pytest.mark.parametrize("code", [ExitCode.NO_VERDICT, ExitCode.REFUSED])
def test_the_exit_code_is_in_the_first_line(code: ExitCode) -> None:
    verdict = Verdict(name=VerdictName.NO_VERDICT, exit_code=code, axes=(), line="no verdict")
    assert render(an_artifact(verdict=verdict), 100).startswith(f"no verdict (exit {code.value})\n")


def test_names_that_a_test_was_given_by_other_names_are_shown_and_then_counted() -> None:
    names = tuple(Spelling(f"data/File{number}", f"data/file{number}") for number in range(4))
    cells = tuple(a_cell(LOCAL, attempt, msgspec.structs.replace(a_run(), spellings=names)) for attempt in (1, 2))
    server = a_cell(SERVER, 1, a_run(failure=a_failure()))
    lines = render(an_artifact(a_coupling(), cells=(*cells, server)), 100).splitlines()
    start = lines.index("    server-like-1: tests/test_report.py:12 AssertionError: assert 2 == 1")
    assert lines[start + 1 : start + 4] == [
        "    local-like: `data/File0` is `data/file0`",
        "    local-like: `data/File1` is `data/file1`",
        "    and 2 more such names",
    ]


def test_names_of_temporary_folders_that_differ_by_their_number_are_one_finding() -> None:
    seen = [
        tuple(Spelling(f"/parity/tmp/pytest-{number}/Made", f"/parity/tmp/pytest-{number}/made") for number in some)
        for some in ((0, 1), (2,))
    ]
    cells = tuple(a_cell(LOCAL, place + 1, msgspec.structs.replace(a_run(), spellings=some)) for place, some in enumerate(seen))
    text = render(an_artifact(a_coupling(), cells=cells), 120)
    assert text.count("local-like: `/parity/tmp/pytest-0/Made` is `/parity/tmp/pytest-0/made`") == 1
    assert (text.count("Made"), "more such name" in text) == (1, False)


MATERIAL = Material(plans=(), images={})


def test_a_test_that_diverges_names_the_command_that_runs_it_once_more() -> None:
    odd = NodeId("tests/test_report.py::test_due[a b]")
    some = (
        a_coupling(odd, occurrence=1),
        a_coupling(label=Label.NONDETERMINISM),
        a_coupling(NodeId("t::red"), label=Label.CONSISTENT_RED),
    )
    lines = render(an_artifact(*some, material=MATERIAL), 100, report="out/r.json").splitlines()
    assert [line for line in lines if "paritygate repro" in line] == [
        f"    to reproduce: paritygate repro out/r.json {DUE}",
        "    to reproduce: paritygate repro out/r.json 'tests/test_report.py::test_due[a b]' --number 2",
    ]


@pytest.mark.parametrize(("report", "material"), [("", MATERIAL), ("r.json", None)])
def test_a_command_that_could_not_work_is_not_named(report: str, material: Material | None) -> None:
    assert "paritygate repro" not in render(an_artifact(a_coupling(), material=material), 100, report=report)


def test_a_command_that_is_longer_than_a_line_is_named_whole_unless_that_of_another_test_fits() -> None:
    long = a_coupling(NodeId(f"t.py::test[{'a' * 200}]"))
    text = render(an_artifact(long, material=MATERIAL), 100, report="r.json")
    assert f"    to reproduce: paritygate repro r.json 't.py::test[{'a' * 200}]'\n" in text
    text = render(an_artifact(long, a_coupling(NodeId("t.py::test[b]")), material=MATERIAL), 100, report="r.json")
    assert re.findall(r"paritygate repro .*", text) == ["paritygate repro r.json 't.py::test[b]'"]


def test_one_cause_of_many_tests_is_told_once_however_their_files_differ() -> None:
    """As of translations that a fresh clone lacks: of each test others, in another order, and looked for or opened."""

    def cause(number: int) -> Cause:
        names = [f"locale/{name}.mo" for name in ("de", f"l{number % 12:02}")]
        touched = (Touching.LOOKED_FOR, Touching.OPENED)[: 1 + number % 2]
        facts = {name: FileFact(state=FileState.IGNORED, touched=touched) for name in names[:: 1 - 2 * (number % 2)]}
        return Cause(kind=CauseKind.AXIS, axes=(Axis.WORKTREE,), ways=((Axis.WORKTREE,),), files=tuple(facts), file_facts=facts)

    nodeids = [f"tests/test_i18n.py::test_intword[{number:03}]" for number in range(140)]
    nodeids += [f"tests/test_time.py::test[{number}]" for number in range(4)]
    tests = [a_coupling(NodeId(nodeid), cause=cause(number), confirmed=10) for number, nodeid in enumerate(nodeids)]
    lines = render(an_artifact(*tests, material=MATERIAL), 120, report="r.json").splitlines()
    start = lines.index("  144 tests: worktree")
    made = "it is made, not written: make it in the job, or in a fixture"

    def file(name: str, how: str) -> str:
        return f"    file: `locale/{name}.mo`, ignored by git, is not in a fresh clone ({how}): {made}"

    assert lines[start + 1 : start + 17] == [
        *(f"  {nodeid}   local-like passed passed | server-like failed failed" for nodeid in nodeids[:5]),
        "  and 139 more like these: tests/test_i18n.py 135, tests/test_time.py 4",
        "    of all 144:",
        "    cause: worktree",
        file("de", "looked for, opened"),
        *(file(f"l{number:02}", "looked for, opened" if number % 2 else "looked for") for number in range(4)),
        "    and 8 more files in the report",
        "    confirmed by 10 further attempts",
        "    to reproduce: paritygate repro r.json 'tests/test_i18n.py::test_intword[000]'",
    ]
    assert "more in the report:" not in "\n".join(lines)


def test_a_narrow_terminal_has_the_command_in_one_line_that_can_be_copied() -> None:
    text = render(an_artifact(a_coupling(), material=MATERIAL), 40, report="r.json")
    assert f"    to reproduce: paritygate repro r.json {DUE}\n" in text


def test_tests_of_which_the_same_is_told_have_one_command_that_of_the_first() -> None:
    some = (a_coupling(NodeId("t.py::test[1]")), a_coupling(NodeId("t.py::test[2]")))
    text = render(an_artifact(*some, material=MATERIAL), 100, report="r.json")
    assert re.findall(r"paritygate repro .*", text) == ["paritygate repro r.json 't.py::test[1]'"]


def test_names_that_are_one_where_case_does_not_count_are_listed_with_what_to_do() -> None:
    subject = Subject(project="shop", commit="", trees={}, selection=(), colliding_names=("`A` and `a`",))
    text = render(an_artifact(subject=subject), 100)
    assert "one name where case does not count: `A` and `a`\n  hint: a checkout on such a disk lacks one of them" in text


def an_axis_cause(*ways: tuple[Axis, ...], detail: str = "") -> Cause:
    axes = tuple(dict.fromkeys(axis for way in ways for axis in way))
    return Cause(kind=CauseKind.AXIS, axes=axes, ways=ways, detail=detail)


def test_couplings_are_counted_by_their_causes_the_most_frequent_first() -> None:
    causes = (
        an_axis_cause((Axis.LOCALE,)),
        *[an_axis_cause((Axis.TIMEZONE,))] * 2,
        an_axis_cause((Axis.TIMEZONE,), (Axis.LOCALE,)),
        an_axis_cause((Axis.TIMEZONE, Axis.LOCALE)),
        None,
    )
    tests = [a_coupling(NodeId(f"t{number}"), cause=cause) for number, cause in enumerate(causes)]
    said = render(an_artifact(*tests), 100)
    assert said[said.index("coupling: ") :].splitlines()[1:6] == [
        "  2 tests: timezone",
        "  1 test: locale",
        "  1 test: timezone or locale",
        "  1 test: timezone with locale",
        "  1 test: no cause is known",
    ]


def test_instabilities_are_counted_by_what_spoils_them() -> None:
    polluted = Cause(kind=CauseKind.ORDER, polluters=(NodeId("p"),), detail="fails after `p` (6 of 6), passes without (6 of 6)")
    causes = (polluted, polluted, Cause(kind=CauseKind.ORDER, setters=(NodeId("s"), NodeId("r"))), Cause(kind=CauseKind.CHANCE))
    tests = [a_coupling(NodeId(f"t{number}"), label=Label.NONDETERMINISM, cause=cause) for number, cause in enumerate(causes)]
    said = render(an_artifact(*tests), 200)
    counted = [line for line in said.splitlines() if re.match(r"  \d+ tests?: ", line)]
    assert counted == ["  2 tests: order (after p)", "  1 test: chance", "  1 test: order (needs s and r)"]
    assert "    cause: order: fails after `p` (6 of 6), passes without (6 of 6)\n" in said


def test_without_any_cause_nothing_is_counted() -> None:
    assert "no cause is known" not in render(an_artifact(a_coupling()), 100)


def test_a_cause_is_said_with_what_shows_it() -> None:
    detail = "local-like with server-like's timezone fails, 2 of 2; server-like with local-like's passes, 2 of 2"
    said = render(an_artifact(a_coupling(cause=an_axis_cause((Axis.TIMEZONE,), detail=detail))), 200)
    assert f"    cause: timezone ({detail})\n" in said


@pytest.mark.parametrize(
    ("cause", "note"),
    [
        (None, "    note: dated; the order is not what makes the difference: it is `passed`\n"),
        (an_axis_cause((Axis.WORKERS,)), "    note: dated; the order is not what makes the difference: it is `passed`\n"),
        (an_axis_cause((Axis.TIMEZONE,)), "    note: dated\n"),
    ],
)
def test_that_it_is_not_the_order_is_said_where_it_could_have_been(cause: Cause | None, note: str) -> None:
    finding = a_coupling(cause=cause, note="dated; the order is not what makes the difference: it is `passed`")
    assert note in render(an_artifact(finding), 200)


def test_a_cell_that_only_looked_for_causes_leaves_nothing_undecided() -> None:
    mixed = EnvironmentName("local-like+timezone")
    dead = a_cell(mixed, 1, status=CellStatus.CRASHED, purpose=Purpose.HYBRID)
    undecided = a_coupling(label=Label.UNDECIDED)
    assert "since cell" not in render(an_artifact(undecided, cells=(a_cell(), a_cell(SERVER), dead)), 100)


def test_what_a_diff_chose_is_listed_with_what_widened_it_first() -> None:
    files = {
        "a.py": TouchedFile(tests=("tests/test_a.py", "tests/test_b.py")),
        "docs/b.md": TouchedFile(why="no test mentions it or lists folders"),
        "c.bin": TouchedFile(everything=True, why="no test is known to mention it"),
    }
    text = render(an_artifact(changed=Changed(base="0123456789abcdef", files=files, known=9, everything=True)))
    assert (
        "changed since 0123456789ab (3), and everything is chosen:\n"
        "  c.bin: everything, since no test is known to mention it\n"
        "  a.py: tests/test_a.py, tests/test_b.py\n"
        "  docs/b.md: no test: no test mentions it or lists folders\n"
    ) in text
    some = Changed(base="0123456789abcdef", files={"a.py": files["a.py"]}, tests=files["a.py"].tests, known=9)
    assert "changed since 0123456789ab (1), and 2 of 9 test files are chosen:\n" in render(an_artifact(changed=some))


def six_couplings(messages: Sequence[str], first: str = "f") -> Artifact:
    """Make an artifact of tests that fail at one place on the server, each with another message."""
    ids = [NodeId(f"tests/test_hosts.py::test_host[{number}]") for number, _ in enumerate(messages)]
    runs = [
        TestRun(nodeid=nodeid, outcome=F, failure=a_failure(message, fingerprint=f"{first}{nodeid}"))
        for nodeid, message in zip(ids, messages, strict=True)
    ]
    return an_artifact(*(a_coupling(nodeid) for nodeid in ids), cells=(a_cell(SERVER, 1, *runs),))


def blocks(text: str) -> list[str]:
    """Give the lines below each test."""
    return [part for part in re.split(r"(?m)^  tests/test_hosts.*\n", text.partition("fix or narrow the patch\n")[2]) if part]


@pytest.mark.parametrize("width", [40, 80, 100])
def test_an_error_is_whole_at_every_width_and_different_ones_are_told_apart(width: int) -> None:
    messages = [f"assert ['A', 'B', 'a', 'b'] == ['a', 'A', 'b', 'B', '{name}']" for name in "uvwxyz"]
    found = blocks(render(six_couplings(messages), width))
    said = [" ".join(block.partition("cause:")[0].split()) for block in found]
    assert said == [f"server-like-1: tests/test_report.py:12 AssertionError: {message}" for message in messages]
    assert max(len(line) for block in found for line in block.partition("    cause:")[0].splitlines()) <= width


def test_of_an_error_that_is_too_long_for_a_few_lines_the_middle_is_left_out() -> None:
    (block,) = blocks(render(six_couplings([f"assert {'x ' * 300}== 'the end'"]), 40))
    lines = block.partition("    cause:")[0].splitlines()
    assert len(lines) == 5
    assert lines[0] == "    server-like-1:"
    assert lines[-1].endswith("x == 'the end'")
    assert " ... " in block


def test_errors_that_pytest_has_shortened_are_alike_only_where_all_of_them_is() -> None:
    shortened = "AssertionError: assert ['A', 'B'] == ['a'..."
    apart = six_couplings([f"{shortened}\n  Full diff: {name}" for name in "uvwxyz"])
    assert "of all" not in render(apart, 100)
    assert "    of all 6:\n" in render(six_couplings([f"{shortened}\n  Full diff: u"] * 6), 100)
    assert "    of all 2:\n" in render(
        six_couplings([f"assert False\n  where it is at {place}" for place in ("0x1", "0x2")]), 100
    )


@given(st.text(st.characters(categories=("L", "N", "P", "Zs")), max_size=400), st.integers(1, 120))
def test_what_is_wrapped_fits_and_loses_nothing_but_its_middle(text: str, width: int) -> None:
    lines = wrapped(text, width, "  ", "    ")
    assert len(lines) <= max(3, -(-200 // max(width, 20)))
    assert max(map(len, lines)) <= max(width, 20)
    said, whole = "".join("".join(lines).split()), "".join(text.split())
    if said != whole:
        cuts = [place.start() for place in re.finditer(r"(?=\.\.\.)", said)]
        assert any(whole.startswith(said[:place]) and whole.endswith(said[place + 3 :]) for place in cuts)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_on_a_terminal_lines_are_broken_between_words_and_nothing_is_lost(width: int) -> None:
    cause = Cause(kind=CauseKind.AXIS, axes=(Axis.TIMEZONE,), detail="fails with it, 2 of 2; passes without it")
    notes = ("a note that is longer than a narrow terminal is wide " * 2,)
    artifact = an_artifact(a_coupling(cause=cause), material=MATERIAL, notes=notes)
    whole, broken = render(artifact, width, report="r.json"), render(artifact, width, report="r.json", fold=True)
    assert broken.split() == whole.split()
    wide = [line for line in broken.splitlines() if len(line) > width]
    assert [line for line in wide if " " in line.strip() and "to reproduce" not in line] == []
    assert f"    to reproduce: paritygate repro r.json {DUE}" in broken.splitlines()
    assert "    cause: timezone (fails with it, 2 of" in broken
    assert render(artifact, 400, fold=True) == render(artifact, 400)


@given(st.text(st.characters(categories=("L", "N", "P", "Zs")), max_size=300), st.integers(0, 6), st.integers(1, 120))
def test_what_is_folded_loses_no_word(text: str, indent: int, width: int) -> None:
    line = " " * indent + text
    parts = folded(line, width)
    assert " ".join(parts).split() == line.split()
    assert all(len(part) <= max(width, 20) or len(part.split()) == 1 for part in parts)
