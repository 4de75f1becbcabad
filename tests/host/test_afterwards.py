"""What starts from a report of cells that ran without an engine: a test run once more, causes, a line of the shell."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from paritygate.outcomes.words import CauseKind
from tests.support.command_line import call
from tests.support.gate_runs import lay_out

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="cells on the computer itself take Linux")

TESTS = """\
SEEN = []

def test_polluter():
    SEEN.append(1)

def test_victim():
    assert not SEEN
"""
VICTIM = "test_a.py::test_victim"
SETTINGS = 'seeds = [1, 2]\n[environments.local-like]\nlocale = "C.UTF-8"\ncase_sensitive = "any"\n'


def test_a_report_is_gone_on_with_while_the_checkout_holds_what_was_tested(tmp_path: Path) -> None:
    project = lay_out(tmp_path / "project", {"test_a.py": TESTS, "paritygate.toml": SETTINGS})
    (tmp_path / "t").mkdir()
    variables = {"TMPDIR": str(tmp_path / "t"), "VIRTUAL_ENV": ""}
    options = ("--runner", "host", "--env", "local-like", "--explain-budget", "0")
    assert call(project, "run", *options, variables=variables).code == 2
    report = str(project / "parity_report.json")

    again = call(tmp_path, "repro", report, VICTIM, variables=variables)
    assert (again.code, again.out.splitlines()[-1]) == (0, "reproduced: failed, as in the report"), again.err
    assert "once more in local-like-" in again.err
    assert ", on host" in again.err
    alone = call(tmp_path, "repro", report, VICTIM, "--alone", "--quiet", variables=variables)
    assert (alone.code, alone.out) == (1, "not reproduced: passed; in the report it is failed\n")

    line = call(tmp_path, "repro", report, VICTIM, "--print", variables=variables)
    assert line.out.startswith(f"cd {shlex.quote(str(project))} && env TZ=")
    assert "note: it runs the test alone" in line.err
    python = str(Path(sys.executable).parent)
    done = subprocess.run(["sh", "-c", line.out], env={"PATH": f"{python}:/usr/bin:/bin"}, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout
    shell = call(tmp_path, "repro", report, VICTIM, "--shell", variables=variables)
    assert (shell.code, "a shell is for cells in containers" in shell.err) == (64, True)

    explained = call(tmp_path, "explain", report, variables=variables)
    assert explained.code == 2, explained.err
    assert f"cause: {CauseKind.ORDER}: fails after `test_a.py::test_polluter`" in explained.out

    (project / "new.txt").write_text("")
    other = call(tmp_path, "repro", report, VICTIM, variables=variables)
    assert other.code == 4
    assert "is not the one that was tested" in other.err
    assert "hint: bring back what was tested (it was on commit " in other.err
