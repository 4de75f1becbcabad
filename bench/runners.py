"""Time the gate on an engine, on this computer itself and over ssh to its loopback, on the same selections, in turn in one run.

    python -m bench.runners [--seconds 3 30] [--rounds 3]

A selection is four files with twelve tests in all that sleep for that many seconds together. Two environments that differ in the
time zone alone run it twice each, without workers: so with two processors an ideal gate takes twice as long as the selection.
The first gate of each runner, which makes images or an environment, is shown apart. What is printed of later ones is the median
of the wall clock, of the cells' part of it, and of what the whole took beyond the ideal.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from tests.support.gate_runs import lay_out
from tests.support.sshd import Sshd

RUNNERS = ("docker", "host", "ssh")
TESTS, FILES = 12, 4
SETTINGS = """\
runner = "{runner}"
attempts = 2
[host]
python = "{python}"
[environments.local-like]
timezone = "Asia/Shanghai"
locale = "C.UTF-8"
case_sensitive = "any"
workers = 0
worktree = "clean"
[environments.server-like]
case_sensitive = "any"
workers = 0
"""
SUITE = """\
import time
import pytest

@pytest.mark.parametrize("case", range({each}))
def test_waits(case):
    time.sleep({pause})
"""


def project(folder: Path, runner: str, seconds: float, python: Path) -> Path:
    """Lay out a selection that is to run there."""
    each = TESTS // FILES
    files = {f"test_part{part}.py": SUITE.format(each=each, pause=seconds / TESTS) for part in range(FILES)}
    return lay_out(folder, files | {"paritygate.toml": SETTINGS.format(runner=runner, python=python)})


def gate(folder: Path, variables: dict[str, str]) -> tuple[float, float]:
    """Run the gate once; returns the seconds of the whole, and of its cells."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "paritygate", "run", "--quiet", "--project", str(folder), "--explain-budget", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | variables)
    if done.returncode != 0:
        raise SystemExit(f"the gate in {folder} ended {done.returncode}\n{done.stdout}\n{done.stderr}")
    seconds = time.perf_counter() - began
    report = msgspec.json.decode((folder / "parity_report.json").read_bytes())
    return seconds, report["timings"]["cells"]


def interpreter(folder: Path) -> Path:
    """Make an environment with pytest and its two plugins, as images have."""
    subprocess.run((sys.executable, "-m", "venv", folder), check=True)
    packages = ("pytest", "pytest-randomly", "pytest-xdist")
    subprocess.run((folder / "bin" / "python", "-m", "pip", "install", "--quiet", *packages), check=True)
    return folder / "bin" / "python"


def measured(seconds: float, rounds: int, folder: Path, python: Path, variables: dict[str, str]) -> None:
    """Print the figures of one selection."""
    projects = {runner: project(folder / f"{runner}-{seconds:g}", runner, seconds, python) for runner in RUNNERS}
    print(f"selection of {seconds:g} s, 4 cells, ideal {2 * seconds:g} s; load {os.getloadavg()[0]:.1f}")
    for runner, place in projects.items():
        print(f"  {runner:<6}  first gate {gate(place, variables)[0]:7.2f} s")
    seen: dict[str, list[tuple[float, float]]] = {runner: [] for runner in RUNNERS}
    for _ in range(rounds):
        for runner, place in projects.items():
            seen[runner].append(gate(place, variables))
    for runner, each in seen.items():
        whole, cells = (statistics.median(column) for column in zip(*each, strict=True))
        spread = f"{min(wall for wall, _ in each):.2f} to {max(wall for wall, _ in each):.2f}"
        print(
            f"  {runner:<6}  gate {whole:7.2f} s ({spread}), cells {cells:7.2f} s, beyond the ideal {whole - 2 * seconds:+.2f} s"
        )
    print(f"  load {os.getloadavg()[0]:.1f}", flush=True)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, nargs="+", default=[3.0, 30.0])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = interpreter(folder / "venv")
        with Sshd(folder / "sshd", folder / "kept") as server:
            for seconds in options.seconds:
                measured(seconds, options.rounds, folder, python, server.variables)


if __name__ == "__main__":
    main()
