"""From a printed command over a machine where nothing else runs to a verdict: the real command line, the real pytest."""

from __future__ import annotations

import io
import shlex
from pathlib import Path

import msgspec
import pytest

from paritygate import archive
from paritygate.archive import CellFile
from paritygate.outcomes.cells import Cell, EnvironmentName, NodeId, TestRun
from paritygate.outcomes.words import CellStatus, Certainty, Outcome
from tests.support.builders import SEEDS, a_cell, a_probe, a_record, a_subject
from tests.support.command_line import Said, call
from tests.support.pasting import OUTCOMES, a_project, paste


def the_line(said: Said) -> tuple[str, str]:
    """Give the command and the seed that `ingest` is to be told."""
    assert said.code == 0, said.err
    line, then = said.out.splitlines()
    assert then.startswith("# then: paritygate ingest ")
    words = then.split()
    return line, words[words.index("--seed") + 1]


def outcomes(cell: Cell) -> dict[str, str]:
    return {run.nodeid: run.outcome.value for run in cell.tests}


def test_what_the_printed_command_shows_and_writes_is_understood_in_whole(tmp_path: Path) -> None:
    project = a_project(tmp_path / "shop")
    line, seed = the_line(call(project, "command", "server-like", "2"))
    assert line.startswith("env TZ=UTC ")
    assert "\n" not in line
    (project / "shown.txt").write_bytes(paste(line, project))
    given = ("--env", "server-like", "--attempt", "2", "--seed", seed)
    for file, kind, seen in (("shown.txt", "terminal", OUTCOMES), ("server-like-2.xml", "junit", None)):
        said = call(project, "ingest", *given, file, "--out", f"{kind}.json")
        assert said.code == 0, said.out + said.err
        (cell,) = archive.read_cells(project / f"{kind}.json").cells
        # A JUnit XML has no word for what passes unexpectedly.
        assert outcomes(cell) == (seen or OUTCOMES | {"tests/test_all.py::test_xpasses": "passed"})
        assert cell.told is not None
        assert (cell.told.format, cell.attempt, cell.status) == (kind, 2, CellStatus.FINISHED)
        assert cell.told.measured is not None
        assert (cell.told.measured.utcoffset_july, cell.told.measured.locale) == (0, "C.UTF-8")
        assert cell.told.certainty is (Certainty.READ if kind == "terminal" else Certainty.REPORTED)


def test_what_the_printed_command_shows_and_writes_says_which_cell_it_is_and_with_which_seed(tmp_path: Path) -> None:
    project = a_project(tmp_path / "shop")
    line, seed = the_line(call(project, "command", "server-like", "2", "--seed", "5", "--seed", "6", "-k", "passes"))
    assert seed == "6"
    (project / "shown.txt").write_bytes(paste(line, project))
    for file in ("shown.txt", "server-like-2.xml"):
        for env, attempt, given, said in (
            ("local-like", "2", "6", "it is `server-like` attempt 2, not `local-like` attempt 2"),
            ("server-like", "1", "6", "it is `server-like` attempt 2, not `server-like` attempt 1"),
            ("server-like", "2", "77", "it was run with seed 6, not 77"),
        ):
            refused = call(project, "ingest", "--env", env, "--attempt", attempt, "--seed", given, file)
            assert (refused.code, refused.out) == (64, "")
            assert said in refused.err
        assert call(project, "ingest", "--env", "server-like", "--attempt", "2", "--seed", "6", file).code == 0


def test_what_a_shell_is_given_of_command_is_the_command(tmp_path: Path) -> None:
    project = a_project(tmp_path / "shop")
    whole, quiet = call(project, "command", "server-like", "1"), call(project, "command", "server-like", "1", "--quiet")
    assert whole.out.splitlines()[0] == quiet.out.strip()
    assert whole.err == quiet.err == ""
    assert b"passed" in paste(whole.out, project)


def test_the_command_of_a_machine_without_plugins_has_none(tmp_path: Path) -> None:
    project = a_project(tmp_path / "shop")
    line, _ = the_line(call(project, "command", "server-like", "1", "--plain", "-k", "passes or more", "-m", "not slow", "tests"))
    words = shlex.split(line)
    assert "randomly" not in words
    assert "xdist" not in words
    assert words[-5:] == ["-k", "passes or more", "-m", "(not slow) and not parity_exclude", "tests"]
    assert b"2 passed" in paste(line, project)


