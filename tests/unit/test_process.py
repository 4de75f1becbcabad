"""The streams and signals of a process, seen from outside: each of these is a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from paritygate import __main__ as way_in
from paritygate.outcomes.words import ExitCode

ROOT = Path(__file__).parent.parent.parent

HEARS_SIGNALS = "import signal; [signal.signal(each, signal.SIG_DFL) for each in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)]"

CLEANS_UP = """\
import sys, time
from paritygate import process
from paritygate.errors import InterruptedRunError

process.take_in_hand()
try:
    with process.ending_on_signals():
        try:
            print("begun", flush=True)
            try:
                time.sleep(600)
            except Exception:
                print("taken for a failure", flush=True)
        finally:
            print("cleaning", flush=True)
            if SLOWLY:
                time.sleep(600)
            print("cleaned", flush=True)
except InterruptedRunError as error:
    print(error.message, flush=True)
    sys.exit(error.exit_code)
"""


@contextmanager
def started(script: str, *, slowly: bool = False) -> Iterator[subprocess.Popen[str]]:
    """Start a script; it is ended by force if it has not ended by itself, and signals are not ignored for it."""
    command = [sys.executable, "-c", f"{HEARS_SIGNALS}\n{script.replace('SLOWLY', str(slowly))}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def next_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_first_signal_unwinds_and_is_taken_for_no_failure_on_the_way(number: signal.Signals, status: int) -> None:
    with started(CLEANS_UP) as process:
        assert next_line(process) == "begun"
        process.send_signal(number)
        said, complaints = process.communicate()
    assert said.splitlines() == ["cleaning", "cleaned", f"interrupted by `{number.name}`; nothing is left running"]
    assert (process.returncode, complaints) == (status, "")


def test_the_second_signal_is_answered_and_the_third_ends_at_once() -> None:
    with started(CLEANS_UP, slowly=True) as process:
        assert next_line(process) == "begun"
        process.send_signal(signal.SIGINT)
        assert next_line(process) == "cleaning"
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert process.stderr.readline() == "paritygate: stopping; once more to abandon, the next run cleans up\n"
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        said, complaints = process.communicate()
    assert (process.returncode, said, complaints) == (143, "", "")


def test_a_signal_before_anything_has_begun_ends_without_a_traceback() -> None:
    script = "import time; from paritygate import process; process.take_in_hand(); print('here', flush=True); time.sleep(600)"
    with started(script) as process:
        assert next_line(process) == "here"
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate()
    assert (process.returncode, complaints) == (130, "paritygate: interrupted by `SIGINT`; nothing is left running\n")


READS_ON = """\
import sys
sys.argv = ["paritygate", "run", "--runner", "host", "--project", "."]
from paritygate.__main__ import main
sys.exit(main())
"""
A_GOOD_PART = 1 << 26
"""Bytes, more than what it takes to load the program."""


def bytes_read(process: subprocess.Popen[str]) -> int:
    counts = dict(line.split(": ") for line in Path(f"/proc/{process.pid}/io").read_text().splitlines())
    return int(counts["rchar"])


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="nothing tells here how far a process has read")
def test_a_signal_ends_the_reading_of_a_file_however_large_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "endless").open("wb") as stream:
        stream.truncate(1 << 40)
    monkeypatch.chdir(tmp_path)
    with started(READS_ON) as process:
        while bytes_read(process) < A_GOOD_PART and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert "SIGTERM" in said


def test_a_signal_that_was_to_be_ignored_stays_ignored() -> None:
    command = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", sys.executable, "-c"]
    script = "import signal; from paritygate import process; process.take_in_hand(); signal.raise_signal(signal.SIGHUP); print(1)"
    done = subprocess.run([*command, script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("where", ["/dev/full", "a reader that has left", "nowhere"])
def test_streams_that_take_nothing_fail_nobody(where: str, unbuffered: str) -> None:
    script = (
        "import sys; from paritygate import process; process.take_in_hand();"
        "print('x' * 100_000, flush=True); print('y', file=sys.stderr); print('more')"
    )
    variables = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    redirected = {"/dev/full": ">/dev/full 2>&1", "nowhere": ">&- 2>&-", "a reader that has left": "2>&1"}[where]
    reading, writing = os.pipe()
    os.close(reading)
    command = ["sh", "-c", f'exec "$@" {redirected}', "sh", sys.executable, "-c", script]
    done = subprocess.run(command, env=variables, stdout=writing, stderr=writing, check=False)
    os.close(writing)
    assert done.returncode == 0


def test_a_stream_on_which_nobody_may_wait_gets_everything() -> None:
    script = "from paritygate import process; process.take_in_hand(); print('x' * 1_000_000)"
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with subprocess.Popen([sys.executable, "-c", script], stdout=writing, stderr=subprocess.PIPE) as process:
        os.close(writing)
        with os.fdopen(reading, "rb") as file:
            said = file.read()
        _, complaints = process.communicate()
    assert (process.returncode, len(said), complaints) == (0, 1_000_001, b"")


def test_letters_that_a_stream_does_not_know_are_spelt_out() -> None:
    script = "from paritygate import process; process.take_in_hand(); print('\\u2192')"
    variables = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", script], env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "\\u2192\n", "")


def test_the_installed_script_goes_in_by_the_same_way_and_a_broken_installation_is_a_fault() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert scripts == {"paritygate": "paritygate.__main__:main"}
    assert way_in.FAULT == ExitCode.FAULT
