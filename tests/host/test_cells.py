"""Cells of one gate in jobs of their own, on this computer itself: what they come to together is what one run comes to."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from paritygate import archive
from paritygate.outcomes.words import Axis, Label, Outcome
from tests.host.test_samples import can_fold
from tests.support.command_line import call
from tests.support.gate_runs import lay_out

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="cells on the computer itself take Linux")

SETTINGS = 'runner = "host"\nattempts = 1\nseeds = [1]\n[environments.local-like]\nlocale = "C.UTF-8"\nworktree = "clean"\n'
UNNAMED = """\
import os

def test_an_unnamed_file(tmp_path):
    os.close(os.open(tmp_path, os.O_TMPFILE | os.O_RDWR))
"""


@pytest.mark.skipif(not can_fold(), reason="no filesystem that folds case can be had here")
def test_a_cell_in_a_job_of_its_own_is_on_the_filesystem_that_it_has_in_a_run(tmp_path: Path) -> None:
    project = lay_out(
        tmp_path / "shop",
        {
            "paritygate.toml": f"{SETTINGS}[environments.server-like]\nworkers = 0\n",
            "test_a.py": UNNAMED,
            ".gitignore": "*.json\n",
        },
    )
    apart = {"TMPDIR": str(tmp_path), "VIRTUAL_ENV": ""}
    for env in ("local-like", "server-like"):
        ended = call(project, "cell", env, "1", "--out", f"{env}.json", variables=apart)
        assert ended.code == 0, ended.err
        assert archive.read_cells(project / f"{env}.json").seeds == (1,)
    classified = call(project, "classify", "local-like.json", "server-like.json", "--report", "classified.json")
    whole = call(project, "run", "--explain-budget", "0", "--report", "whole.json", variables=apart)
    reports = [archive.read(project / f"{name}.json") for name in ("classified", "whole")]
    for said, report in zip((classified, whole), reports, strict=True):
        (found,) = report.tests
        assert (said.code, found.label) == (1, Label.CONSISTENT_RED), said.out
        assert set(found.outcomes.values()) == {(Outcome.FAILED,)}
        assert Axis.CASE_SENSITIVE in {each.axis for each in report.axes if each.varied}
        assert not [note for note in report.notes if "filesystems differ" in note]
        assert {cell.filesystem.way for cell in report.cells if cell.filesystem is not None} == {"casefs"}
        assert all(cell.filesystem is not None for cell in report.cells)
    assert [cell.seed for cell in reports[0].cells] == [cell.seed for cell in reports[1].cells]
