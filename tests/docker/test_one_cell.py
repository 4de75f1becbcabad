"""Cells of one gate run apart, one of them in shards, and come to the verdict that they would come to together."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from unittest import mock

import pytest

from paritygate import archive
from paritygate.cli.main import main
from tests.support.gate_runs import lay_out
from tests.support.samples import clean_environment

pytestmark = pytest.mark.docker

FILES = {
    "tests/test_a.py": "import time\n\ndef test_1(): pass\ndef test_2(): assert time.tzname[0] == 'UTC'\n",
    "tests/test_b.py": "def test_1(): pass\n",
    "tests/test_c.py": "def test_1(): pass\n",
}


def command(project: Path, *arguments: str) -> tuple[object, str]:
    """Run a command in a project's folder, with the engine that the tests have."""
    said = io.StringIO()
    environment = {name: value for name, value in clean_environment().items() if name != "CI"}
    with (
        contextlib.chdir(project),
        mock.patch.dict("os.environ", environment, clear=True),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
        pytest.raises(SystemExit) as ended,
    ):
        main(list(arguments))
    return ended.value.code, said.getvalue()


def test_cells_that_run_apart_come_to_one_verdict(tmp_path: Path) -> None:
    project = lay_out(tmp_path / "project", FILES)
    # The report of the jobs must not become a part of the tree that the next one sees.
    at = ("--attempts", "1", "--at", "2026-11-30T08:00:00Z", "--without-axis", "case_sensitive", "--quiet")
    out = project / ".paritygate"
    jobs = {
        "local.json": ("local-like", "1"),
        "1.json": ("server-like", "1", "--shard", "1/2"),
        "2.json": ("server-like", "1", "--shard", "2/2"),
    }
    for name, asked in jobs.items():
        code, said = command(project, "cell", *asked, "--out", str(out / name), *at)
        assert code == 0, said
    parts = [archive.read_cells(out / f"{number}.json").cells[0] for number in (1, 2)]
    ran = [sorted({run.nodeid.partition("::")[0] for run in cell.tests}) for cell in parts]
    assert ran == [["tests/test_a.py", "tests/test_c.py"], ["tests/test_b.py"]]

    code, said = command(project, "classify", *(str(out / name) for name in jobs), "--report", "r.json")
    artifact = archive.read(project / "r.json")
    assert code == 3, said
    assert {each.nodeid: each.label.value for each in artifact.tests} == {
        "tests/test_a.py::test_1": "consistent-green",
        "tests/test_a.py::test_2": "coupling",
        "tests/test_b.py::test_1": "consistent-green",
        "tests/test_c.py::test_1": "consistent-green",
    }
    assert sorted(artifact.subject.trees) == ["clean", "dirty"]
    code, said = command(project, "classify", str(out / "local.json"))
    assert code == 4
    assert "`server-like` attempt 1 is missing: no file holds it" in said
    code, said = command(project, "classify", str(out / "local.json"), str(out / "1.json"))
    assert code == 64
    assert "shard 2/2 is in no file" in said
