"""Ask several programs for the time, and wait in several ways: the probe's part of a cell whose clock is moved."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any, Callable, Dict, Optional

WAIT = 0.02  # seconds
PATIENCE = 60.0
DATE = ("/bin/date", "/usr/bin/date")


def in_thread() -> float:
    """Ask `datetime` in another thread."""
    seen = []
    thread = threading.Thread(target=lambda: seen.append(dt.datetime.now(dt.timezone.utc).timestamp()))
    thread.start()
    thread.join()
    return seen[0]


def in_c() -> Optional[float]:
    """Ask SQLite, which is a C library of its own; None where Python has none."""
    try:
        import sqlite3  # noqa: PLC0415 - it may not be there
    except ImportError:
        return None
    connection = sqlite3.connect(":memory:")
    try:
        return float(connection.execute("select strftime('%s', 'now')").fetchone()[0])
    finally:
        connection.close()


def in_process(environment: Optional[Dict[str, str]]) -> Optional[float]:
    """Ask another program, with these variables or our own; None where there is none."""
    program = next((path for path in DATE if os.access(path, os.X_OK)), None)
    if program is None:
        return None
    said = subprocess.run([program, "+%s"], env=environment, stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
    return float(said.stdout)


def of_file() -> Optional[float]:
    """Say when a file was made that is made now; None where none can be."""
    try:
        with tempfile.TemporaryFile() as stream:
            return os.fstat(stream.fileno()).st_mtime
    except OSError:
        return None


def semaphore() -> None:
    """Wait as multiprocessing does, which counts by the calendar."""
    import multiprocessing  # noqa: PLC0415 - as costly as nothing else here

    multiprocessing.Semaphore(0).acquire(timeout=WAIT)


def long(wait: Callable[[], Any]) -> Optional[float]:
    """Say how long a wait took; None where it cannot be had here."""
    began = time.monotonic()
    try:
        wait()
    except (ImportError, OSError):
        return None
    return time.monotonic() - began


def measure() -> Dict[str, Any]:
    """Measure it all."""
    began = time.monotonic()
    waits: Dict[str, Callable[[], Any]] = {
        "`time.sleep`": lambda: time.sleep(WAIT),
        "`Event.wait`": lambda: threading.Event().wait(WAIT),
        "a semaphore": semaphore,
    }
    return {
        "main": time.time(),
        "thread": in_thread(),
        "sqlite": in_c(),
        "child": in_process(None),
        "bare": in_process({}),
        "file": of_file(),
        "least": WAIT * 0.9,
        "waits": {name: long(wait) for name, wait in waits.items()},
        "monotonic_began": began,
        "monotonic_ended": time.monotonic(),
    }


if __name__ == "__main__":
    sys.exit("this is a part of probe.py")
