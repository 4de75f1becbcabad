"""The whole life of a freeze, with real gates: found, frozen on evidence, let through, drifted, renamed, expired, thawed.

A locked file that a test changes is told on the way.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from paritygate.outcomes.cells import NodeId
from paritygate.outcomes.words import ExitCode, FreezeState, Label
from tests.support.command_line import call
from tests.support.gate_runs import Ended, lay_out, run

pytestmark = pytest.mark.docker

FLIPS = NodeId("tests/test_a.py::test_flips")
TESTS = """\
import os
from pathlib import Path

import pytest


def test_flips():
    assert int(os.environ["PYTHONHASHSEED"]) % 2


def test_changes_what_is_locked():
    Path(__file__).with_name("data").joinpath("a.json").write_text("other")


@pytest.mark.gpu
def test_is_left_out():
    raise AssertionError
"""
SETTINGS = """\
thaw-after = 1

[exclude]
gpu = "needs a GPU"
"""


class Life:
    """A project whose one test flips with the seed of the attempt; each step runs a gate, and says what came of it."""

    def __init__(self, project: Path) -> None:
        settings = {"pytest.ini": "[pytest]\nmarkers = gpu\n", "paritygate.toml": SETTINGS, "tests/data/a.json": "{}\n"}
        self.project = lay_out(project, {"tests/test_a.py": TESTS, **settings})
        self.ledger = project / "tests" / "flake_freeze.json"
        self.until = self.day(30)
        assert call(project, "lock", "--write", "tests/data").code == 0

    def day(self, days: int) -> str:
        return (datetime.now(UTC).date() + timedelta(days=days)).isoformat()

    def gate(self) -> Ended:
        """Run the gate in one environment, which is enough for a test to flip."""
        return run(self.project, "--env", "local-like", "--seed", "1", "--seed", "2", "--explain-budget", "0")

    def with_tests(self, old: str, new: str) -> Ended:
        """Run the gate with other tests."""
        (self.project / "tests" / "test_a.py").write_text(TESTS.replace(old, new), encoding="utf-8")
        return self.gate()

    def freeze(self) -> None:
        vouched = ("--owner", "@me", "--expires", self.until, "--reason", "later", "--evidence", "parity_report.json")
        assert call(self.project, "freeze", "add", FLIPS, *vouched).code == 0

    def expired(self) -> Ended:
        """Run the gate as if the last day were over."""
        kept = self.ledger.read_bytes()
        changes = {"since": self.day(-2), "expires": self.day(-2)}
        self.ledger.write_text(json.dumps({FLIPS: {**json.loads(kept)[FLIPS], **changes}}), encoding="utf-8")
        ended = self.gate()
        self.ledger.write_bytes(kept)
        return ended


def state(ended: Ended) -> FreezeState:
    assert ended.artifact is not None, ended.stderr
    return ended.artifact.freezes[FLIPS].state


def test_a_freeze_is_found_let_through_drifts_is_renamed_expires_and_is_thawed(tmp_path: Path) -> None:
    life = Life(tmp_path / "project")
    found = life.gate()
    assert (found.status, found.finding(FLIPS).label) == (ExitCode.NONDETERMINISM, Label.NONDETERMINISM)
    expect_what_is_told_beside_it(found)

    life.freeze()
    passing = life.gate()
    assert (passing.status, state(passing)) == (ExitCode.PARITY, FreezeState.LET_THROUGH), passing.stdout
    assert "1 of them frozen and let through" in passing.stdout
    assert f"until {life.until}, @me: later" in passing.stdout

    drifted = life.with_tests("assert int(", "assert not 1 - int(")
    assert (drifted.status, state(drifted)) == (ExitCode.NONDETERMINISM, FreezeState.DRIFTED)
    assert "fails in another way than was frozen" in drifted.stdout

    renamed = life.with_tests("test_flips", "test_flips_still")
    assert (renamed.status, state(renamed)) == (ExitCode.REFUSED, FreezeState.UNKNOWN)
    assert f"`{FLIPS}` is frozen in `tests/flake_freeze.json`: there is no such test in its file" in renamed.stdout

    expired = life.expired()
    assert (expired.status, expired.artifact) == (ExitCode.REFUSED, None)
    assert f"`{FLIPS}`: the freeze expired on " in expired.stderr

    stable = life.with_tests("% 2", ">= 0")
    assert (stable.status, state(stable)) == (ExitCode.PARITY, FreezeState.STABLE)
    assert f"`{FLIPS}` was stable in 1 gate" in stable.stdout
    assert f"thawed `{FLIPS}`" in call(life.project, "freeze", "prune", "--stable").out
    assert json.loads(life.ledger.read_text(encoding="utf-8")) == {}


def expect_what_is_told_beside_it(found: Ended) -> None:
    """Make sure that what the configuration excludes is listed, and a test that changes a locked file is named."""
    assert found.artifact is not None
    assert found.artifact.excluded == {"tests/test_a.py::test_is_left_out": "needs a GPU"}
    assert "`tests/data/a.json` is locked, and tests left it changed" in found.stdout
    suspects = [{test.nodeid for change in cell.rewritten for test in change.tests} for cell in found.artifact.cells]
    assert set.intersection(*suspects) >= {"tests/test_a.py::test_changes_what_is_locked"}
