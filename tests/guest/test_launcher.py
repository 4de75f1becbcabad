"""The launcher with real processes, real signals and a real pytest: each way of dying dies that way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import venv
from pathlib import Path
from typing import Any

import pytest

from paritygate.outcomes.cells import Touch
from paritygate.outcomes.words import CellStatus, Outcome, Touching
from tests.support.guest import Guest

PASSED, FAILED, TIMED_OUT, CRASHED, NOT_RUN = Outcome.PASSED, Outcome.FAILED, Outcome.TIMED_OUT, Outcome.CRASHED, Outcome.NOT_RUN


def is_alive(pid: int) -> bool:
    """Say whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_hashes_may_have_a_seed_of_their_own_and_random_numbers_go_on_from_test_to_test(guest: Guest) -> None:
    guest.changes = {"hash_seed": 12, "reseeds": False}
    guest.write(
        "test_a.py",
        """
        import random
        import pytest

        STATES = []

        @pytest.mark.parametrize("number", range(3))
        def test_it_goes_on(number):
            STATES.append(random.getstate())
            assert STATES == [STATES[0]] * len(STATES)
        """,
    )
    ran = guest.run()
    assert set(ran.outcomes.values()) == {PASSED}
    assert ran.cell.probe is not None
    assert (ran.cell.seed, ran.cell.probe.hash_seed) == (11, "12")


def test_a_green_run_is_told_from_beginning_to_end(guest: Guest) -> None:
    guest.write("test_a.py", "import os\ndef test_one(): os.write(1, b'{')\ndef test_two(): print('}')\n")
    guest.environment["TZ"] = "Asia/Kolkata"
    guest.expect = {"timezone": "Asia/Kolkata", "locale": "C.UTF-8", "umask": 0o022}
    ran = guest.run()
    assert (ran.status, ran.cell.status, ran.cell.passed, ran.cell.returncode) == (0, CellStatus.FINISHED, True, 0)
    assert ran.outcomes == {"test_one": PASSED, "test_two": PASSED}
    assert [event["s"] for event in ran.events] == list(range(len(ran.events)))
    assert ran.cell.probe is not None
    assert (ran.cell.probe.utcoffset_january, ran.cell.probe.utcoffset_july) == (19800, 19800)
    assert (ran.cell.probe.hash_seed, ran.cell.probe.umask, ran.cell.probe.uid) == ("11", 0o022, os.getuid())
    assert "pytest" in {one.name for one in ran.cell.probe.distributions}
    assert ran.cell.probe.filesystems.keys() == {"workspace", "tmp", "home"}
    assert ran.cell.probe.variables == ("HOME", "LC_ALL", "PATH", "PWD", "PYTHONHASHSEED", "TZ")
    assert list(guest.stacks.iterdir()) == []


LEAVES_A_CHILD = """
    import os, time

    def test_a_forks():
        if os.fork() == 0:
            time.sleep(600)
"""


def test_a_child_that_a_test_has_forked_does_not_hold_up_a_cell_whose_workers_are_done(guest: Guest) -> None:
    guest.changes = {"workers": 2}
    guest.write("test_a.py", LEAVES_A_CHILD)
    guest.write("test_b.py", "def test_b(): pass\n")
    ran = guest.run()
    assert ran.outcomes == {"test_a_forks": PASSED, "test_b": PASSED}
    assert ran.cell.status is CellStatus.FINISHED
    assert ran.cell.detail == "tests left processes behind that kept dead workers' pipes open (1); they were ended"


def test_a_worker_that_dies_is_noticed_although_a_child_holds_its_pipe(guest: Guest) -> None:
    guest.changes = {"workers": 2, "limits": {"test_seconds": 60.0, "cell_seconds": 90.0}}
    guest.write("test_a.py", LEAVES_A_CHILD + "\n    def test_b_exits(): os._exit(0)\n    def test_c_after(): pass\n")
    guest.write("test_b.py", "def test_other(): pass\n")
    guest.changes["order"] = {
        "seed": 1,
        "exactly": [[f"test_a.py::test_{name}", 0] for name in ("a_forks", "b_exits", "c_after")],
    }
    ran = guest.run()
    assert ran.outcomes == {"test_a_forks": PASSED, "test_b_exits": CRASHED, "test_c_after": PASSED}