def test_an_unknown_environment_is_said_with_a_guess(tmp_path: Path) -> None:
    said = call(a_project(tmp_path / "shop"), "command", "serverlike", "1")
    assert said.code == 64
    assert "did you mean `server-like`" in said.err


def test_dots_alone_give_no_verdict_and_what_to_paste_is_said(tmp_path: Path) -> None:
    project = a_project(tmp_path / "shop")
    (project / "shown.txt").write_bytes(paste("python -m pytest -q -p no:randomly -p no:cacheprovider tests", project))
    said = call(project, "ingest", "--env", "server-like", "--attempt", "1", "--seed", "1", "shown.txt")
    assert said.code == 4
    assert "the ids of" in said.out
    assert "paritygate command server-like 1" in said.out
    judged = call(project, "classify", "server-like-1.json")
    assert judged.code == 4
    assert "no-verdict: `server-like` attempt 1 is not known in whole" in judged.out


def beside(project: Path, outcomes: dict[str, str]) -> Path:
    """Write the cells of an environment that ran here, under a probe."""
    cells = tuple(a_cell("local-like", attempt, outcomes, probe=a_probe(timezone="Asia/Shanghai")) for attempt in (1, 2))
    file = CellFile(
        schema=1,
        paritygate="0.1.0",
        subject=a_subject(),
        cells=cells,
        environments=(a_record("local-like", {"timezone": "Asia/Shanghai", "locale": "en_US.UTF-8", "worktree": "dirty"}),),
    )
    archive.write(file, project / "local.json")
    return project / "local.json"


def ingested(project: Path, file: str, *attempts: int) -> list[str]:
    for attempt in attempts:
        which = ("--env", "server-like", "--attempt", str(attempt), "--seed", str(SEEDS[attempt]))
        said = call(project, "ingest", *which, "--beside", "local.json", file)
        assert said.code == 0, said.err
    return [f"server-like-{attempt}.json" for attempt in attempts]


def test_a_pasted_environment_is_judged_beside_one_that_ran_here(tmp_path: Path) -> None:
    project = a_project(tmp_path / "shop")
    beside(project, OUTCOMES | {"tests/test_more.py::test_more": "failed"})
    paste("python -m pytest -q -p no:randomly -p no:cacheprovider --junitxml=j.xml -m 'not parity_exclude' tests", project)
    said = call(project, "classify", "local.json", *ingested(project, "j.xml", 1, 2), "--report", "r.json")
    report = archive.read(project / "r.json")
    assert said.code == 3, said.out
    (coupled,) = [each for each in report.tests if each.label == "coupling"]
    assert coupled.nodeid == "tests/test_more.py::test_more"
    varied = {each.axis.value: (each.varied, each.why) for each in report.axes}
    assert varied["timezone"] == (False, "of `server-like` as asked for, not measured")
    assert varied["worktree"] == (False, "nobody knows it of `server-like`")
    assert "`server-like` attempt 1 is taken from a JUnit XML of pytest's" in said.out
    assert "nobody has measured the environment" in said.out
    # What passes unexpectedly is no difference, though the XML calls it passed.
    assert not any("xpasses" in each.nodeid for each in report.tests if each.label != "consistent-green")


XML = """\
<testsuites><testsuite name="paritygate:server-like:{attempt}{measured}" tests="1" errors="0" failures="0" skipped="0">
<testcase classname="test_a" name="test_a" file="test_a.py" time="0.1"/></testsuite></testsuites>
"""
TERMINAL = "===== test session starts =====\nplatform linux -- Python 3.11.2, pytest-8.4.2\n{more}collected 1 item\n\n"
PASSED = "test_a.py::test_a PASSED [100%]\n===== 1 passed in 0.01s =====\n"
UTC = ";offsets=0,0;locale=C.UTF-8;encoding=UTF-8"


