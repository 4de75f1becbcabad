"""The clock of a cell: moved for programs, true for the launcher; real library, real launcher."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from paritygate.outcomes.cells import ClockFacts
from paritygate.outcomes.words import CellStatus, Outcome
from tests.support.guest import Guest

pytestmark = pytest.mark.skipif(
    not shutil.which("make") or not shutil.which("cc"), reason="the library is compiled, which takes make and a C compiler"
)


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
    guest.environment |= {"TZ": "Asia/Kolkata", "PYTHONSAFEPATH": "1"}
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
    assert cell.probe.clock is not None
    assert (cell.probe.local_date, cell.probe.clock) == ("2028-02-29", ClockFacts(moved=cell.probe.clock.moved))
    assert sum(run.seconds for run in cell.tests) < 60
    assert 0 <= ran.events[-1]["t"] < time.time() - before


def test_a_clock_may_go_back_and_waits_last_no_longer(alone: Guest, library: Path) -> None:
    alone.environment["TZ"] = "America/New_York"
    alone.changes |= {"clock": a_clock(library, "1999-12-31T23:59:00"), "workers": 2}
    alone.write(
        "test_time.py",
        """
        import datetime, multiprocessing, queue, time
        import pytest

        @pytest.mark.parametrize("number", range(4))
        def test_waits(number):
            assert datetime.date.today() == datetime.date(1999, 12, 31)
            began = time.monotonic()
            with pytest.raises(queue.Empty):
                multiprocessing.Queue().get(timeout=0.05)
            assert 0.04 <= time.monotonic() - began < 10
        """,
    )
    ran = alone.run()
    assert set(ran.outcomes.values()) == {Outcome.PASSED}
    assert ran.cell.status is CellStatus.FINISHED
    assert [(each.local, each.utc) for each in ran.cell.dates] == [("1999-12-31", "2000-01-01")] * 2


def test_programs_that_ask_the_library_are_told_the_true_time_where_it_is_not_to_be_moved(alone: Guest, library: Path) -> None:
    alone.changes["clock"] = a_clock(library)
    alone.write(
        "test_time.py",
        "import os, time\ndef test_now():\n    open('x', 'w').close(); assert time.time() - os.stat('x').st_mtime < 60\n",
    )
    ran = alone.run()
    assert ran.outcomes == {"test_now": Outcome.PASSED}
    assert ran.cell.probe is not None
    assert ran.cell.probe.clock == ClockFacts(moved=0.0)


def test_a_moment_that_the_zone_leaves_out_is_said(alone: Guest, library: Path) -> None:
    alone.environment["TZ"] = "Europe/Berlin"
    alone.changes["clock"] = a_clock(library, "2027-03-28T02:30:00")
    cell = alone.run().cell
    assert cell.status is CellStatus.ENVIRONMENT_MISMATCH
    assert cell.detail == "the clock could not be moved: there is no such moment in this zone: clocks are put forward then"


def test_a_library_that_is_not_there_is_said(alone: Guest) -> None:
    alone.changes["clock"] = a_clock(alone.home / "clock.so", "2028-02-29T12:00:00")
    cell = alone.run().cell
    assert cell.status is CellStatus.ENVIRONMENT_MISMATCH
    assert cell.detail == f"the clock could not be moved: the library `{alone.home}/clock.so` is not there"


def compiled(folder: Path, source: str) -> Path:
    (folder / "other.c").write_text(source)
    made = folder / "other.so"
    subprocess.run(("cc", "-shared", "-fPIC", "-o", str(made), str(folder / "other.c")), check=True)
    return made


def test_a_clock_that_breaks_programs_is_told_apart_from_programs_that_fail(alone: Guest, tmp_path: Path) -> None:
    breaks = compiled(tmp_path, "#include <unistd.h>\n__attribute__((constructor)) static void begin(void) { _exit(3); }\n")
    alone.changes["clock"] = a_clock(breaks, "2028-02-29T12:00:00")
    ran = alone.run()
    assert ran.cell.status is CellStatus.ENVIRONMENT_MISMATCH
    assert ran.cell.detail == (
        "clock `2028-02-29T12:00:00`: it could not be moved: with it, the probe gave no answer (exit status 3); its message is "
        "on stderr; without, all is well"
    )
    assert ran.cell.probe is not None


def test_a_clock_that_does_not_move_is_found_out(alone: Guest, tmp_path: Path) -> None:
    idle = compiled(tmp_path, "int nothing;\n")
    alone.changes["clock"] = a_clock(idle, "2028-02-29T12:00:00")
    cell = alone.run().cell
    assert cell.status is CellStatus.ENVIRONMENT_MISMATCH
    said = [part for part in cell.detail.split("; ") if part.startswith("clock `2028-02-29T12:00:00`: ")]
    assert [part.split("`: ")[1].split(" is ")[0] for part in said] == [
        "`time.time()`",
        "`datetime.now()` in a thread",
        "SQLite's `now`",
        "`date` in a process",
    ]


def test_what_a_cell_writes_has_its_clocks_time_where_that_is_asked_for(alone: Guest, library: Path) -> None:
    alone.changes["clock"] = {**a_clock(library, "2028-02-29T12:00:00"), "files": True}
    alone.write("old.txt", "since before the cell began")
    alone.write(
        "test_times.py",
        """
        import os, shutil, subprocess, sys, time

        def test_what_is_new(tmp_path):
            path = tmp_path / "new"
            path.touch()
            assert abs(time.time() - path.stat().st_mtime) < 60
            assert abs(time.time() - next(os.scandir(tmp_path)).stat().st_mtime) < 60

        def test_what_is_old():
            assert time.time() - os.stat("old.txt").st_mtime > 24 * 3600

        def test_what_is_set(tmp_path):
            path = tmp_path / "new"
            path.touch()
            for moment in (1000, time.time() - 3600, time.time() + 3600):
                os.utime(path, (moment, moment))
                assert path.stat().st_mtime == moment
            shutil.copystat("old.txt", path)
            assert path.stat().st_mtime_ns == os.stat("old.txt").st_mtime_ns

        def test_another_process(tmp_path):
            path = tmp_path / "new"
            path.touch()
            said = subprocess.run(["stat", "-c", "%Y", str(path)], stdout=subprocess.PIPE)
            assert int(said.stdout) == int(path.stat().st_mtime)
        """,
    )
    ran = alone.run()
    assert [run.failure for run in ran.cell.tests if run.failure] == []
    assert (ran.cell.status, len(ran.cell.tests)) == (CellStatus.FINISHED, 4)