def test_tests_see_only_what_they_are_given(guest: Guest) -> None:
    guest.write(
        "test_a.py",
        """
        import os, stat, sys
        def test_environment():
            left_out = {"PYTEST_CURRENT_TEST", "PYTEST_VERSION", "LC_CTYPE"}
            assert set(os.environ) - left_out == {"HOME", "LC_ALL", "PATH", "PWD", "PYTHONHASHSEED", "TZ"}
            assert os.environ["PWD"] == os.getcwd()
            assert hash("a") and os.environ["PYTHONHASHSEED"] == "11"
        def test_streams():
            assert os.read(0, 1) == b""
            links = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
            pipes = [os.readlink(link) for link in links if os.path.lexists(link) and os.readlink(link).startswith("pipe:")]
            assert len(pipes) == 1  # the recorder's, and no other of the launcher's
        """,
    )
    guest.changes = {"pytest": {"paths": [], "keyword": "", "marker": "", "arguments": ["-s"]}}
    ran = guest.run()
    assert ran.outcomes == {"test_environment": PASSED, "test_streams": PASSED}, ran.stderr


@pytest.mark.parametrize("workers", [0, 2])
def test_what_tests_touch_is_told_with_them(guest: Guest, workers: int) -> None:
    guest.write("conftest.py", "import pytest\n@pytest.fixture(scope='session')\ndef service(): return 1\n")
    guest.write("test_a.py", "import os\ndef test_it(service): assert not os.path.exists('a.json')\n")
    guest.write("test_b.py", "def test_other(): pass\n")
    guest.changes = {"watched": ["a.json"], "workers": workers}
    ran = guest.run()
    told = {run.nodeid: (run.touched, run.fixtures) for run in ran.cell.tests}
    assert told == {
        "test_a.py::test_it": ((Touch("a.json", Touching.LOOKED_FOR),), ("conftest.py::service",)),
        "test_b.py::test_other": ((), ()),
    }, ran.stderr


def test_a_selection_reaches_pytest(guest: Guest) -> None:
    guest.write("test_a.py", "def test_slow(): pass\ndef test_quick(): pass\ndef test_other(): pass\n")
    guest.changes = {
        "pytest": {
            "paths": ["test_a.py"],
            "keyword": "quick or slow",
            "marker": "",
            "arguments": ["--deselect", "test_a.py::test_slow"],
        }
    }
    ran = guest.run()
    assert ran.outcomes == {"test_quick": PASSED}
    assert ran.cell.deselected == 2


def test_what_the_user_gives_pytest_does_not_go_over_the_cells_own(guest: Guest) -> None:
    guest.write("test_a.py", "def test_a(): pass\n")
    guest.write("test_b.py", "def test_b(): assert False\n")
    asked = {"paths": [], "keyword": "", "marker": "", "arguments": ["--dist=load", "-pno:xdist", "-pno:randomly", "-n1", "-x"]}
    guest.changes = {"workers": 2, "pytest": asked}
    cell = guest.run().cell
    assert (cell.status, cell.workers, len(cell.tests)) == (CellStatus.FINISHED, 2, 2)
    assert set(cell.neutralised) == {
        "`--dist load` is set aside: workers share the tests out by file",
        "`-p no:xdist` is overridden",
        "`-p no:randomly` is overridden",
        "`-n 1` is replaced by 2 workers",
        "`-x/--maxfail` is off",
    }


def test_a_hang_is_dumped_and_the_rest_runs(guest: Guest) -> None:
    guest.write("test_a.py", "import time\ndef test_a(): pass\ndef test_hangs(): time.sleep(99)\ndef test_b(): pass\n")
    guest.limits["test_seconds"] = 1
    ran = guest.run()
    assert ran.outcomes == {"test_a": PASSED, "test_hangs": TIMED_OUT, "test_b": PASSED}
    assert (ran.cell.status, ran.cell.passed) == (CellStatus.FINISHED, False)
    hung = next(run for run in ran.cell.tests if run.outcome is TIMED_OUT)
    assert hung.failure is not None
    assert (hung.failure.message, hung.failure.file, hung.failure.line) == ("over the limit of 1 s", "test_a.py", 3)
    assert "in test_hangs" in hung.failure.text
    assert [event["why"] for event in ran.kinds("restart")] == ["timed_out"]


