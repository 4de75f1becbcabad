"""A suite that asks for pins in a real gate: they yield, or are kept where paritygate is installed beside pytest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from paritygate.outcomes.words import Axis, ExitCode
from tests.support.gate_runs import QUICK, lay_out, run

pytestmark = pytest.mark.docker

ROOT = Path(__file__).parents[2]
YIELDED = (
    "the pins of the suite (`parity_pin`) are not in force, so that the axes can vary; "
    "`--respect-pins` keeps them where paritygate is installed in the images, beside pytest"
)
KEPT = "the pins of the suite (`parity_pin`) were kept (`--respect-pins`)"


def test_pins_yield_and_the_report_says_so(tmp_path: Path) -> None:
    ini = "[pytest]\nparity_pin = true\naddopts = --strict-config\n"
    test = "import time\ndef test_zone(): assert time.tzname[0] != 'UTC'\n"
    project = lay_out(tmp_path / "project", {"pytest.ini": ini, "test_a.py": test})
    ended = run(project, *QUICK)
    assert ended.status == ExitCode.PARITY, ended.stderr
    assert YIELDED in ended.stdout
    assert ended.artifact is not None
    assert all(cell.pins.suite and not cell.pins.in_force for cell in ended.artifact.cells)


def test_the_plugin_in_a_cell_yields_too_and_keeps_pins_where_that_is_asked(tmp_path: Path) -> None:
    """The wheel of this very code is among the project's requirements; what its pins hide is found only where they yield."""
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "project/wheels")]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    (wheel,) = (tmp_path / "project/wheels").iterdir()
    test = "import time\ndef test_zone(): assert time.localtime(0).tm_hour == 0\n"
    files = {"pytest.ini": "[pytest]\nparity_pin = true\n", "test_a.py": test}
    project = lay_out(tmp_path / "project", {**files, "requirements.txt": f"pytest\n./wheels/{wheel.name}\n"})

    ended = run(project, *QUICK)
    assert ended.status == ExitCode.CONSISTENT_RED, ended.stderr
    assert YIELDED in ended.stdout

    ended = run(project, *QUICK, "--respect-pins")
    assert ended.status == ExitCode.PARITY, ended.stdout
    assert KEPT in ended.stdout
    assert ended.artifact is not None
    blind = {each.axis for each in ended.artifact.axes if "--respect-pins" in each.why}
    assert blind == {Axis.TIMEZONE, Axis.LOCALE}
