"""What the command line makes of its words, and what is settled from them."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from paritygate import archive
from paritygate.cli.commands import program
from paritygate.cli.options import RunOptions
from paritygate.cli.user import absolute, code_of
from paritygate.config.file import Overrides
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import UnrecordedError, UsageError
from paritygate.gate.last_time import FIRST_ESTIMATE, estimate, read
from paritygate.gate.request import Request, World
from paritygate.gate.settled import settle
from paritygate.outcomes.artifact import Verdict
from paritygate.outcomes.words import ExitCode, VerdictName
from tests.support.builders import an_artifact
from tests.support.command_line import call

OPTIONS = RunOptions(
    selection=(),
    keyword="",
    marker="",
    arguments=(),
    project=".",
    environments=(),
    without_axes=(),
    attempts=None,
    seeds=(),
    timeout=None,
    explain_budget=None,
    ledger_from="",
    respect_pins=False,
    changed=None,
    report=None,
    host="",
    runner=None,
    quiet=False,
)


def no_engine() -> Engine:
    raise AssertionError


WORLD = World(
    connect=no_engine,
    variables={},
    version="0.1.0",
    now=lambda: datetime.now(UTC),
    monotonic=lambda: 0.0,
    sleep=lambda _seconds: None,
    say=lambda _line: None,
    watch=lambda _progress: None,
)


def test_the_option_is_relative_to_where_the_user_is_and_the_setting_to_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "here").mkdir()
    (tmp_path / "project" / "paritygate.toml").write_text("report = 'set.json'\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "here")
    given = msgspec.structs.replace(OPTIONS, project="../project", report="../here/given.json").request()
    assert settle(given, WORLD).report == tmp_path / "here" / "given.json"
    assert settle(msgspec.structs.replace(given, overrides=Overrides()), WORLD).report == tmp_path / "project" / "set.json"


@pytest.mark.parametrize("report", ["", "folder/"])
def test_a_report_without_a_name_is_refused(report: str) -> None:
    with pytest.raises(UsageError, match="`--report` expects the path of a file"):
        msgspec.structs.replace(OPTIONS, report=report).request()


def test_a_folder_that_is_gone_is_no_place_to_start_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match="the folder from which this was started is gone"):
        absolute("r.json")


@pytest.mark.parametrize("report", ["/dev/zero", "nothing", "."])
def test_an_old_report_is_no_longer_asked_than_a_file_can_answer(tmp_path: Path, report: str) -> None:
    assert estimate(read(tmp_path / report), 1800.0) == FIRST_ESTIMATE


@pytest.mark.parametrize(("content", "seconds"), [(b"{}", 900.0), (b'{"timings": {"cells": 100.0, "confirm": 20.0}}', 180.0)])
def test_the_next_run_is_expected_to_take_half_as_long_again(tmp_path: Path, content: bytes, seconds: float) -> None:
    (tmp_path / "r.json").write_bytes(content)
    assert estimate(read(tmp_path / "r.json"), 1800.0) == seconds


def test_words_that_no_report_could_hold_are_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not UTF-8"):
        settle(Request(project=tmp_path, keyword="\udcff"), WORLD)


def test_an_option_for_pytest_without_its_value_is_refused_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="`-k` needs a value"):
        settle(Request(project=tmp_path, overrides=Overrides(selection=("-k",))), WORLD)


@pytest.mark.parametrize(
    ("verdict", "code"),
    [(ExitCode.PARITY, 4), (ExitCode.CONSISTENT_RED, 4), (ExitCode.COUPLING, 4), (ExitCode.NO_VERDICT, 4), (ExitCode.REFUSED, 5)],
)
def test_a_verdict_on_no_record_is_worth_4_at_least(verdict: ExitCode, code: int) -> None:
    artifact = an_artifact(verdict=Verdict(name=VerdictName.PARITY, exit_code=verdict, axes=(), line=""))
    assert code_of(artifact, None) == verdict
    assert code_of(artifact, UnrecordedError("cannot write `r.json`: No space left on device")) == code


def test_every_option_that_the_program_knows_is_in_its_help() -> None:
    shown = CliRunner().invoke(program, ["run", "--help"]).output
    known = (
        "--project",
        "--env",
        "--attempts",
        "--seed",
        "--timeout",
        "--report",
        "--host",
        "--quiet",
        "--debug",
        "--pytest-arg",
    )
    assert [option for option in known if option not in shown] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "--bogus"), "paritygate: there is no option `--bogus`\n"),
        (("run", "--repot", "r"), "paritygate: there is no option `--repot`; did you mean `--report`?\n"),
        (("rum",), "paritygate: there is no command `rum`; did you mean `run`?\n"),
        (("bogus",), "paritygate: there is no command `bogus`\n"),
        (("freeze", "lits"), "paritygate: there is no command `lits`; did you mean `list`?\n"),
    ],
)
def test_only_what_is_really_near_is_guessed(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    ended = call(tmp_path, *arguments)
    assert (ended.code, ended.err.startswith(said)) == (ExitCode.USAGE, True), ended.err


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        (("explain", "some.json"), "report"),
        (("repro", "some.json", "t.py::test"), "report"),
        (("repro", "some.json", "t.py::test", "--print"), "report"),
        (("classify", "some.json"), "report or cell file"),
        (
            (
                "freeze",
                "add",
                "t.py::test",
                "--owner=me",
                "--reason=x",
                f"--expires={datetime.now(UTC).date() + timedelta(30)}",
                "--evidence=some.json",
            ),
            "report",
        ),
    ],
)
def test_a_file_that_is_no_report_is_said_to_be_none_by_every_command_that_takes_one(
    tmp_path: Path, arguments: tuple[str, ...], kind: str
) -> None:
    (tmp_path / "some.json").write_text('{"name": "package"}', encoding="utf-8")
    ended = call(tmp_path, *arguments)
    wanted = "give a `parity_report.json` or a cell file" if "cell" in kind else "give the `parity_report.json` that"
    assert ended.code == ExitCode.USAGE
    assert ended.err.startswith(f"paritygate: `some.json` is no {kind} of paritygate: `schema` is missing\nhint: {wanted}"), (
        ended.err
    )


def test_a_report_is_named_as_the_user_would(tmp_path: Path) -> None:
    archive.write(an_artifact(), tmp_path / "r.json")
    ended = call(tmp_path, "explain", "r.json")
    assert "report: r.json\n" in ended.err


BURNS = """
import contextlib, logging
from paritygate.cli.main import main
with contextlib.suppress(SystemExit):
    main({arguments})
logging.getLogger("paritygate.engine").warning("it burns")
logging.getLogger("paritygate.engine").info("it smells")
"""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["schema"], "warning: it burns\n"), (["schema", "--debug"], "paritygate.engine: it burns\nparitygate.engine: it smells\n")],
)
def test_which_module_speaks_is_told_to_who_asks_for_the_log(arguments: list[str], said: str) -> None:
    program = [sys.executable, "-c", BURNS.format(arguments=arguments)]
    done = subprocess.run(program, capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr.endswith(said)
    assert "--debug" in arguments or done.stderr == said