def test_a_hang_under_workers_is_dumped_and_the_rest_runs(guest: Guest) -> None:
    guest.write("test_a.py", "import time\ndef test_a(): pass\ndef test_hangs(): time.sleep(99)\ndef test_b(): pass\n")
    guest.write("test_b.py", "def test_c(): pass\n")
    guest.limits["test_seconds"] = 1
    guest.changes = {"workers": 2}
    ran = guest.run()
    assert ran.outcomes == {"test_a": PASSED, "test_hangs": TIMED_OUT, "test_b": PASSED, "test_c": PASSED}
    assert (ran.cell.status, ran.cell.workers, ran.cell.returncode) == (CellStatus.FINISHED, 2, 1)
    hung = next(run for run in ran.cell.tests if run.outcome is TIMED_OUT)
    assert hung.failure is not None
    assert "in test_hangs" in hung.failure.text


def test_more_hangs_than_allowed_end_the_cell(guest: Guest) -> None:
    guest.write("test_a.py", "import time\n" + "".join(f"def test_{number}(): time.sleep(99)\n" for number in range(4)))
    guest.limits.update({"test_seconds": 0.5, "timeouts": 1})
    ran = guest.run()
    assert sorted(ran.outcomes.values()) == [NOT_RUN, NOT_RUN, TIMED_OUT, TIMED_OUT]
    assert ran.cell.status is CellStatus.TIMED_OUT


@pytest.mark.parametrize(
    ("body", "exception"),
    [
        ("import os; os._exit(0)", "exit status 0"),
        ("import os; os._exit(3)", "exit status 3"),
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
        ("import os; os.kill(os.getpid(), 9)", "SIGKILL"),
    ],
)
def test_a_process_that_dies_in_a_test_is_that_tests_crash(guest: Guest, body: str, exception: str) -> None:
    guest.write("test_a.py", f"def test_a(): pass\ndef test_dies():\n    {body}\ndef test_b(): pass\n")
    ran = guest.run()
    assert ran.outcomes == {"test_a": PASSED, "test_dies": CRASHED, "test_b": PASSED}
    assert ran.cell.status is CellStatus.FINISHED
    failure = next(run.failure for run in ran.cell.tests if run.outcome is CRASHED)
    assert failure is not None
    assert failure.exception == exception


def test_too_many_crashes_end_the_cell(guest: Guest) -> None:
    guest.write("test_a.py", "import os\n" + "".join(f"def test_{number}(): os._exit(1)\n" for number in range(8)))
    ran = guest.run()
    assert sorted(ran.outcomes.values()) == [CRASHED] * 6 + [NOT_RUN] * 2
    assert ran.cell.status is CellStatus.CRASHED


@pytest.mark.parametrize("workers", [0, 2])
def test_modules_that_a_test_has_removed_are_named_where_others_cannot_run_for_it(guest: Guest, workers: int) -> None:
    text = """
        import os
        def test_removes(): os.unlink('test_a.py')
        def test_dies(): os._exit(3)
        def test_b(): pass
    """
    guest.write("test_a.py", text)
    guest.write("test_c.py", "def test_c(): pass\n")
    order = [[f"test_a.py::test_{name}", 0] for name in ("removes", "dies", "b")]
    guest.changes = {"workers": workers, "order": {"seed": 1, "exactly": [*order, ["test_c.py::test_c", 0]]}}
    cell = guest.run().cell
    assert cell.status is CellStatus.CRASHED
    assert cell.removed == ("test_a.py",)
    assert cell.detail.startswith("`test_a.py` is gone from the workspace: a test has removed it; pytest, started anew, ended")


def test_a_death_at_import_is_a_crash_of_the_cell(guest: Guest) -> None:
    guest.write("conftest.py", "import os\nos._exit(0)\n")
    guest.write("test_a.py", "def test_a(): pass\n")
    ran = guest.run()
    assert (ran.status, ran.cell.status) == (0, CellStatus.CRASHED)
    assert ran.cell.detail == "pytest died with exit status 0, before tests were collected"


