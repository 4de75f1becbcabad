"""Every sample project gets exactly the labels that are written down beside it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.support import samples

pytestmark = pytest.mark.docker

EXPLAINED = frozenset({"brittle_test", "case_of_a_data_file", "ignored_fixture_file", "mixed_axes", "set_order"})
"""The samples whose causes are looked for in every run of the suite; `PARITYGATE_EXPLAIN_ALL=1` looks for those of all."""

LONG_ENOUGH = "600"


def are_all_asked_for() -> bool:
    return bool(os.environ.get("PARITYGATE_EXPLAIN_ALL"))


def is_explained(name: str) -> bool:
    return name in EXPLAINED or are_all_asked_for()


def judged_here() -> list[str]:
    """List the samples to judge: without `PARITYGATE_EXPLAIN_ALL=1` neither heavy ones, nor any that have a clock moved.

    Light ones are judged on the computer itself, where it can have cells.
    """
    light = samples.LIGHT if sys.platform.startswith("linux") else frozenset[str]()
    return [name for name in samples.names() if are_all_asked_for() or name not in samples.CLOCKED | samples.HEAVY | light]


def test_names_that_collide_are_said_and_stop_nothing_where_no_environment_folds_case(tmp_path: Path) -> None:
    samples.lay_out("names_that_collide", tmp_path / "project")
    judged = samples.judge(tmp_path / "project", tmp_path / "report.json", "--without-axis", "case_sensitive")
    assert judged.status == 0, judged.output
    assert judged.artifact is not None
    assert judged.artifact.subject.colliding_names == ("`Docs` and `docs`", "`notes/Todo.txt` and `notes/todo.txt`")
    assert "one name where case does not count: `Docs` and `docs`" in judged.output


@pytest.mark.parametrize("name", judged_here())
def test_the_gate_says_of_a_sample_what_is_written_beside_it(name: str, tmp_path: Path) -> None:
    expected = samples.lay_out(name, tmp_path / "project")
    budget = LONG_ENOUGH if is_explained(name) else "0"  # a busy machine must not end a search
    judged = samples.judge(tmp_path / "project", tmp_path / "report.json", "--explain-budget", budget, *expected.selection)
    assert samples.complaints(expected, judged, causes=is_explained(name)) == [], judged.output
