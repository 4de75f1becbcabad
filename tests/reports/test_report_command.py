"""`paritygate report` through the real command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from zipfile import ZipFile

import pytest

from paritygate import archive
from paritygate.cli.main import main
from paritygate.cli.options import RunOptions
from paritygate.cli.reporting import OPTIONS, Telling, answer, telling, told
from paritygate.cli.user import Streams
from paritygate.errors import NoVerdictError, UsageError
from paritygate.gate.request import Report
from paritygate.outcomes.artifact import Artifact
from paritygate.reports.formats import Format
from paritygate.snapshot.survey import OWN
from tests.support.command_line import call

REPOSITORY = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("option", "begins"),
    [
        ((), "nondeterminism: 1 test"),
        (("--format", "terminal"), "nondeterminism: 1 test"),
        (("--html",), "<!DOCTYPE html>"),
        (("--format", "html"), "<!DOCTYPE html>"),
        (("--format", "markdown"), "## \N{GAME DIE} nondeterminism (exit 2)"),
        (("--format", "github"), "nondeterminism: 1 test"),
        (("--format", "junit"), '<?xml version="1.0" encoding="UTF-8"?>'),
        (("--format", "json"), '{"verdict": "nondeterminism"'),
        (("--json",), '{"verdict": "nondeterminism"'),
    ],
    ids=str,
)
def test_a_report_is_told_in_the_format_that_is_asked_for(written: Path, option: tuple[str, ...], begins: str) -> None:
    said = call(written.parent, "report", written.name, *option)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(begins)


def test_it_goes_into_a_file_that_is_named(written: Path) -> None:
    said = call(written.parent, "report", written.name, "--html", "--output", "page.html")
    assert (said.code, said.out) == (0, "")
    assert said.err == "html: page.html\n"
    assert (written.parent / "page.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_commands_in_a_report_name_it_from_where_the_user_is(written: Path) -> None:
    below = written.parent / "below"
    below.mkdir()
    brief = json.loads(call(written.parent, "report", written.name, "--json").out)
    assert brief["problems"][0]["reproduce"].startswith("paritygate repro parity_report.json tests/")
    elsewhere = json.loads(call(below, "report", f"../{written.name}", "--json").out)
    assert elsewhere["problems"][0]["reproduce"].startswith("paritygate repro ../parity_report.json tests/")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--json", "--format", "html"), "`--json` and `--format html` exclude each other"),
        (("--html", "--json"), "`--html` and another format exclude each other"),
        (("--output", "parity_report.json"), "`--output parity_report.json` would overwrite the report itself"),
        (("--output", "nowhere/page.html"), "cannot write"),
        (("--output", ""), "`--output` expects the path of a file, not ``"),
        (("--format", "pdf"), "invalid value for `--format`"),
    ],
    ids=str,
)
def test_what_cannot_be_is_a_usage_error(written: Path, options: tuple[str, ...], message: str) -> None:
    before = written.read_bytes()
    said = call(written.parent, "report", written.name, *options)
    assert said.code == 64
    assert said.err.startswith(f"paritygate: {message}")
    assert written.read_bytes() == before


def test_what_is_no_report_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text("[]", encoding="utf-8")
    assert call(tmp_path, "report", "r.json").code == 64
    assert call(tmp_path, "report", ".").code == 64


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("report",), "parity_report.json"),
        (("verify",), "parity_report.json"),
        (("explain",), "parity_report.json"),
        (("report", "gone.json"), "gone.json"),
        (("repro", "gone.json", "tests/test_a.py::test_a"), "gone.json"),
    ],
    ids=" ".join,
)
def test_where_there_is_no_report_it_is_said_what_writes_one(tmp_path: Path, words: tuple[str, ...], name: str) -> None:
    said = call(tmp_path, *words)
    hint = "`paritygate run` writes one, by itself as `parity_report.json`"
    assert (said.code, said.out, said.err) == (64, "", f"paritygate: there is no report `{name}`\nhint: {hint}\n")


@pytest.mark.parametrize(
    ("words", "code"),
    [(("report",), 0), (("verify", "--without-checkout"), 0), (("explain", "--explain-budget", "0"), 2)],
    ids=str,
)
def test_the_last_report_need_not_be_named(written: Path, words: tuple[str, ...], code: int) -> None:
    named = call(written.parent, words[0], written.name, *words[1:])
    assert call(written.parent, *words) == named
    assert named.code == code


def given(**changes: object) -> dict[str, object]:
    return dict.fromkeys(OPTIONS) | {"as_json": False} | changes


def test_a_run_takes_the_same_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert telling(given()) == Telling()
    assert telling(given(as_json=True)) == Telling(form=Format.JSON)
    assert telling(given(form="github", html="p.html")) == Telling(form=Format.GITHUB, html=tmp_path / "p.html")
    with pytest.raises(UsageError, match="exclude each other"):
        telling(given(form="github", as_json=True))
    with pytest.raises(UsageError, match="there is no folder"):
        telling(given(html="nowhere/p.html"))
    assert not set(OPTIONS) & set(RunOptions.__struct_fields__)


def test_a_run_writes_its_page_and_says_where(
    rich: Artifact, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    report = Report(rich, tmp_path / "parity_report.json")
    archive.write(rich, report.path)
    assert answer(report, Streams(), Telling(form=Format.JSON, html=tmp_path / "p.html"), quiet=False) == 2
    said = capsys.readouterr()
    assert json.loads(said.out)["report"] == "parity_report.json"
    assert said.err == "report: parity_report.json\npage: p.html\n"
    assert "</html>" in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_a_page_that_cannot_be_written_is_worth_4_at_least(
    rich: Artifact, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder").mkdir()
    report = Report(rich, tmp_path / "parity_report.json")
    for place in ("folder", "parity_report.json"):
        assert answer(report, Streams(), Telling(form=Format.JSON, html=tmp_path / place), quiet=True) == 4
        assert "paritygate: " in capsys.readouterr().err


def test_a_run_that_came_to_nothing_says_so_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NoVerdictError), told(Telling(form=Format.JSON)):
        raise NoVerdictError("no engine answers", "start one")
    brief = json.loads(capsys.readouterr().out)
    assert (brief["verdict"], brief["exit_code"], brief["line"], brief["todo"]) == ("", 4, "no engine answers", ["start one"])
    with pytest.raises(NoVerdictError), told(Telling()):
        raise NoVerdictError("no engine answers")
    assert capsys.readouterr().out == ""


def test_json_of_a_refused_run_comes_through_the_whole_command_line(tmp_path: Path) -> None:
    (tmp_path / "paritygate.toml").write_text("attempts = 'two'\n", encoding="utf-8")
    said = call(tmp_path, "run", "--json")
    assert json.loads(said.out)["exit_code"] == said.code == 64


def test_every_format_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("report", "run"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        shown = capsys.readouterr().out
        assert [form for form in Format if form.value not in shown] == []


def test_the_wheel_carries_what_the_page_is_made_of(tmp_path: Path) -> None:
    hatchling = pytest.importorskip("hatchling.build")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(REPOSITORY)
        name = hatchling.build_wheel(str(tmp_path))
    with ZipFile(tmp_path / name) as wheel:
        held = set(wheel.namelist())
    assert {f"paritygate/reports/html/assets/{file}" for file in ("page.html", "page.css", "page.js")} <= held


def test_what_is_told_of_the_names_of_reports_is_so() -> None:
    text = (REPOSITORY / "docs" / "reports.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"^Files named `parity_report.json`, (.*?) in the project", text, re.MULTILINE)
    endings = {"json", *re.findall(r"`\.([a-z]+)`", sentence)}
    assert {f"{name}.{ending}" for name in ("parity_report", "parity_sweep") for ending in endings} == set(OWN)