def test_when_the_gate_is_gone_nothing_stays(guest: Guest) -> None:
    guest.write(
        "test_a.py", "import subprocess, time\ndef test_a():\n    subprocess.Popen(['sleep', '98'])\n    time.sleep(99)\n"
    )
    pids: list[int] = []

    def leave(event: dict[str, Any], launcher: subprocess.Popen[bytes]) -> None:
        if event["e"] == "workers":
            pids.append(event["pid"])
        if event["e"] == "test-start":
            assert launcher.stdin is not None
            launcher.stdin.close()

    ran = guest.run(leave)
    assert ran.status == 75
    assert ran.events[-1]["why"] == "gone"
    assert [is_alive(pid) for pid in pids] == [False]
    assert (ran.cell.status, len(ran.cell.running)) == (CellStatus.CRASHED, 1)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_launcher_that_is_told_to_go_ends_its_cell(guest: Guest, number: signal.Signals) -> None:
    guest.write("test_a.py", "import time\ndef test_a(): time.sleep(99)\n")
    ran = guest.run(lambda event, launcher: launcher.send_signal(number) if event["e"] == "test-start" else None)
    assert (ran.status, ran.events[-1]["why"]) == (75, "gone")


def test_a_launcher_that_is_killed_takes_pytest_with_it(guest: Guest) -> None:
    guest.write("test_a.py", "import time\ndef test_a(): time.sleep(99)\n")
    pids: list[int] = []

    def end(event: dict[str, Any], launcher: subprocess.Popen[bytes]) -> None:
        if event["e"] == "workers":
            pids.append(event["pid"])
        if event["e"] == "test-start":
            launcher.kill()

    ran = guest.run(end)
    assert ran.status == -signal.SIGKILL
    patience = time.monotonic() + 20
    while is_alive(pids[0]) and time.monotonic() < patience:
        time.sleep(0.02)
    assert not is_alive(pids[0])


def test_a_daemon_that_holds_the_pipe_neither_delays_the_end_nor_stays(guest: Guest) -> None:
    guest.write(
        "test_a.py",
        """
        import os, time
        def test_a(tmp_path_factory):
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    open("pid", "w").write(str(os.getpid()))
                    time.sleep(98)
                os._exit(0)
            while not os.path.exists("pid") or not open("pid").read():
                time.sleep(0.01)
        """,
    )
    guest.limits["cell_seconds"] = 40
    ran = guest.run()
    assert (ran.cell.status, ran.cell.passed) == (CellStatus.FINISHED, True)
    assert not is_alive(int((guest.tree / "pid").read_text()))


def test_the_cells_own_limit_ends_it_with_stacks(guest: Guest) -> None:
    guest.write("test_a.py", "import time\ndef test_a(): pass\ndef test_hangs(): time.sleep(99)\n")
    guest.changes = {"order": {"seed": 0, "exactly": [["test_a.py::test_a", 0], ["test_a.py::test_hangs", 0]]}}
    guest.limits["cell_seconds"] = 3
    ran = guest.run()
    assert (ran.status, ran.cell.status, ran.cell.returncode) == (0, CellStatus.TIMED_OUT, None)
    assert ran.events[-1]["signal"] == "SIGKILL"
    assert ran.outcomes == {"test_a": PASSED}
    assert [test.nodeid for test in ran.cell.running] == ["test_a.py::test_hangs"]
    assert "in test_hangs" in ran.stderr


def test_silence_outside_tests_is_idle(guest: Guest) -> None:
    guest.write("conftest.py", "import time\ndef pytest_sessionfinish(): time.sleep(99)\n")
    guest.write("test_a.py", "def test_a(): pass\n")
    guest.limits["idle_seconds"] = 1.5
    ran = guest.run()
    assert (ran.cell.status, ran.events[-1]["why"]) == (CellStatus.TIMED_OUT, "idle")
    assert ran.outcomes == {"test_a": PASSED}


def test_a_long_test_within_its_limit_is_not_idle(guest: Guest) -> None:
    guest.write("test_a.py", "import time\ndef test_a(): time.sleep(2.5)\n")
    guest.limits["idle_seconds"] = 1.2
    ran = guest.run()
    assert (ran.cell.status, ran.cell.passed) == (CellStatus.FINISHED, True)


def test_a_missing_pytest_is_said(guest: Guest, tmp_path: Path) -> None:
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    python = str(tmp_path / "bare" / "bin" / "python")
    guest.changes = {"python": python}
    ran = guest.run()
    assert (ran.status, ran.cell.status) == (0, CellStatus.UNUSABLE)
    assert ran.cell.detail == f"pytest is not installed for `{python}`"


