"""A suite that asks for pins in a real gate: they yield, and strictness does not mind that paritygate is not in the image."""

from __future__ import annotations

from pathlib import Path

import pytest

from paritygate.outcomes.words import ExitCode
from tests.support.gate_runs import QUICK, lay_out, run

pytestmark = pytest.mark.docker


def test_pins_yield_and_the_report_says_so(tmp_path: Path) -> None:
    ini = "[pytest]\nparity_pin = true\naddopts = --strict-config\n"
    test = "import time\ndef test_zone(): assert time.tzname[0] != 'UTC'\n"
    project = lay_out(tmp_path / "project", {"pytest.ini": ini, "test_a.py": test})
    ended = run(project, *QUICK)
    assert ended.status == ExitCode.PARITY, ended.stderr
    assert "the pins of the suite (`parity_pin`) yielded to the axes; `--respect-pins` would keep them" in ended.stdout
    assert ended.artifact is not None
    assert all(cell.pins.suite and not cell.pins.in_force for cell in ended.artifact.cells)
