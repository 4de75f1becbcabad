"""A project whose tests do everything that tests can do, and a shell to paste a command into."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.command_line import commit

EVERYTHING = """\
import pytest

@pytest.fixture
def broken():
    raise RuntimeError("no")

@pytest.fixture
def leaky():
    yield
    raise RuntimeError("no")

def test_passes(): pass
def test_fails(): assert 1 == 2
def test_breaks(broken): pass
def test_leaks(leaky): pass
@pytest.mark.skip(reason="not here")
def test_skips(): pass
@pytest.mark.xfail(reason="known")
def test_xfails(): assert 0
@pytest.mark.xfail(reason="was known")
def test_xpasses(): pass
@pytest.mark.parametrize("value", ["a - b", "x::y", "two words"])
def test_values(value): pass
"""
OUTCOMES = {
    "tests/test_all.py::test_passes": "passed",
    "tests/test_all.py::test_fails": "failed",
    "tests/test_all.py::test_breaks": "error",
    "tests/test_all.py::test_leaks": "error",
    "tests/test_all.py::test_skips": "skipped",
    "tests/test_all.py::test_xfails": "xfailed",
    "tests/test_all.py::test_xpasses": "xpassed",
    "tests/test_all.py::test_values[a - b]": "passed",
    "tests/test_all.py::test_values[x::y]": "passed",
    "tests/test_all.py::test_values[two words]": "passed",
    "tests/test_more.py::test_more": "passed",
}


def a_project(folder: Path) -> Path:
    """Lay out a repository with these tests, one of them excluded."""
    tests = folder / "tests"
    tests.mkdir(parents=True)
    (tests / "test_all.py").write_text(EVERYTHING, encoding="utf-8")
    excluded = '\n\n@pytest.mark.parity_exclude(reason="no")\ndef test_out(): assert 0\n'
    (tests / "test_more.py").write_text(f"import pytest\n\ndef test_more(): pass{excluded}", encoding="utf-8")
    return commit(folder, new=True)


def paste(line: str, folder: Path) -> bytes:
    """Run a command line in a shell, where `python` is this interpreter, and take all that it shows."""
    environment = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)}
    ran = subprocess.run(
        ["sh", "-c", line], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return ran.stdout
