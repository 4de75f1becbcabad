"""`paritygate init` on real folders: what it sees, what it proposes, and that it destroys nothing."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paritygate.config import file as config_file
from paritygate.outcomes.words import ExitCode
from paritygate.proposal.proposing import _appended, _only_added
from tests.support.command_line import call, commit
from tests.support.patches import write

PYPROJECT = """\
# Everything of ours.
[project]
name = "shop"   # as on the sign
version = "1"
requires-python = ">=3.11"

[tool.pytest.ini_options]
testpaths = ["tests", "checks"]
markers = ["network: needs a network", "slow", "gpu(kind): needs one"]

[tool.other]
list = [
  1,  # one
]
"""
NOXFILE = """\
import nox


@nox.session
def lint(session):
    session.run("ruff")  # all of it
"""


def laid_out(folder: Path, **files: str) -> Path:
    for name, text in {"tests/test_shop.py": "def test_it():\n    pass\n", **files}.items():
        write(folder, name, text)
    return commit(folder, new=True)


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


def test_a_pyproject_gets_a_table_at_its_end_and_keeps_every_byte(tmp_path: Path) -> None:
    project = laid_out(tmp_path, **{"pyproject.toml": PYPROJECT, "checks/test_more.py": ""})
    said = call(project, "init", "--yes")
    assert (said.code, said.err) == (0, "")
    text = (project / "pyproject.toml").read_text(encoding="utf-8")
    assert text.startswith(PYPROJECT)
    table = tomllib.loads(text)["tool"]["paritygate"]
    assert table == {
        "selection": ["tests", "checks"],
        "test-timeout": 300,
        "exclude": {"network": "needs a network", "gpu": "needs a GPU"},
    }
    assert config_file.load(project).source == "pyproject.toml [tool.paritygate]"
    assert "added to pyproject.toml\nwrote noxfile.py\n" in said.out
    assert "tests    2 files in checks/, tests/; pytest is configured in pyproject.toml" in said.out


def test_a_second_time_there_is_nothing_to_write(tmp_path: Path) -> None:
    project = laid_out(tmp_path, **{"pyproject.toml": PYPROJECT, "checks/test_more.py": ""})
    call(project, "init", "--yes")
    before = files_of(project)
    said = call(project, "init", "--yes")
    assert said.code == 0
    assert "configured already: `pyproject.toml [tool.paritygate]`" in said.out
    assert "nothing to write" in said.out
    assert files_of(project) == before


def test_without_a_pyproject_there_is_a_file_of_its_own(tmp_path: Path) -> None:
    project = laid_out(tmp_path, **{"tox.ini": "[pytest]\nmarkers =\n  docker: needs one\n  quick\n"})
    assert call(project, "init", "--yes").code == 0
    loaded = config_file.load(project)
    assert loaded.source == "paritygate.toml"
    assert loaded.settings.selection == ("tests",)
    assert loaded.settings.exclude == {"docker": "needs a Docker engine"}


def test_a_noxfile_keeps_its_sessions_and_gets_one_with_the_imports_that_it_lacks(tmp_path: Path) -> None:
    project = laid_out(tmp_path, **{"noxfile.py": NOXFILE})
    call(project, "init", "--yes")
    text = (project / "noxfile.py").read_text(encoding="utf-8")
    assert text.startswith(NOXFILE)
    assert text.count("import nox") == 1
    listed = subprocess.run((sys.executable, "-m", "nox", "--list"), cwd=project, capture_output=True, text=True, check=True)
    assert "* lint" in listed.stdout
    assert "parity -> Run the parity gate" in listed.stdout


def test_the_session_ends_with_the_code_of_the_gate(tmp_path: Path) -> None:
    project = laid_out(tmp_path)
    call(project, "init", "--yes")
    program = tmp_path / "bin" / "paritygate"
    write(tmp_path, "bin/paritygate", "#!/bin/sh\necho asked: $*\nexit 3\n")
    program.chmod(0o755)
    ended = subprocess.run(
        (sys.executable, "-m", "nox", "-s", "parity", "--", "-k", "shop"),
        cwd=project,
        env={"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 3, ended.stderr
    assert "asked: run -k shop" in ended.stdout


@pytest.mark.parametrize("options", [("--dry-run",), ()], ids=["only to be shown", "nobody to ask"])
def test_nothing_is_written_without_consent(tmp_path: Path, options: tuple[str, ...]) -> None:
    project = laid_out(tmp_path, **{"pyproject.toml": PYPROJECT})
    before = files_of(project)
    said = call(project, "init", *options)
    assert said.code == (0 if options else ExitCode.USAGE)
    assert "  | [tool.paritygate]" in said.out
    assert files_of(project) == before


def test_what_is_no_project_of_pytests_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "notes/plan.txt", "")
    said = call(tmp_path, "init", "--yes")
    assert said.code == ExitCode.USAGE
    assert "no file is called `test_*.py` or `*_test.py`, and nothing configures pytest" in said.err
    assert "`--project DIR`" in said.err
    assert files_of(tmp_path) == {"notes/plan.txt": b""}


def test_a_noxfile_that_is_no_python_is_named(tmp_path: Path) -> None:
    project = laid_out(tmp_path, **{"noxfile.py": "def (:\n"})
    before = files_of(project)
    said = call(project, "init", "--yes")
    assert said.code == ExitCode.USAGE
    assert "`noxfile.py`" in said.err
    assert files_of(project) == before


def test_a_pyproject_with_an_inline_tool_table_is_left_alone(tmp_path: Path) -> None:
    project = laid_out(tmp_path, **{"pyproject.toml": "tool = { other = { x = 1 } }\n"})
    said = call(project, "init", "--yes")
    assert said.code == ExitCode.USAGE
    assert "write `paritygate.toml`" in said.err


def test_environments_and_hidden_folders_are_not_taken_for_the_project(tmp_path: Path) -> None:
    project = laid_out(
        tmp_path, **{"env3/pyvenv.cfg": "", "env3/lib/test_far.py": "", ".hidden/test_x.py": "", "node_modules/test_y.py": ""}
    )
    assert "tests    1 file in tests/" in call(project, "init", "--dry-run").out


@given(
    before=st.sampled_from(["", "a = 1", "[tool.x]\ny = 2\n", "[tool]\nx = 1\n", "[[a.b]]\nc = 1\n\n", "tool.x.y = 1\n"]),
    end=st.sampled_from(["\n", "\r\n"]),
)
def test_whatever_a_document_holds_it_means_the_same_with_the_table(before: str, end: str) -> None:
    after = _appended(before.replace("\n", end), "[tool.paritygate]\nselection = []\n")
    assert after.startswith(before.replace("\n", end))
    assert _only_added(before, after)
    assert not _only_added(f"{before}{end}other = 1{end}", after)


@pytest.mark.parametrize("decorated", ['@session(name="parity")', '@nox.session(python=False, name="parity")'])
def test_a_session_of_that_name_is_there_whatever_its_function_is_called(tmp_path: Path, decorated: str) -> None:
    noxfile = f"import nox\nfrom nox import session\n\n\n{decorated}\ndef foo(s):\n    pass\n"
    project = laid_out(tmp_path, **{"noxfile.py": noxfile, "tests/test_a.py": ""})
    said = call(project, "init", "--yes")
    assert (said.code, "`noxfile.py` has `parity` already" in said.out) == (0, True), said.out + said.err
    assert (project / "noxfile.py").read_text(encoding="utf-8") == noxfile


def test_git_is_to_ignore_reports_if_it_does_not(tmp_path: Path) -> None:
    project = laid_out(tmp_path / "shop", **{".gitignore": "/dist"})
    said = call(project, "init", "--yes")
    assert said.code == 0
    lines = (project / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert (lines[0], lines[-2:]) == ("/dist", ["/parity_report.json", "/parity_sweep.json"])
    assert ".gitignore" not in call(project, "init", "--dry-run").out


@pytest.mark.parametrize("git", [False, True])
def test_what_is_ignored_already_or_in_no_repository_needs_no_line(tmp_path: Path, *, git: bool) -> None:
    write(tmp_path, "tests/test_shop.py", "def test_it():\n    pass\n")
    if git:
        write(tmp_path, ".gitignore", "*.json\n")
        commit(tmp_path, new=True)
    assert ".gitignore" not in call(tmp_path, "init", "--dry-run").out


def test_tests_in_files_of_other_names_are_seen_where_there_are_no_others(tmp_path: Path) -> None:
    write(tmp_path, "shop/tests/testprices.py", "class TestPrices(TestCase):\n    def test_it(self):\n        pass\n")
    write(tmp_path, "shop/testing.py", "def helper():\n    pass\n")
    said = call(tmp_path, "init")
    assert (said.code, said.out) == (64, "")
    assert said.err == (
        f"paritygate: `{tmp_path}` looks like no project that pytest tests: by their content there are tests in "
        "`shop/tests/testprices.py`, which pytest passes over, since it looks for `test_*.py` or `*_test.py`\n"
        "hint: name what is to run, as in `paritygate run shop/tests/testprices.py`, "
        "or set `python_files` in pytest's configuration\n"
    )


def test_modules_with_doctests_count_only_where_there_are_no_test_files(tmp_path: Path) -> None:
    doctests = {"pytest.ini": "[pytest]\naddopts = --doctest-modules\n", "shop/prices.py": "", "noxfile.py": NOXFILE}
    project = laid_out(tmp_path / "shop", **doctests)
    assert "tests    1 file in tests/; pytest is configured in pytest.ini\n" in call(project, "init", "--dry-run").out
    (project / "tests" / "test_shop.py").unlink()
    assert "tests    2 files in ., shop/; pytest is configured in pytest.ini\n" in call(project, "init", "--dry-run").out