def test_a_missing_interpreter_is_said(guest: Guest) -> None:
    guest.changes = {"python": "/no/such/python"}
    ran = guest.run()
    assert (ran.status, ran.cell.status) == (0, CellStatus.UNUSABLE)
    assert ran.cell.detail.startswith("`/no/such/python` cannot be started: ")


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(
    ("asked", "ini", "said"),
    [
        ({"arguments": ["--frobnicate"]}, "", "ERROR: unrecognized arguments: --frobnicate"),
        ({}, "[pytest]\naddopts = --frobnicate\n", "ERROR: unrecognized arguments: --frobnicate"),
        ({"keyword": "and and"}, "", "ERROR: Wrong expression passed to '-k': and and"),
        ({"marker": "and and"}, "", "ERROR: Wrong expression passed to '-m': and and"),
    ],
)
def test_what_pytest_cannot_be_asked_is_said_in_its_own_words(
    guest: Guest, workers: int, asked: dict[str, Any], ini: str, said: str
) -> None:
    guest.write("test_a.py", "def test_a(): pass\n")
    guest.write("test_broken.py", "import no_such_module\n")
    guest.write("pytest.ini", ini or "[pytest]\n")
    guest.changes = {"workers": workers, "pytest": {"paths": [], "keyword": "", "marker": "", "arguments": [], **asked}}
    ran = guest.run()
    assert (ran.cell.status, ran.cell.returncode) == (CellStatus.UNUSABLE, 4)
    assert ran.cell.detail.startswith(said)
    assert "\n" not in ran.cell.detail


@pytest.mark.parametrize("workers", [0, 2])
def test_an_id_that_is_not_there_is_named(guest: Guest, workers: int) -> None:
    guest.write("test_a.py", "def test_a(): pass\n")
    paths = ["test_a.py::nosuch"]
    guest.changes = {"workers": workers, "pytest": {"paths": paths, "keyword": "", "marker": "", "arguments": []}}
    ran = guest.run()
    assert (ran.cell.status, ran.cell.detail) == (CellStatus.NO_TESTS, "not found: `test_a.py::nosuch`")
    assert ran.cell.missing == ("test_a.py::nosuch",)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_session_that_ends_itself_is_said_to_have_done_so(guest: Guest, workers: int) -> None:
    tests = (f"def test_{number}(request): request.session.shouldstop = 'enough'\n" for number in range(3))
    guest.write("test_a.py", "".join(tests))
    guest.changes = {"workers": workers}
    ran = guest.run()
    last = next(run.nodeid for run in ran.cell.tests if run.outcome is PASSED)
    assert ran.cell.status is CellStatus.CRASHED
    assert ran.cell.detail == f"pytest ended early with exit status 2 after `{last}` (enough), 1 of 3 tests are decided"


def test_all_that_may_have_killed_a_process_group_are_named(guest: Guest) -> None:
    guest.write("test_a.py", "import os\ndef test_a(): pass\ndef test_kills(): os.killpg(0, 9)\n")
    guest.write("test_b.py", "import time\ndef test_waits(): time.sleep(60)\n")
    guest.changes = {"workers": 2}
    ran = guest.run()
    assert ran.cell.status is CellStatus.CRASHED
    assert ran.cell.running
    assert {test.nodeid for test in ran.cell.running} <= {"test_a.py::test_a", "test_a.py::test_kills", "test_b.py::test_waits"}
    assert len(ran.cell.running) == 2


def test_no_tests_is_no_tests(guest: Guest) -> None:
    ran = guest.run()
    assert (ran.cell.status, ran.cell.returncode) == (CellStatus.NO_TESTS, 5)


def test_a_module_that_fails_to_import_does_not_stop_the_others(guest: Guest) -> None:
    guest.write("test_a.py", "def test_a(): pass\n")
    guest.write("test_b.py", "import no_such_module\n")
    ran = guest.run()
    assert ran.cell.status is CellStatus.FINISHED
    assert ran.outcomes == {"test_a": PASSED, "test_b.py": Outcome.ERROR}


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"{}\n", "`protocol` must be a JSON int; `nonce` must be a JSON str"),
        (b"[1]\n", "is no JSON object"),
        (b"\xff{\n", "is not JSON"),
        (b'{"protocol":', "stdin ended before the specification's newline, after 12 bytes"),
        (b"", "stdin ended before the specification's newline, after 0 bytes"),
    ],
)
def test_a_bad_specification_is_refused_in_one_line(guest: Guest, sent: bytes, said: str) -> None:
    ran = subprocess.run([sys.executable, str(guest.files / "launcher.py")], input=sent, capture_output=True, check=False)
    assert (ran.returncode, ran.stdout) == (64, b"")
    assert said in ran.stderr.decode()
    assert ran.stderr.count(b"\n") == 1


