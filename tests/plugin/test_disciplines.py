"""The wheel's own pytest plugin in an ordinary suite: nothing unless asked, and then a test of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.support.command_line import call, commit
from tests.support.samples import clean_environment

TESTS = """\
import pytest

@pytest.mark.parity_exclude(reason="needs a GPU")
def test_a(): pass
"""
LOCKS, FREEZES = "paritygate lock --check", "paritygate freeze check"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a project whose lock holds, and which has a freeze that holds."""
    (tmp_path / "tests" / "data").mkdir(parents=True)
    (tmp_path / "tests" / "test_a.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "tests" / "data" / "a.json").write_bytes(b"1\n")
    freeze(tmp_path, 9)
    call(tmp_path, "lock", "--write", "tests/data")
    return commit(tmp_path, new=True)


def freeze(project: Path, days: int) -> None:
    expires = (datetime.now(UTC).date() + timedelta(days=days)).isoformat()
    entry = {"owner": "me", "expires": expires, "evidence": "r.json", "reason": "later"}
    (project / "tests" / "flake_freeze.json").write_text(json.dumps({"tests/test_a.py::test_a": entry}), encoding="utf-8")


def run_pytest(project: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the ordinary suite, strictly."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--strict-markers", "--strict-config", "-rA", *options]
    return subprocess.run(
        command, cwd=project, env=clean_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )


def test_unless_asked_it_makes_a_mark_known_and_nothing_else(project: Path) -> None:
    freeze(project, -2)
    (project / "tests" / "data" / "a.json").write_bytes(b"2\n")
    ended = run_pytest(project, "-W", "error")
    assert (ended.returncode, "1 passed" in ended.stdout, "lock --check" in ended.stdout) == (0, True, False), ended.stdout


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_lock_and_freezes_that_hold_are_tests_that_pass(project: Path, workers: str) -> None:
    ended = run_pytest(project, "--parity-locks", "--parity-freezes", "-n", workers)
    assert (ended.returncode, "3 passed" in ended.stdout) == (0, True), ended.stdout


@pytest.mark.parametrize("asked", ["option", "ini", "conftest"])
def test_an_expired_freeze_fails_the_ordinary_suite_whatever_was_chosen_of_it(project: Path, asked: str) -> None:
    freeze(project, -2)
    if asked == "conftest":
        (project / "conftest.py").write_text('pytest_plugins = ["paritygate.pytest_freezes"]\n', encoding="utf-8")
    options = {"option": ("--parity-freezes",), "ini": ("-o", "parity_freezes=true"), "conftest": ()}[asked]
    ended = run_pytest(project, *options, "-k", "nothing_is_called_so")
    assert (ended.returncode, "1 failed" in ended.stdout, f"FAILED ::{FREEZES}" in ended.stdout) == (1, True, True), ended.stdout
    assert "`tests/test_a.py::test_a`: the freeze expired on" in ended.stdout
    assert "Traceback" not in ended.stdout


@pytest.mark.parametrize("asked", ["option", "conftest"])
def test_a_broken_lock_fails_the_ordinary_suite(project: Path, asked: str) -> None:
    (project / "tests" / "data" / "a.json").write_bytes(b"2\n")
    if asked == "conftest":
        (project / "conftest.py").write_text('pytest_plugins = ["paritygate.pytest_locks"]\n', encoding="utf-8")
    ended = run_pytest(project, *(("--parity-locks",) if asked == "option" else ()))
    assert (ended.returncode, f"FAILED ::{LOCKS}" in ended.stdout) == (1, True), ended.stdout
    assert "changed: `tests/data/a.json`" in ended.stdout


def test_it_needs_nothing_but_pytest() -> None:
    script = (
        "import sys, paritygate.pytest_plugin; print([name for name in ('msgspec', 'click', 'docker') if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"
