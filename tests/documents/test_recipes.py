"""The recipes work: with the real nox and tox, and a stand-in for the gate that ends as it is told."""

from __future__ import annotations

import configparser
import os
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from paritygate.reports import brief
from tests.documents.tree import found
from tests.support.documents import DOCS, blocks, commands
from tests.support.rich_artifact import rich_artifact
from tests.support.samples import clean_environment

RECIPES = DOCS / "recipes.md"


def block(language: str, has: str) -> str:
    (text,) = [each.text for each in blocks(RECIPES, language) if has in each.text]
    return text


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Put a program called `paritygate` on the path; it says what it was asked for, prints lines for agents, and ends with 2."""
    program = tmp_path / "bin" / "paritygate"
    program.parent.mkdir()
    (tmp_path / "lines.json").write_text(brief.render(rich_artifact(tmp_path)), encoding="utf-8")
    script = f"""\
        #!/bin/sh
        echo "$@" > {tmp_path}/asked
        cat {tmp_path}/lines.json
        exit 2
        """
    program.write_text(textwrap.dedent(script), encoding="utf-8")
    program.chmod(0o755)
    return {**clean_environment(), "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}


def ended(environment: dict[str, str], folder: Path, *words: str) -> int:
    return subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, check=False).returncode


def test_the_session_of_nox_ends_with_the_gates_own_code(environment: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip("nox")
    (tmp_path / "noxfile.py").write_text(block("python", "nox.session"), encoding="utf-8")
    assert ended(environment, tmp_path, "-m", "nox", "-s", "parity", "--", "tests/unit", "-k", "ledger") == 2
    assert (tmp_path / "asked").read_text(encoding="utf-8") == "run tests/unit -k ledger\n"


def test_the_environment_of_tox_ends_with_the_gates_own_code(environment: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip("tox")
    (tmp_path / "tox.ini").write_text(block("ini", "testenv"), encoding="utf-8")
    assert ended(environment, tmp_path, "-m", "tox", "-e", "parity", "--", "tests/unit", "-k", "ledger") == 2
    assert (tmp_path / "asked").read_text(encoding="utf-8") == "run tests/unit -k ledger\n"


def test_the_hooks_are_read_and_their_commands_taken() -> None:
    settings = YAML(typ="safe").load(block("yaml", "repos:"))
    hooks = {hook["id"]: hook for repository in settings["repos"] for hook in repository["hooks"]}
    assert {stage for hook in hooks.values() for stage in hook["stages"]} == set(settings["default_install_hook_types"])
    asked = []
    for hook in hooks.values():
        words = shlex.split(hook["entry"])
        asked += commands(words[2]) if words[:2] == ["sh", "-c"] else [words]
    ours = [words[1:] for words in asked if words[0] == "paritygate"]
    assert ours == [["lock", "--check"], ["changed"], ["run", "--changed"]]
    for words in ours:
        command, rest = found(words)
        assert command.make_context("it", rest).command is command


@pytest.mark.parametrize(("changed", "run", "code"), [(4, 3, 0), (0, 3, 3), (64, 64, 64)])
def test_the_hook_passes_where_no_test_can_see_the_patch_and_nowhere_else(
    changed: int, run: int, code: int, tmp_path: Path
) -> None:
    settings = YAML(typ="safe").load(block("yaml", "repos:"))
    (entry,) = [hook["entry"] for repository in settings["repos"] for hook in repository["hooks"] if hook["id"] == "parity"]
    (tmp_path / "paritygate").write_text(f'#!/bin/sh\ntest "$1" = changed && exit {changed}\nexit {run}\n', encoding="utf-8")
    (tmp_path / "paritygate").chmod(0o755)
    environment = {**clean_environment(), "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    assert subprocess.run(shlex.split(entry), env=environment, check=False).returncode == code


def test_the_driver_of_an_agent_reads_the_lines_and_merges_nothing_that_is_not_green(
    environment: dict[str, str], tmp_path: Path
) -> None:
    driver = block("python", "may_be_merged")
    (tmp_path / "driver.py").write_text(
        f"{driver}\n\nmended = []\nassert not may_be_merged(mended.append, '--changed')\n"
        "assert [each['exit_code'] for each in mended] == [2, 2, 2] and mended[0]['problems']\n",
        encoding="utf-8",
    )
    assert ended(environment, tmp_path, "driver.py") == 0
    assert (tmp_path / "asked").read_text(encoding="utf-8") == "run --quiet --json --changed\n"


def test_tox_lets_through_what_an_engine_is_found_by() -> None:
    parser = configparser.ConfigParser()
    parser.read_string(block("ini", "testenv"))
    assert {"CI", "DOCKER_*", "PARITY_*"} <= set(parser["testenv:parity"]["pass_env"].split())