@pytest.mark.parametrize(
    ("measured", "code", "said", "axes"),
    [
        (UTC, 0, "parity over timezone, locale: 1 test in 4 cells", ["timezone", "locale"]),
        ("", 4, "no-verdict: all is green and equal, and of no axis is it known that it varied (timezone: of `server-like`", []),
        (";offsets=28800,28800;locale=C.UTF-8;encoding=UTF-8", 0, "parity over locale: 1 test in 4 cells", ["locale"]),
        (";offsets=0,0;locale=en_US.UTF-8;encoding=utf-8", 0, "parity over timezone: 1 test in 4 cells", ["timezone"]),
        (";offsets=28800,28800;locale=en_US.UTF-8;encoding=UTF-8", 4, "no-verdict: no axis varied", []),
    ],
)
def test_only_what_was_measured_counts_as_varied(measured: str, code: int, said: str, axes: list[str], tmp_path: Path) -> None:
    probe = a_probe(timezone="Asia/Shanghai", utcoffset_january=28800, utcoffset_july=28800, locale="en_US.UTF-8")
    cells = tuple(a_cell("local-like", attempt, {"test_a.py::test_a": "passed"}, probe=probe) for attempt in (1, 2))
    record = a_record("local-like", {"timezone": "Asia/Shanghai", "locale": "en_US.UTF-8", "worktree": "dirty"})
    file = CellFile(schema=1, paritygate="0.1.0", subject=a_subject(), cells=cells, environments=(record,))
    archive.write(file, tmp_path / "local.json")
    for attempt in (1, 2):
        (tmp_path / "j.xml").write_text(XML.format(attempt=attempt, measured=measured), encoding="utf-8")
        ingested(tmp_path, "j.xml", attempt)
    told = call(tmp_path, "classify", "local.json", "server-like-1.json", "server-like-2.json", "--report", "r.json")
    assert (told.code, told.out.splitlines()[0].startswith(said)) == (code, True), told.out
    report = archive.read(tmp_path / "r.json")
    assert [axis.value for axis in report.verdict.axes] == axes
    assert [axis.value for axis in report.verdict.unmeasured] == ([] if measured else ["timezone", "locale"])


@pytest.mark.parametrize(
    ("measured", "notes"),
    [
        ("offsets=0,0;locale=C.utf8;encoding=UTF-8", []),
        (
            "offsets=0,0;locale=C;encoding=ANSI_X3.4-1968",
            ["note: locale `C.UTF-8` was asked for, and it had `C`: is it generated there?"],
        ),
        (
            "offsets=-28800,-25200;locale=C.UTF-8;encoding=UTF-8",
            ["note: time zone `UTC` was asked for, and it was -8 and -7 h from UTC in January and July: is it known there?"],
        ),
    ],
)
def test_what_was_asked_for_and_not_had_is_said(measured: str, notes: list[str], tmp_path: Path) -> None:
    (tmp_path / "j.xml").write_text(XML.format(attempt=1, measured=f";seed=101;{measured}"), encoding="utf-8")
    said = call(tmp_path, "ingest", "--env", "server-like", "--attempt", "1", "--seed", "101", "j.xml")
    assert (said.code, [line for line in said.out.splitlines() if line.startswith("note: ")]) == (0, notes)
    judged = call(tmp_path, "classify", "server-like-1.json", "--report", "r.json")
    assert all(note.removeprefix("note: ") in " ".join(archive.read(tmp_path / "r.json").notes) for note in notes)
    assert judged.code == 4


def test_what_varied_is_kept_apart_from_what_nobody_measured(tmp_path: Path) -> None:
    cells = tuple(a_cell("local-like", attempt, {"test_a.py::test_a": "passed"}, probe=a_probe()) for attempt in (1, 2))
    record = a_record("local-like", {"timezone": "Asia/Shanghai", "locale": "en_US.UTF-8", "workers": "0"})
    file = CellFile(schema=1, paritygate="0.1.0", subject=a_subject(), cells=cells, environments=(record,))
    archive.write(file, tmp_path / "local.json")
    shown = TERMINAL.format(more="created: 2/2 workers\n2 workers [1 item]\n").replace("collected 1 item\n\n", "")
    (tmp_path / "shown.txt").write_text(f"{shown}\n[gw0] [100%] PASSED test_a.py::test_a \n===== 1 passed in 0.01s =====\n")
    told = call(tmp_path, "classify", "local.json", *ingested(tmp_path, "shown.txt", 1, 2))
    assert told.code == 0, told.out
    assert told.out.startswith("parity over workers (timezone, locale as asked for, not measured): 1 test in 4 cells")
    assert "unmeasured  timezone" in told.out
    call(tmp_path, "classify", "local.json", "server-like-1.json", "server-like-2.json", "--report", "r.json")
    shown_so = call(tmp_path, "report", "r.json", "--format", "markdown").out
    assert "Varied (`local-like | server-like`): `workers 0 | 2`\n" in shown_so
    assert "As asked for, not measured: `timezone`, `locale`\n" in shown_so


