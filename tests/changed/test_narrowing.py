"""The narrowed selection, given to a real pytest: what it collects is what was chosen, and nothing that would not run anyway."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from paritygate.changed import choosing
from paritygate.changed.reading import Wanted
from paritygate.errors import NoVerdictError
from paritygate.outcomes.plans import Selection
from paritygate.outcomes.words import Worktree
from paritygate.selection import parse, select
from paritygate.snapshot import survey, tree
from tests.support.command_line import commit

FILES = {
    "pytest.ini": "[pytest]\ntestpaths = tests\nnorecursedirs = samples\n",
    "one.py": "",
    "two.py": "",
    "tests/test_one.py": "import one\ndef test_a(): pass\ndef test_b(): pass\n",
    "tests/test_two.py": "import two\ndef test_a(): pass\n",
    "tests/samples/test_one.py": "import one\ndef test_never(): pass\n",
    "tests/conftest.py": "collect_ignore = ['test_left_out.py']\n",
    "tests/test_left_out.py": "import one\ndef test_never(): pass\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return commit(tmp_path, new=True)


def narrowed(project: Path, *words: str) -> Selection:
    trees = tuple(tree.take_all(survey.Request(project=str(project), environ=dict(os.environ)), tuple(Worktree)).values())
    asked = select(parse(words), trees)
    return choosing.choose(Wanted(asked=asked, trees=trees, base="HEAD", own=(), environ=os.environ)).selection


def collected(project: Path, selection: Selection) -> list[str]:
    words = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*words, *selection.arguments, *selection.paths], cwd=project, capture_output=True, text=True, check=False
    )
    return [line for line in done.stdout.splitlines() if "::" in line]


def test_pytest_collects_what_was_chosen(project: Path) -> None:
    (project / "one.py").write_text("ONE = 1\n")
    assert collected(project, narrowed(project)) == ["tests/test_one.py::test_a", "tests/test_one.py::test_b"]


def test_a_file_that_was_named_and_not_chosen_is_dropped(project: Path) -> None:
    (project / "one.py").write_text("ONE = 1\n")
    selection = narrowed(project, "tests/test_one.py::test_b", "tests/test_two.py")
    assert selection.paths == ("tests/test_one.py::test_b",)
    assert collected(project, selection) == ["tests/test_one.py::test_b"]


def test_nothing_of_what_was_named_is_no_verdict(project: Path) -> None:
    (project / "one.py").write_text("ONE = 1\n")
    with pytest.raises(NoVerdictError, match="only tests see it that were not asked for"):
        narrowed(project, "tests/test_two.py")


def test_what_widens_leaves_the_selection_as_it_was(project: Path) -> None:
    (project / "pytest.ini").write_text(FILES["pytest.ini"] + "\n")
    assert narrowed(project, "tests", "-k", "a") == Selection(paths=("tests",), keyword="a")


def test_tests_of_other_kinds_still_run(project: Path) -> None:
    (project / "tests/conftest.py").write_text("def pytest_collect_file(file_path, parent): pass\n")
    commit(project)
    (project / "tests/test_one.py").unlink()
    assert narrowed(project).arguments == (
        "--ignore=tests/samples/test_one.py",
        "--ignore=tests/test_left_out.py",
        "--ignore=tests/test_one.py",
        "--ignore=tests/test_two.py",
    )


def test_places_that_are_not_in_force_leave_nothing_out(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.pytest.ini_options]\ntestpaths = ["nowhere"]\n')
    commit(project)
    (project / "one.py").write_text("ONE = 1\n")
    assert collected(project, narrowed(project)) == ["tests/test_one.py::test_a", "tests/test_one.py::test_b"]


def test_modules_that_are_asked_for_are_not_followed(project: Path) -> None:
    (project / "one.py").write_text("ONE = 1\n")
    asked = narrowed(project, "--pyargs", "tests.test_two")
    assert (asked.paths, asked.arguments) == (("tests.test_two",), ("--pyargs",))
