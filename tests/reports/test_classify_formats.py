"""`paritygate classify` tells what it made in the formats that `run` has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from paritygate.reports.formats import Format
from tests.support.command_line import call

BEGINS = {
    Format.TERMINAL: "nondeterminism: ",
    Format.HTML: "<!DOCTYPE html>",
    Format.MARKDOWN: "## ",
    Format.GITHUB: "nondeterminism: ",
    Format.JUNIT: "<?xml ",
    Format.JSON: '{"verdict": "nondeterminism",',
}


@pytest.mark.parametrize("form", Format)
def test_every_format_is_there(written: Path, form: Format) -> None:
    said = call(written.parent, "classify", written.name, "--format", form.value)
    assert said.code == 2
    assert said.out.startswith(BEGINS[form]), said.out[:200]
    assert said.err == ""


def test_json_names_the_report_that_was_written_and_a_page_may_go_beside_it(written: Path) -> None:
    said = call(written.parent, "classify", written.name, "--json", "--report", "made.json", "--html", "made.html")
    assert json.loads(said.out)["report"] == "made.json"
    assert said.err == "report: made.json\npage: made.html\n"
    assert (written.parent / "made.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_quiet_says_nothing_but_the_answer(written: Path) -> None:
    said = call(written.parent, "classify", written.name, "-q", "--json", "--report", "made.json")
    assert (said.code, said.err) == (2, "")
    assert (written.parent / "made.json").is_file()


def test_a_page_over_the_report_is_refused(written: Path) -> None:
    said = call(written.parent, "classify", written.name, "--report", "made.json", "--html", "made.json")
    assert said.code == 4
    assert "`--html" in said.err


def test_what_cannot_be_classified_is_told_in_json_too(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    said = call(tmp_path, "classify", "other.json", "--json")
    assert said.code == 64
    assert json.loads(said.out)["exit_code"] == 64
