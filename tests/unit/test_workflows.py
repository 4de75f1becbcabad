"""The example workflows: what their forges take by the forges' own schemas, and commands that the real parser takes."""

from __future__ import annotations

import contextlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest
from ruamel.yaml import YAML

import paritygate.cli.main
from paritygate.cli.cells import moment
from paritygate.cli.commands import program
from paritygate.config.settings import Settings, default_environments
from paritygate.gate import sharding

FOLDER = Path(__file__).parents[2] / "docs" / "workflows"
NAMES = sorted(path.name for path in FOLDER.iterdir())
SCHEMAS = {"github": "vendor.github-workflows", "gitlab": "vendor.gitlab-ci"}
VALUES = {
    "matrix.env": "server-like",
    "matrix.attempt": "2",
    "matrix.shard": "1/3",
    "needs.before.outputs.moment": "2026-11-30T08:00:00Z",
    "PARITY_ENV": "server-like",
    "PARITY_ATTEMPT": "2",
    "PARITY_SHARD": "1/2",
    "CI_PIPELINE_CREATED_AT": "2026-11-30T08:00:00Z",
    "CI_JOB_ID": "1234",
    "CI_DEFAULT_BRANCH": "main",
}


def loaded(name: str) -> Any:
    return YAML(typ="safe").load((FOLDER / name).read_text(encoding="utf-8"))


def scripts(content: Any) -> Iterator[str]:
    """Yield the lines that a shell would run."""
    if isinstance(content, dict):
        for key, value in content.items():
            if key in {"run", "script", "before_script"}:
                yield from value.splitlines() if isinstance(value, str) else value
            else:
                yield from scripts(value)
    elif isinstance(content, list):
        for each in content:
            yield from scripts(each)


def commands(name: str) -> list[list[str]]:
    """List the commands of ours as words, with values in place of what the forge fills in."""
    filled = (re.sub(r"\$\{\{ (\S+) \}\}|\$(\w+)", lambda match: VALUES[match[1] or match[2]], line) for line in ours(name))
    return [shlex.split(line)[1:] for line in filled]


def ours(name: str) -> list[str]:
    return [line for line in scripts(loaded(name)) if line.startswith("paritygate ")]


def parsed(words: list[str]) -> dict[str, Any]:
    assert callable(paritygate.cli.main.main)  # its module adds the commands that have modules of their own
    context = program.make_context("paritygate", list(words))
    command = program.commands[words[0]]
    return command.make_context(words[0], words[1:], parent=context).params


def with_cells(words: list[str], folder: Path) -> list[str]:
    """Put files in place of patterns, as a shell does where cells have been downloaded."""
    filled = [word.replace("*", "some") for word in words]
    for word, plain in zip(words, filled, strict=True):
        if word != plain:
            place = folder / plain
            place.parent.mkdir(parents=True)
            place.write_bytes(b"")
    return filled


@pytest.mark.parametrize("name", NAMES)
def test_the_forge_takes_it(name: str) -> None:
    schema = SCHEMAS[name.partition("-")[0]]
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(FOLDER / name)]
    ran = subprocess.run(check, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("name", NAMES)
def test_its_commands_are_taken_by_the_real_parser(name: str, tmp_path: Path) -> None:
    found = commands(name)
    assert found
    for words in found:
        whole = with_cells(words, tmp_path)
        with contextlib.chdir(tmp_path):
            given = parsed(whole)
        if words[0] == "cell":
            assert sharding.parse(given["shard"]).total in {2, 3}
            assert moment(given["at"]) == datetime(2026, 11, 30, 8, tzinfo=UTC)
        elif words[0] == "classify":
            assert [str(file) for file in given["files"]] == whole[1:2]


def test_every_shard_of_every_cell_is_a_job_of_the_matrices() -> None:
    matrix = loaded("github-matrix.yml")["jobs"]["cell"]["strategy"]["matrix"]
    total = len(matrix["shard"])
    assert [str(sharding.parse(each)) for each in matrix["shard"]] == [f"{number}/{total}" for number in range(1, total + 1)]
    (jobs,) = loaded("gitlab-dind.yml")["parity cell"]["parallel"]["matrix"]
    assert jobs["PARITY_SHARD"] == ["1/2", "2/2"]
    assert matrix["env"] == jobs["PARITY_ENV"] == list(default_environments())
    # Fewer would be missed.
    assert [str(each) for each in matrix["attempt"]] == jobs["PARITY_ATTEMPT"] == ["1", "2"]
    assert Settings().attempts == len(matrix["attempt"])


def test_a_command_that_is_wrong_would_be_seen() -> None:
    with pytest.raises(click.NoSuchOption):
        parsed(["cell", "a", "1", "--outt", "x"])
