"""The clock of a cell: moved for programs, true for the launcher; real library, real launcher."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from paritygate.images import resources
from paritygate.outcomes.cells import ClockFacts
from paritygate.outcomes.words import CellStatus, Outcome
from tests.support.guest import Guest

pytestmark = pytest.mark.skipif(
    not shutil.which("make") or not shutil.which("cc"), reason="the library is compiled, which takes make and a C compiler"
)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clock")
    for name, content in resources.sources("clock").items():
        (folder / name).write_bytes(content)
    subprocess.run(("make", "--silent", "-C", str(folder)), check=True)
    return folder / "clock.so"


@pytest.fixture
def alone(guest: Guest) -> Guest:
    """Have temporary folders apart: by a clock that is years ahead, pytest takes those of all others for forgotten ones."""
    guest.environment["PYTEST_DEBUG_TEMPROOT"] = str(guest.home)
    return guest


def a_clock(library: Path, moment: str = "") -> dict[str, Any]:
    return {"library": str(library), "moment": moment, "system": False}


def test_tests_and_the_programs_that_they_start_have_another_time_of_the_calendar_and_nothing_else(
    alone: Guest, library: Path
) -> None:
    guest = alone
    guest.environment["TZ"] = "Asia/Kolkata"
    guest.changes["clock"] = a_clock(library, "2028-02-29T23:50:00")
    guest.write(
        "test_time.py",
        """
        import datetime, multiprocessing, os, subprocess, sys, threading, time

        def test_the_date():
            assert datetime.date.today() == datetime.date(2028, 2, 29)
            assert datetime.datetime.now(datetime.timezone.utc).hour == 18

        def test_another_process():
            said = subprocess.run([sys.executable, "-c", "import time; print(time.strftime('%F'))"], stdout=subprocess.PIPE)
            assert said.stdout == b"2028-02-29\\n"

        def test_waits():
            began = time.monotonic()
            assert not multiprocessing.Semaphore(0).acquire(timeout=0.05)
            assert not threading.Event().wait(0.05)
            time.sleep(0.05)
            assert 0.15 <= time.monotonic() - began < 10

        def test_files_have_true_times(tmp_path):
            (tmp_path / "new").touch()
            assert time.time() - os.stat(tmp_path / "new").st_mtime > 0
            assert datetime.date.fromtimestamp(os.stat(tmp_path / "new").st_mtime) < datetime.date(2028, 2, 20)
        """,
    )
    before = time.time()
    ran = guest.run()
    assert ran.outcomes == dict.fromkeys(
        ("test_the_date", "test_another_process", "test_waits", "test_files_have_true_times"), Outcome.PASSED
    )
    cell = ran.cell
    assert cell.status is CellStatus.FINISHED, cell.detail
    assert [(each.local, each.utc) for each in cell.dates] == [("2028-02-29", "2028-02-29")] * 2
    assert cell.probe is not None
    assert (cell.probe.local_date, cell.probe.clock) == ("2028-02-29", ClockFacts(moved=cell.probe.clock.moved))
    assert sum(run.seconds for run in cell.tests) < 60
    assert 0 <= ran.events[-1]["t"] < time.time() - before