def test_only_before_pytest_begins_is_a_measurement_one(tmp_path: Path) -> None:
    line = f"paritygate measured {UTC[1:]}\n"
    for shown, found in ((line + TERMINAL.format(more="") + PASSED, True), (TERMINAL.format(more=line) + PASSED, False)):
        (tmp_path / "shown.txt").write_text(shown, encoding="utf-8")
        call(tmp_path, "ingest", "--env", "a", "--attempt", "1", "--seed", "1", "shown.txt")
        (cell,) = archive.read_cells(tmp_path / "a-1.json").cells
        assert cell.told is not None
        assert (cell.told.measured is not None) is found


def test_a_test_that_an_xml_does_not_tell_of_is_unknown_and_not_absent(tmp_path: Path) -> None:
    project = a_project(tmp_path / "shop")
    beside(project, OUTCOMES)
    paste("python -m pytest -x -q -p no:randomly -p no:cacheprovider --junitxml=j.xml -m 'not parity_exclude' tests", project)
    said = call(project, "classify", "local.json", *ingested(project, "j.xml", 1, 2))
    assert said.code == 4, said.out
    assert "could not be decided" in said.out


def test_a_test_that_only_a_pasted_cell_has_is_not_called_coupled(tmp_path: Path) -> None:
    project = a_project(tmp_path / "shop")
    beside(project, {name: outcome for name, outcome in OUTCOMES.items() if "more" not in name})
    paste("python -m pytest -q -p no:randomly -p no:cacheprovider -o junit_family=xunit1 --junitxml=j.xml tests", project)
    said = call(project, "classify", "local.json", *ingested(project, "j.xml", 1, 2), "--report", "r.json")
    assert said.code == 4, said.out
    labels = {each.nodeid: (each.label.value, each.note) for each in archive.read(project / "r.json").tests}
    for name in ("tests/test_more.py::test_more", "tests/test_more.py::test_out"):
        assert labels[NodeId(name)] == ("undecided", "only pasted cells tell of it: were they asked for the same tests?")
    assert "were they asked for the same tests?" in said.out


def test_colliding_ids_of_files_are_named_by_the_cells_beside(tmp_path: Path) -> None:
    project = a_project(tmp_path / "shop")
    beside(project, OUTCOMES)
    paste("python -m pytest -q -p no:randomly -p no:cacheprovider --junitxml=j.xml -m 'not parity_exclude' tests", project)
    alone = call(project, "ingest", "--env", "server-like", "--attempt", "1", "--seed", "1", "j.xml")
    assert alone.code == 4
    assert "--beside" in alone.out
    ingested(project, "j.xml", 1)
    (cell,) = archive.read_cells(project / "server-like-1.json").cells
    assert sorted(outcomes(cell)) == sorted(OUTCOMES)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--env", "a", "--attempt", "0", "--seed", "1", "x.txt"), "attempt"),
        (("--env", "a", "--attempt", "1", "x.txt"), "seed"),
        (("--env", "a", "--attempt", "1", "--seed", "1", "x.txt"), "nothing in it that pytest writes"),
        (("--env", "a", "--attempt", "1", "--seed", "1", "--format", "junit", "x.txt"), "no XML"),
        (("--env", "a", "--attempt", "1", "--seed", "1", "--format", "reportlog", "x.txt"), "no line of a report log"),
    ],
)
def test_what_cannot_be_is_a_usage_error(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("hello\n", encoding="utf-8")
    ended = call(tmp_path, "ingest", *arguments)
    assert ended.code == 64
    assert said in ended.err
    assert not (tmp_path / "a-1.json").exists()


def test_a_cell_that_is_pasted_goes_through_the_schema(tmp_path: Path) -> None:
    run = TestRun(nodeid=NodeId("t.py::a"), outcome=Outcome.PASSED)
    cell = a_cell("a", 1, runs=[run])
    assert msgspec.json.decode(msgspec.json.encode(cell), type=Cell) == cell
    assert cell.env == EnvironmentName("a")


def test_what_is_pasted_into_stdin_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = b"===== test session starts =====\r\ncollected 1 item\r\n\r\nt.py::a PASSED [100%]\r\n===== 1 passed in 1s =====\r\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(shown)))
    said = call(tmp_path, "ingest", "--env", "a", "--attempt", "1", "--seed", "1", "-")
    assert (said.code, said.err) == (0, "")
    assert said.out == "`a` attempt 1 from terminal: finished, 1 tests known, 0 red\ncell: a-1.json\n"
