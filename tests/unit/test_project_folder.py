"""Where nobody names a project: the current folder is it, unless it is a part of one that is configured for paritygate."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import call, commit
from tests.support.patches import write

OURS = "[tool.paritygate]\nattempts = 2\n"


@pytest.fixture
def inner(tmp_path: Path) -> Path:
    write(tmp_path, "tests/data/a.txt", "1")
    commit(tmp_path, new=True)
    return tmp_path / "tests/data"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", OURS),
        ("pyproject.toml", OURS + "of no sense\n"),
        ("paritygate.toml", ""),
        ("tests/fixtures.lock.json", "{}"),
        ("tests/flake_freeze.json", "{}"),
    ],
)
def test_a_folder_of_a_configured_project_is_refused_with_the_project(inner: Path, name: str, text: str) -> None:
    write(inner.parents[1], name, text)
    said = call(inner, "lock", "--write", "a.txt")
    assert said.code == 64
    assert "did you mean `--project ../..`? `--project .` takes this folder" in said.err
    assert [each.name for each in inner.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("command", ["run", "changed", "hazards", "freeze list", "lock --check", "doctor", "images build"])
def test_every_command_that_asks_for_a_project_refuses(inner: Path, command: str) -> None:
    write(inner.parents[1], "pyproject.toml", OURS)
    said = call(inner, *command.split())
    assert said.code == 64
    assert f"this folder has no configuration, and is in a project that has: `{inner.parents[1] / 'pyproject.toml'}`" in said.err


@pytest.mark.parametrize("name", ["pyproject.toml", "pytest.ini", "setup.py", "paritygate.toml", "tests/fixtures.lock.json"])
def test_a_project_in_a_project_is_one_of_its_own(inner: Path, name: str) -> None:
    write(inner.parents[1], "pyproject.toml", OURS)
    write(inner, name, "{}" if name.endswith(".json") else "")
    assert call(inner, "freeze", "list").code == 0


def test_a_folder_that_is_named_is_the_project(inner: Path) -> None:
    write(inner.parents[1], "pyproject.toml", OURS)
    assert call(inner, "lock", "--write", "a.txt", "--project", ".").code == 0
    assert call(inner, "lock", "--write", "a.txt", "--project", "../..").code == 0
    assert (inner / "tests/fixtures.lock.json").is_file()
    assert '"tests/data/a.txt"' in (inner.parents[1] / "tests/fixtures.lock.json").read_text()


@pytest.mark.parametrize("text", ["", "[tool.pytest.ini_options]\n", "of no sense\n"])
def test_below_what_does_not_use_paritygate_the_current_folder_is_the_project(inner: Path, text: str) -> None:
    write(inner.parents[1], "pyproject.toml", text)
    assert call(inner, "freeze", "list").code == 0


def test_configuration_outside_of_the_repository_does_not_count(tmp_path: Path) -> None:
    write(tmp_path, "pyproject.toml", OURS)
    write(tmp_path, "alone/tests/test_a.py", "")
    assert call(tmp_path / "alone", "freeze", "list").code == 0
    commit(tmp_path / "alone", new=True)
    assert call(tmp_path / "alone/tests", "freeze", "list").code == 0
