"""Time the gate against the same four containers run by hand, interleaved in one run.

    python bench/gate.py [--tests 60] [--seconds 0.5] [--rounds 5]

A suite of `tests` tests of `seconds` each is laid out in a temporary folder. The gate runs once cold (dependency images of
this project's kind are kept, the snapshot is new) and is then timed warm, in turn with four `docker run` of the gate's own
images at the gate's own concurrency: the local-like pair side by side, the server-like pair with two workers one by one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

VENV = "/opt/paritygate/venv/bin/python"
PYPROJECT = """\
[project]
name = "suite"
version = "1"
requires-python = ">=3.8"
"""


def lay_out(folder: Path, tests: int, seconds: float) -> None:
    """Write a suite in four files, so that two workers share it evenly."""
    (folder / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    for part in range(4):
        lines = ["import time", "import pytest", f"@pytest.mark.parametrize('case', range({tests // 4}))"]
        lines += [f"def test_waits_{part}(case):", f"    time.sleep({seconds})", ""]
        (folder / f"test_part{part}.py").write_text("\n".join(lines), encoding="utf-8")


def gate(folder: Path) -> float:
    """Run the gate once; returns seconds."""
    began = time.perf_counter()
    program = [sys.executable, "-m", "paritygate", "run", "--quiet"]
    command = [*program, "--project", str(folder), "--report", str(folder / "report.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"the gate ended {done.returncode}\n{done.stdout}\n{done.stderr}")
    return time.perf_counter() - began


def bare(image: str, timezone: str, locale: str, workers: int) -> None:
    """Run one container by hand."""
    command = ["docker", "run", "--rm", "--init", "--network", "none", "--user", "1000:1000", "--workdir", "/parity/workspace"]
    command += ["-e", f"TZ={timezone}", "-e", f"LC_ALL={locale}", "-e", "PYTHONDONTWRITEBYTECODE=1", "-e", "PYTHONHASHSEED=1"]
    command += [image, VENV, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["-n", str(workers)] if workers else ["-p", "no:xdist"]
    subprocess.run(command, check=True, capture_output=True)


def by_hand(report: dict[str, object]) -> float:
    """Run the gate's four containers without the gate, as much side by side as the gate does; returns seconds."""
    cells = [
        (report["images"][e["name"]], e["axes"]["timezone"], e["axes"]["locale"], int(e["axes"]["workers"]))  # type: ignore[index]
        for e in report["environments"]  # type: ignore[union-attr]
    ]
    began = time.perf_counter()
    for cell in cells:
        if cell[3] > 1:
            for _ in range(2):
                bare(*cell)
        else:
            with ThreadPoolExecutor(2) as pool:
                for running in [pool.submit(bare, *cell) for _ in range(2)]:
                    running.result()
    return time.perf_counter() - began


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lay_out(folder, options.tests, options.seconds)
        print(f"first gate on this tree: {gate(folder):.2f} s")
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        rounds = [(gate(folder), by_hand(report)) for _ in range(options.rounds)]
    for ours, theirs in rounds:
        print(f"gate {ours:6.2f} s   by hand {theirs:6.2f} s   ratio {ours / theirs:.3f}   difference {ours - theirs:+.2f} s")
    ratios = [ours / theirs for ours, theirs in rounds]
    differences = [ours - theirs for ours, theirs in rounds]
    print(f"median ratio {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})")
    print(f"median difference {statistics.median(differences):+.2f} s")


if __name__ == "__main__":
    main()
