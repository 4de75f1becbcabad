"""The command: its exit codes, its formats, what may be said against a hazard, and what it reads."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
import pytest

from paritygate.cli.commands import program
from paritygate.hazards import ruff
from paritygate.hazards.catalogue import CATALOGUE
from paritygate.outcomes.hazards import HazardKind
from paritygate.reports.hazards import SCHEMA, Document
from tests.hazards.conftest import Project

TODAY = "from datetime import date\n\n\ndef test_a():\n    assert invoice() == date.today(){}\n"


def test_nothing_found_is_0_and_something_is_1(project: Project) -> None:
    project.write("tests/test_a.py", "def test_a():\n    assert True\n")
    assert project.code() == 0
    project.write("tests/test_b.py", TODAY.format(""))
    assert project.code() == 1


def test_a_hazard_is_said_with_its_place_why_and_what_instead(project: Project) -> None:
    project.write("tests/test_a.py", TODAY.format(""))
    advice = CATALOGUE[HazardKind.CLOCK_IN_ASSERTION]
    result = project.ask()
    assert result.stdout == (
        f"clock-in-assertion: {advice.why}\n  instead: {advice.instead}\n"
        "  tests/test_a.py:5:25: the test expects `date.today()` of something that was not given it\n"
    )
    assert result.stderr == "1 hazard in 1 file read\n"


def test_json_is_the_whole_of_it_and_nothing_else_on_stdout(project: Project) -> None:
    project.write("tests/test_é.py", TODAY.format(""))
    project.write("tests/test_b.py", "def test_b(:\n")
    document = project.document()
    assert (document.schema, document.read, document.ruff) == (SCHEMA, 1, True)
    assert document.unread == {"tests/test_b.py": "line 1: invalid syntax"}
    only = document.hazards[0]
    assert (only.file, only.line, only.column, only.function) == ("tests/test_é.py", 5, 25, "test_a")
    assert only.why
    assert only.instead
    assert json.loads(project.ask("--format", "json").stdout)["hazards"][0]["kind"] == "clock-in-assertion"


def test_what_is_not_sure_is_counted_and_blocks_only_where_it_is_asked_for(project: Project) -> None:
    project.write("tests/test_a.py", "import os\n\n\ndef test_a():\n    del os.environ['MODE']\n")
    result = project.ask()
    assert (result.stdout, result.stderr) == ("", "0 hazards in 1 file read, 1 more that may be one (`--all` lists it)\n")
    assert (project.code(), project.code("--all")) == (0, 1)
    asked = project.ask("--all")
    assert "tests/test_a.py:5:5: " in asked.stdout
    assert asked.stderr == "1 hazard in 1 file read\n"
    assert json.loads(project.ask("--format", "json", "--all").stdout)["hazards"][0]["sure"] is False


def test_annotations_are_escaped_as_github_reads_them(project: Project) -> None:
    project.write("tests/test_a,b:c%.py", TODAY.format(""))
    line = project.ask("--format", "github").stdout
    assert line.startswith("::error file=tests/test_a%2Cb%3Ac%25.py,line=5,col=25,title=clock-in-assertion::the test expects")
    assert line.count("\n") == 1


def test_more_annotations_than_github_shows_are_counted(project: Project) -> None:
    for number in range(12):
        project.write(f"tests/test_{number:02}.py", TODAY.format(""))
    lines = project.ask("--format", "github").stdout.splitlines()
    assert len(lines) == 10
    assert lines[-1] == "::error title=hazards::3 more hazards; `paritygate hazards` lists them all"


@pytest.mark.parametrize(
    "said",
    [
        "  # paritygate: allow[clock-in-assertion] the day is what this is about",
        "  # paritygate:allow[ clock-in-assertion , set-order ] - why not",
    ],
)
def test_a_reason_lets_a_hazard_be(project: Project, said: str) -> None:
    project.write("tests/test_a.py", TODAY.format(said))
    assert project.code() == 0
    suppressed = project.document().suppressed
    assert [each.reason for each in suppressed] == [said.partition("]")[2].strip(" -")]
    assert project.ask().stderr == "0 hazards in 1 file read, 1 let be with a reason\n"


def test_a_reason_may_stand_alone_above_the_line_or_for_the_file(project: Project) -> None:
    above = "    # paritygate: allow[clock-in-assertion] meant\n    # and more\n"
    project.write("tests/test_a.py", TODAY.format("").replace("    assert", f"{above}    assert"))
    project.write("tests/test_b.py", "# paritygate: allow-file[clock-in-assertion] all of this is meant\n" + TODAY.format(""))
    assert project.found() == []


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("allow[clock-in-assertion]", "the suppression gives no reason"),
        ("allow meant", "the suppression names no kind of hazard"),
        ("allow[] meant", "the suppression names no kind of hazard"),
        ("allow[clock-in-asertion] meant", "there is no hazard `clock-in-asertion`; did you mean `clock-in-assertion`?"),
        ("alow[clock-in-assertion] meant", "`alow` is no word for a suppression; did you mean `allow`?"),
        ("allow[suppression] meant", "there is no hazard `suppression`"),
    ],
)
def test_a_suppression_that_does_not_count_is_a_finding_and_lets_nothing_be(project: Project, said: str, problem: str) -> None:
    project.write("tests/test_a.py", TODAY.format(f"  # paritygate: {said}"))
    hazards = project.document().hazards
    assert [each.kind for each in hazards] == ["clock-in-assertion", "suppression"]
    assert hazards[1].what.startswith(problem)


@pytest.mark.parametrize(
    ("kind", "first", "second"),
    [
        ("variable-write", "os.environ['MODE'] = 'x'", "os.environ['MODE'] = 'y'"),
        ("fixed-temporary-path", "open('/tmp/one', 'w')", "open('/tmp/one', 'a')"),
    ],
)
def test_a_reason_for_the_first_of_two_is_none_for_the_second(project: Project, kind: str, first: str, second: str) -> None:
    test, reason = "import os\n\n\ndef test_a():\n    {}{}\n    {}{}\n", f"  # paritygate: allow[{kind}] meant"
    said = {}
    for place, texts in {"none": ("", ""), "first": (reason, ""), "second": ("", reason), "both": (reason, reason)}.items():
        project.write("tests/test_a.py", test.format(first, texts[0], second, texts[1]))
        document = project.document("--without-ruff")
        said[place] = ([each.line for each in document.hazards], [each.hazard.line for each in document.suppressed])
    assert said == {"none": ([5], []), "first": ([6], [5]), "second": ([5], [6]), "both": ([], [5, 6])}


def test_what_only_may_be_a_hazard_hides_no_sure_one_of_the_same_variable(project: Project) -> None:
    removes, sets = "def test_a():\n    del os.environ['MODE']\n", "def test_b():\n    os.environ['MODE'] = 'x'\n"
    project.write("tests/test_a.py", f"import os\n{removes}{sets}")
    assert project.found() == ["5 variable-write"]
    assert project.found("--all") == ["5 variable-write"]


def test_what_looks_like_a_suppression_in_a_string_is_a_string(project: Project) -> None:
    project.write("tests/test_a.py", "TEXT = '''\n# paritygate: allow[nothing]\n'''\n")
    assert project.found() == []


def test_without_ruff_only_our_own_checks_are_made_and_it_is_said(project: Project) -> None:
    project.write("tests/test_a.py", "from datetime import date\ndef test_a():\n    assert date.today().year == 2026\n")
    assert project.found() == ["3 naive-clock"]
    document = project.document("--without-ruff")
    assert (document.hazards, document.ruff) == ((), False)


def test_where_ruff_is_missing_nothing_is_called_clean(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda _name: "/nowhere")
    monkeypatch.setenv("PATH", str(Path(os.devnull)))
    assert project.code() == 4
    assert "hint: `pip install 'paritygate[hazards]'`, or leave them out with `--without-ruff`" in capsys.readouterr().err


def test_a_ruff_that_fails_is_no_verdict(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = project.path.parent / "bin"
    folder.mkdir()
    (folder / "ruff").write_text("#!/bin/sh\necho 'ruff failed' >&2\nexit 2\n", encoding="utf-8")
    (folder / "ruff").chmod(0o755)
    monkeypatch.setattr("sysconfig.get_path", lambda _name: str(folder))
    project.write("tests/test_a.py")
    assert project.code() == 4
    assert "could not look for hazards: ruff failed" in capsys.readouterr().err


def test_ruff_has_every_rule_that_is_asked_of_it(project: Project) -> None:
    found = ruff.find(dict(os.environ))
    assert found is not None
    project.write("a.py", "import datetime\nopen('x')\ndatetime.datetime.now()\n")
    words = ruff.look(found, project.path, ["a.py"])
    assert {each.code for each in words["a.py"]} == {"PLW1514", "DTZ005"}


def test_no_configuration_of_ruff_is_asked(project: Project) -> None:
    project.write("ruff.toml", "lint.per-file-ignores = {'*' = ['ALL']}\nexclude = ['*']\n")
    project.write("tests/test_a.py", "from datetime import date\ndef test_a():\n    assert date.today().year == 2026\n")
    assert project.found() == ["3 naive-clock"]


def test_by_default_tests_and_packages_are_read_and_what_lies_about_is_not(project: Project) -> None:
    for path in (
        *(
            "tests/test_a.py",
            "tests/conftest.py",
            "tests/helpers.py",
            "shop/__init__.py",
            "shop/deep/__init__.py",
            "shop/deep/a.py",
        ),
        *("src/other/__init__.py", "single.py", "shop/tests/test_b.py"),
    ):
        project.write(path)
    for path in (
        *("docs/conf.py", "setup.py", "noxfile.py", "examples/__init__.py", "examples/a.py", "loose/a.py", "tools/__init__.py"),
        *("tests/data/broken.py", "build/made.py", "ignored/test_c.py", "shop/_vendor/a.py", "shop/_vendor/__init__.py"),
    ):
        project.write(path, "broken(\n")
    project.write(".gitignore", "build\nignored\n")
    project.commit()
    document = project.document()
    assert (document.read, document.unread) == (9, {})


def test_a_named_path_is_read_whatever_it_is(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("docs/conf.py", "from time import strftime\nlabel = strftime('%x')\n")
    project.write("tests/test_a.py", TODAY.format(""))
    monkeypatch.chdir(project.path)
    assert project.document("docs").read == 1
    assert project.document("docs/conf.py", "tests").read == 2
    assert project.document(".").read == 2


def test_a_path_outside_the_project_or_that_is_not_there_is_a_usage_error(project: Project, tmp_path: Path) -> None:
    (tmp_path / "other.py").touch()
    assert project.code(str(tmp_path / "other.py")) == 64
    result = project.ask("nowhere.py")
    assert result.exception is not None
    assert "nowhere.py" in str(result.exception)


def test_a_project_without_git_is_read_all_the_same(tmp_path: Path) -> None:
    plain = Project(tmp_path)
    (tmp_path / ".git").rename(tmp_path / "git-no-more")
    plain.write("tests/test_a.py", TODAY.format(""))
    assert plain.found() == ["5 clock-in-assertion"]


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe",
        b"# coding: nonsense\n",
        b"x = '\0'\n",
        b"x = " + b"(" * 5000 + b")" * 5000,
        b"x = " + b"-" * 100_000 + b"1",
        b"#" * 2_000_001,
    ],
)
def test_a_file_that_python_cannot_read_is_named_and_stops_nothing(project: Project, content: bytes) -> None:
    project.write("tests/test_a.py", content)
    project.write("tests/test_b.py", TODAY.format(""))
    document = project.document()
    assert list(document.unread) == ["tests/test_a.py"]
    assert len(document.hazards) == 1


def test_where_no_file_could_be_read_nothing_is_called_clean(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.write("tests/test_a.py", "def test_a(:\n")
    project.write("tests/test_b.py", "def test_b(:\n")
    for words, said in (((), "could not read any of 2 files"), ((str(project.path / "tests/test_a.py"),), "the only file")):
        assert project.code(*words) == 4
        err = capsys.readouterr().err
        assert "not read: tests/test_a.py: line 1: invalid syntax" in err
        assert said in err
        assert "hint: mend what is said above, or name other files" in err
    assert project.code("--format", "json") == 4
    assert list(json.loads(capsys.readouterr().out)["unread"]) == ["tests/test_a.py", "tests/test_b.py"]


def test_where_there_is_no_python_file_nothing_is_called_clean(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.write("notes/a.txt")
    assert project.code() == 4
    assert f"there is no Python file among tests and packages of `{project.path}`" in capsys.readouterr().err
    assert project.code(str(project.path / "notes")) == 4
    assert "there is no Python file in what was named\nhint: name files or folders" in capsys.readouterr().err


def test_a_file_that_was_not_read_is_counted_beside_those_that_were(project: Project) -> None:
    project.write("tests/test_a.py", "def test_a():\n    assert True\n")
    project.write("tests/test_b.py", "def test_b(:\n")
    result = project.ask()
    assert result.stderr == "not read: tests/test_b.py: line 1: invalid syntax\n0 hazards in 1 file read, 1 not read\n"
    assert project.code() == 0


def test_columns_count_characters_and_other_encodings_are_read(project: Project) -> None:
    line = "from datetime import date\ndef test_a():\n    'äöü'; assert invoice() == date.today()\n"
    project.write("tests/test_a.py", f"# coding: latin-1\n{line}".encode("latin-1"))
    project.write("tests/test_b.py", f"\ufeff{line}".replace("\n", "\r\n"))
    assert [(each.file, each.line, each.column) for each in project.document().hazards] == [
        ("tests/test_a.py", 4, 32),
        ("tests/test_b.py", 3, 32),
    ]


def test_every_kind_has_its_advice() -> None:
    assert set(CATALOGUE) == set(HazardKind)


def test_the_command_is_one_of_the_programs() -> None:
    assert "hazards" in program.commands
    assert msgspec.json.schema(Document)