def test_a_zone_that_does_not_exist_is_a_mismatch(guest: Guest) -> None:
    guest.environment["TZ"] = "Mars/Olympus"
    guest.expect = {"timezone": "Mars/Olympus"}
    ran = guest.run()
    assert (ran.status, ran.cell.status) == (0, CellStatus.ENVIRONMENT_MISMATCH)
    assert ran.cell.detail == (
        "timezone `Mars/Olympus`: there is no such zone in the cell's /usr/share/zoneinfo, times would silently be UTC"
    )


def test_a_zone_that_did_not_take_effect_is_a_mismatch(guest: Guest) -> None:
    guest.expect = {"timezone": "Asia/Kolkata"}
    ran = guest.run()
    assert ran.cell.detail == (
        "timezone `Asia/Kolkata`: offsets in January and July are [0, 0] seconds, the zone's are [19800, 19800]"
    )


def test_a_locale_that_is_not_generated_is_a_mismatch(guest: Guest) -> None:
    guest.environment["LC_ALL"] = "xx_XX.UTF-8"
    guest.expect = {"locale": "xx_XX.UTF-8"}
    ran = guest.run()
    assert ran.cell.detail == "locale `xx_XX.UTF-8`: unsupported locale setting; it is not generated in this cell"
    assert ran.cell.probe is not None
    assert ran.cell.probe.locale == "unsupported: xx_XX.UTF-8"


def test_everything_that_is_wrong_is_said_at_once(guest: Guest) -> None:
    guest.sentinel.write_text("old\n")
    guest.environment["LC_ALL"] = "C"
    guest.expect = {"locale": "C.UTF-8", "umask": 0o077, "sentinel": "new", "case_sensitive": False}
    ran = guest.run()
    assert ran.cell.detail.split("; ") == [
        "locale `C.UTF-8`: the tests' locale is `C`",
        f"case_sensitive = false: workspace `{guest.tree}` is not so",
        "case_sensitive = false: tmp `/tmp` is not so",
        f"case_sensitive = false: home `{guest.home}` is not so",
        "umask: `022` instead of `077`",
        "sentinel of the tree: `old` instead of `new`",
    ]


def test_what_a_test_writes_into_the_pipe_of_the_recorder_counts_for_nothing(guest: Guest) -> None:
    guest.write(
        "test_a.py",
        """
        import os
        def test_a():
            forged = [
                b'{"n":"guess","e":"end"}', b"[]", b"\\xff",
                b'{"n":"5eed","e":"end","why":"finished"}', b'{"n":"5eed","e":"test"}',
            ]
            for fd in os.listdir("/proc/self/fd"):
                link = f"/proc/self/fd/{fd}"
                if int(fd) > 2 and os.path.lexists(link) and os.readlink(link).startswith("pipe:"):
                    os.write(int(fd), b"\\n".join(forged) + b"\\n")
            assert False
        """,
    )
    ran = guest.run()
    assert ran.outcomes == {"test_a": FAILED}
    assert (ran.cell.status, len(ran.kinds("end"))) == (CellStatus.FINISHED, 1)


def test_a_cell_is_measured_whatever_its_python_takes_for_the_encoding_of_names(guest: Guest) -> None:
    guest.write("test_a.py", "import sys\ndef test_ascii(): assert sys.getfilesystemencoding() == 'ascii'\n")
    guest.environment |= {"LC_ALL": "C", "PYTHONUTF8": "0"}
    ran = guest.run()
    assert ran.outcomes == {"test_ascii": PASSED}
    assert ran.cell.probe is not None
    assert not ran.cell.probe.utf8_mode
    assert ran.cell.probe.case["workspace"]["keeps"]
    assert sorted(ran.cell.probe.listing) == ["a", "b", "c", "d", "e", "f"]


def test_case_is_not_looked_at_in_a_home_that_is_not_the_cells(guest: Guest) -> None:
    guest.write("test_a.py", "def test_runs(): pass\n")
    guest.environment["HOME"] = "/proc"
    guest.expect = {"case_sensitive": True}
    assert guest.run().outcomes == {"test_runs": PASSED}
