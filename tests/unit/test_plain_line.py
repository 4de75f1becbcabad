"""The line of a shell for a cell without a container: what it sets, and what it says that it lacks."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from paritygate.outcomes.plans import Filesystem
from paritygate.outcomes.words import RunnerName, Worktree
from paritygate.repro import plain
from tests.support.builders import a_cell, an_environment
from tests.support.plans import a_plan

TEST = ("python", "-m", "pytest", "--rootdir=/parity/workspace", "test_a.py::test[a b]")


def test_it_has_the_cells_variables_and_no_path_of_a_container(tmp_path: Path) -> None:
    environment = an_environment("b", timezone="Asia/Shanghai", locale="C.UTF-8", umask=0o077, variables={"CI": "true"})
    (tmp_path / "src").mkdir()
    assert plain.line(a_plan(environment, seed=2**32 + 5), TEST, tmp_path) == (
        f"cd {tmp_path} && umask 077 && env TZ=Asia/Shanghai LANG=C.UTF-8 LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 "
        "PYTHONHASHSEED=5 PYTHONPATH=src CI=true python -m pytest 'test_a.py::test[a b]'"
    )


def test_a_hash_seed_of_its_own_goes_before_the_seed(tmp_path: Path) -> None:
    line = plain.line(a_plan(an_environment("b"), seed=5, hash_seed=7), TEST, tmp_path)
    assert "PYTHONHASHSEED=7 python" in line
    assert "umask" not in line


@pytest.mark.parametrize(
    ("runner", "worktree", "fold", "said"),
    [
        (RunnerName.HOST, Worktree.DIRTY, False, ["it runs with whatever"]),
        (RunnerName.HOST, Worktree.CLEAN, True, ["it runs with whatever", "the cell had the clean", "the cell's filesystem"]),
        (RunnerName.SSH, Worktree.DIRTY, False, ["the cell ran on another", "it runs with whatever"]),
    ],
)
def test_what_it_lacks_is_said(runner: RunnerName, worktree: Worktree, fold: bool, said: list[str]) -> None:  # noqa: FBT001
    plan = a_plan(an_environment("b", worktree=worktree), filesystem=Filesystem(fold=fold))
    cell = msgspec.structs.replace(a_cell("b", 1), runner=runner)
    lacks = list(plain.lacking(plan, cell))
    assert [each[: len(words)] for each, words in zip(lacks, said, strict=True)] == said
