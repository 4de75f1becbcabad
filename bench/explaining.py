"""Time what it adds to a gate to look for causes, for one, ten and a hundred coupled tests, interleaved in one run.

    python bench/explaining.py [--coupled 1 10 100] [--tests 16] [--seconds 0.25] [--rounds 3]

For each number a suite is laid out in a temporary folder: so many tests that fail where the time zone is UTC, beside `tests`
that wait for `seconds` each. The gate runs once to make its images, and then by turns without looking for causes and with it.
Wall time of the whole command, and of its steps as the artifact has them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PYPROJECT = """\
[project]
name = "suite"
version = "1"
requires-python = ">=3.8"
"""
COUPLING = 3


def lay_out(folder: Path, coupled: int, tests: int, seconds: float) -> None:
    """Write a suite in four files of waiting tests, so that two workers share it evenly, and one of coupled ones."""
    (folder / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    for part in range(4):
        lines = ["import time", "import pytest", f"@pytest.mark.parametrize('case', range({tests // 4}))"]
        lines += [f"def test_waits_{part}(case):", f"    time.sleep({seconds})", ""]
        (folder / f"test_part{part}.py").write_text("\n".join(lines), encoding="utf-8")
    lines = ["import time", "import pytest", f"@pytest.mark.parametrize('case', range({coupled}))"]
    lines += ["def test_is_somewhere(case):", "    assert time.tzname[0] != 'UTC'", ""]
    (folder / "test_zone.py").write_text("\n".join(lines), encoding="utf-8")


def gate(folder: Path, *options: str) -> tuple[float, dict[str, Any]]:
    """Run the gate once; returns its seconds and its artifact."""
    report = folder / "report.json"
    command = [sys.executable, "-m", "paritygate", "run", "--quiet", "--project", str(folder), "--report", str(report), *options]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    if done.returncode != COUPLING:
        raise SystemExit(f"the gate ended {done.returncode}\n{done.stdout}\n{done.stderr}")
    return seconds, json.loads(report.read_text(encoding="utf-8"))


def explained(artifact: dict[str, Any]) -> int:
    """Count the tests whose cause is said to be the time zone alone."""
    return sum((test["cause"] or {}).get("ways") == [["timezone"]] for test in artifact["tests"])


def compare(coupled: int, options: argparse.Namespace) -> None:
    """Print the figures for a number of coupled tests."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lay_out(folder, coupled, options.tests, options.seconds)
        gate(folder, "--explain-budget", "0")
        rounds = [(gate(folder, "--explain-budget", "0"), gate(folder)) for _ in range(options.rounds)]
    for (plain, without), (longer, artifact) in rounds:
        more = len(artifact["cells"]) - len(without["cells"])
        steps = "  ".join(f"{step} {artifact['timings'][step]:.1f}" for step in ("cells", "confirm", "causes"))
        print(
            f"{coupled:4} coupled: {plain:6.2f} s without causes, {longer:6.2f} s with them, {longer - plain:+.2f} s, "
            f"{more} further cells, {explained(artifact)} explained   ({steps} s)"
        )
    ratio = statistics.median(longer / plain for (plain, _), (longer, _) in rounds)
    causes = statistics.median(artifact["timings"]["causes"] for _, (_, artifact) in rounds)
    print(f"{coupled:4} coupled: median ratio {ratio:.3f}, median {causes:.1f} s for causes")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--coupled", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--tests", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=0.25)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    for coupled in options.coupled:
        compare(coupled, options)


if __name__ == "__main__":
    main()
