"""Sweeps on an engine: every kind of value takes effect in its cell, and a sample's faults are found by the rules beside it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from paritygate import archive
from paritygate.axes import TRUE
from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.words import Axis
from paritygate.reports.sweeps import signs
from tests.support.gate_runs import Leftovers, lay_out
from tests.support.samples import PATIENCE_SECONDS, clean_environment, git
from tests.support.sweeping import SWEPT, rules, sweep

pytestmark = pytest.mark.docker

SETTINGS = """\
[environments.home]
case_sensitive = "any"

[sweeps]
locale = ["C.UTF-8", "de_DE.ISO-8859-1"]
directory_order = ["sorted", "reversed"]
cpus = ["all", "0.5"]
variables = ["none", "HOME=read-only"]
user = ["tests", "root"]
clock = ["true", "2028-02-29T12:00:00"]
"""
HOME = """
import os
import pathlib


def test_a_home_that_nobody_can_write_is_empty():
    home = pathlib.Path.home()
    if os.environ["HOME"].endswith("read-only"):
        assert list(home.iterdir()) == []
        try:
            (home / "a").touch()
        except OSError:
            return
        raise AssertionError
"""
EFFECTS = {
    "locale": ("encoding", "ISO-8859-1"),
    "directory_order": ("listing", ("f", "e", "d", "c", "b", "a")),
    "cpus": ("cpus", 0.5),
    "variables": ("home", "/home/read-only"),
    "user": ("uid", 0),
    "clock": ("local_date", "2028-02-29"),
}
"""What of the probe an axis shows in, and what is to stand there."""


def test_every_kind_of_value_is_proven_by_its_cell(tmp_path: Path) -> None:
    files = {"paritygate.toml": SETTINGS, "test_a.py": "def test_holds(tmp_path):\n    (tmp_path / 'a').write_text('a')\n" + HOME}
    ended = sweep(lay_out(tmp_path / "project", files), *EFFECTS)
    assert ended.status == 0, ended.output
    assert ended.artifact is not None
    problems = [value.problem for each in ended.artifact.sweeps for value in each.values if not value.observed]
    assert problems == []
    probes = {cell.env.partition("-")[0]: cell.probe for cell in ended.artifact.cells}
    assert {axis: (field, getattr(probes[axis], field)) for axis, (field, _) in EFFECTS.items()} == EFFECTS


@pytest.mark.skipif(not os.environ.get("PARITYGATE_ALL_SWEEPS"), reason="takes minutes: `PARITYGATE_ALL_SWEEPS=1` runs it")
@pytest.mark.parametrize("axis", rules().axes)
def test_the_faults_of_the_sample_are_found_by_the_rules_beside_it(axis: Axis, tmp_path: Path) -> None:
    shutil.copytree(SWEPT, tmp_path / "project", ignore=shutil.ignore_patterns("rules.toml", "__pycache__"))
    git(tmp_path / "project", "init", "--quiet", "--initial-branch=main")
    git(tmp_path / "project", "add", "--all")
    git(tmp_path / "project", "commit", "--quiet", "--message=All that is known")
    expected = rules().axes[axis]
    files = sorted({test.partition("::")[0] for test in expected})
    ended = sweep(tmp_path / "project", axis, *files)
    assert ended.status == 3, ended.output
    assert ended.artifact is not None
    assert found(ended.artifact) == {test: set(values) for test, values in expected.items()}, ended.output
    texts = {str(rule.nodeid): rule.text for each in ended.artifact.sweeps for rule in each.rules}
    assert [test for test, text in rules().words.items() if test in texts and text not in texts[test]] == [], ended.output


MANY = 200


@pytest.mark.skipif(not os.environ.get("PARITYGATE_ALL_SWEEPS"), reason="takes minutes: `PARITYGATE_ALL_SWEEPS=1` runs it")
def test_two_hundred_cells_in_one_sweep_leave_nothing_behind(tmp_path: Path, leftovers: Leftovers) -> None:
    (tmp_path / "temporary").mkdir()
    tests = "def test_control():\n    pass\n\n\ndef test_set():\n    assert hash('paritygate') % 1024 != 742\n"
    project = lay_out(tmp_path / "project", {"test_a.py": tests})
    before = {path for path in project.rglob("*") if ".git" not in path.parts}
    seeds = ",".join(map(str, range(MANY)))
    sweeping = subprocess.Popen(
        [sys.executable, "-m", "paritygate", "sweep", "hash_seed", "--values", seeds, "--project", str(project)],
        env=clean_environment() | {"TMPDIR": str(tmp_path / "temporary")},
        stdin=subprocess.DEVNULL,
    )
    assert sweeping.wait(PATIENCE_SECONDS) == 3
    assert leftovers.everything(sweeping.pid) == []
    assert list((tmp_path / "temporary").iterdir()) == []
    left = {path for path in project.rglob("*") if ".git" not in path.parts and ".paritygate" not in path.parts} - before
    assert left == {project / "parity_sweep.json"}
    artifact = archive.read(project / "parity_sweep.json")
    assert len({cell.env for cell in artifact.cells}) == MANY
    assert found(artifact) == {"test_a.py::test_set": {"11"}}


def found(artifact: Artifact) -> dict[str, set[str]]:
    """Say under which values tests are red; under the true time nobody knows which are, and a test that is so alone is none."""
    red = {
        str(rule.nodeid): {value for value, outcome in signs(each, rule).items() if outcome is not None and not outcome.green}
        for each in artifact.sweeps
        for rule in each.rules
    }
    return {test: known for test, values in red.items() if (known := values - {TRUE})}
