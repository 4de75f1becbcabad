"""Files that pytest collects or loads are files all the same: who reads, lists or runs them is chosen with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import call, commit
from tests.support.patches import chosen, touch, write
from tests.support.samples import git

FILES = {
    "pytest.ini": "[pytest]\ntestpaths = tests\n",
    "one.py": "",
    "tests/test_plain.py": "import one\ndef test_a(): pass\n",
    "tests/test_other.py": "def test_a(): pass\n",
    "tests/sub2/conftest.py": "",
    "tests/sub2/test_in.py": "def test_a(): pass\n",
}
NAMES = "def test_it(request):\n    open(request.path.parent / (request.node.name + '.txt'))\n"
LITERAL = "from pathlib import Path\nTEXT = (Path(__file__).parent / 'test_plain.py').read_text()\n"
PATTERN = "from pathlib import Path\ndef test_names():\n    assert sorted(Path(__file__).parent.glob('test_*.py'))\n"
INNER = "import subprocess, sys\ndef test_it():\n    subprocess.run([sys.executable, '-m', 'pytest', 'tests/sub2'])\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        write(tmp_path, name, text)
    return commit(tmp_path, new=True)


def chosen_with(project: Path, text: str, name: str) -> list[str]:
    """Add a test file of this text, commit, touch another, and say what that chooses."""
    write(project, "tests/test_way.py", text)
    commit(project)
    touch(project, name)
    said = call(project, "changed")
    assert said.code == 0, said.err
    return chosen(said, name)


def test_a_recording_that_is_called_like_a_test_file_chooses_the_test_that_reads_it(project: Path) -> None:
    write(project, "tests/reg/test_reg.py", NAMES)
    write(project, "tests/reg/test_reg.txt", "as recorded\n")
    commit(project)
    touch(project, "tests/reg/test_reg.txt")
    assert chosen(call(project, "changed"), "tests/reg/test_reg.txt") == ["tests/reg/test_reg.py"]


def test_a_recording_that_nobody_is_known_to_read_widens_to_everything(project: Path) -> None:
    touch(project, "tests/test_lost.txt")
    said = call(project, "changed")
    assert "and everything is chosen:" in said.out
    assert chosen(said, "tests/test_lost.txt") == ["everything", "since no test is known to mention it"]


def test_a_text_with_prompts_is_a_test_and_may_be_read(project: Path) -> None:
    write(project, "tests/test_text.txt", ">>> 1\n1\n")
    found = chosen_with(project, "TEXT = open('tests/test_text.txt').read()\n", "tests/test_text.txt")
    assert found == ["tests/test_text.txt", "tests/test_way.py"]


def test_a_test_file_that_another_names_chooses_both(project: Path) -> None:
    assert chosen_with(project, LITERAL, "tests/test_plain.py") == ["tests/test_plain.py", "tests/test_way.py"]


@pytest.mark.parametrize("name", ["tests/test_plain.py", "tests/test_added.py"])
def test_a_test_that_lists_test_files_is_chosen_with_one(project: Path, name: str) -> None:
    assert chosen_with(project, PATTERN, name) == [name, "tests/test_way.py"]


def test_a_test_that_lists_test_files_is_chosen_when_one_is_gone(project: Path) -> None:
    write(project, "tests/test_way.py", PATTERN)
    commit(project)
    git(project, "rm", "--quiet", "tests/test_plain.py")
    assert chosen(call(project, "changed"), "tests/test_plain.py") == ["tests/test_way.py"]


@pytest.mark.parametrize("name", ["tests/sub2/test_in.py", "tests/sub2/conftest.py", "tests/sub2/pytest.ini"])
def test_a_test_that_runs_pytest_is_chosen_with_what_it_may_run(project: Path, name: str) -> None:
    assert chosen_with(project, INNER, name) == ["tests/sub2/test_in.py", "tests/test_way.py"]


@pytest.mark.parametrize("name", ["tests/sub2/test_in.py", "tests/sub2/conftest.py"])
def test_a_test_that_hands_on_a_folder_of_tests_is_chosen_with_what_is_in_it(project: Path, name: str) -> None:
    found = chosen_with(project, "import one\ndef test_it():\n    one.look('tests/sub2')\n", name)
    assert found == ["tests/sub2/test_in.py", "tests/test_way.py"]


def test_test_files_of_one_name_do_not_choose_each_other(project: Path) -> None:
    write(project, "tests/sub2/test_plain.py", "def test_b(): pass\n")
    commit(project)
    touch(project, "tests/test_plain.py")
    assert chosen(call(project, "changed"), "tests/test_plain.py") == ["tests/test_plain.py"]
