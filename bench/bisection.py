"""Count the runs that it takes to find polluters among many tests, beside those of detect-test-pollution on the same project.

    python bench/bisection.py [--tests 100] [--polluters 1] [--places 3] [--other PROGRAM]

A project of `tests` tests in ten files is laid out, and a victim that comes last in attempt 1; the polluters are hidden at
different places. The gate judges it, and its cells that looked for the cause are counted: all of them, and those among them that
were not repeated for proof. `PROGRAM` is an installed detect-test-pollution; without it only the gate is run. What that one runs
is counted by its own words: a discovery, the victim alone, the whole, each step, and the last check.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FILES = 10
RUNS = ("discovering", "ensuring", "running step", "double checking")
PYPROJECT = """\
[project]
name = "suite"
version = "1"
requires-python = ">=3.8"

[tool.paritygate]
seeds = [8, 1]
"""
VICTIM = "tests/test_victim.py::test_nothing_is_left"


def lay_out(folder: Path, tests: int, guilty: set[int]) -> None:
    """Write the suite; one worker runs all of it, so that nothing parts the polluters from their victim."""
    (folder / "tests").mkdir()
    (folder / "pyproject.toml").write_text(PYPROJECT, encoding="utf-8")
    (folder / "state.py").write_text("LEFT = []\n", encoding="utf-8")
    (folder / "conftest.py").write_text("", encoding="utf-8")
    head = ["import pytest", "import state", "pytestmark = pytest.mark.xdist_group('all')"]
    for file in range(FILES):
        lines = list(head)
        for number in range(file, tests - 1, FILES):
            lines += [f"def test_{number:04}():", f"    {f'state.LEFT.append({number})' if number in guilty else 'assert True'}"]
        (folder / "tests" / f"test_{file}.py").write_text("\n".join([*lines, ""]), encoding="utf-8")
    lines = [*head, "def test_nothing_is_left():", f"    assert len(state.LEFT) < {len(guilty)}", ""]
    (folder / "tests" / "test_victim.py").write_text("\n".join(lines), encoding="utf-8")


def gate(folder: Path) -> str:
    """Run the gate and say what it took."""
    report = folder / "report.json"
    command = [sys.executable, "-m", "paritygate", "run", "--quiet", "--explain-budget", "600"]
    subprocess.run([*command, "--project", str(folder), "--report", str(report)], capture_output=True, check=False)
    artifact = json.loads(report.read_text(encoding="utf-8"))
    cells = [cell for cell in artifact["cells"] if cell["purpose"] == "hybrid"]
    different = {(str(cell["order"]), cell["seed"], cell["probe"]["hash_seed"]) for cell in cells}
    finding = next(each for each in artifact["tests"] if each["nodeid"] == VICTIM)
    found = " and ".join((finding["cause"] or {}).get("polluters", ())) or f"nothing ({finding['label']} {finding['note']})"
    return f"{len(cells)} cells, {len(different)} of them different, {artifact['timings']['causes']:.0f} s: {found}"


def other(folder: Path, program: str) -> str:
    """Run detect-test-pollution and say what it took."""
    began = time.perf_counter()
    command = [program, "--failing-test", VICTIM, "--tests", "tests"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    lines = (done.stdout + done.stderr).strip().splitlines()
    runs = sum(line.startswith(RUNS) for line in lines)
    return f"{runs} runs, {time.perf_counter() - began:.0f} s: {lines[-1]}"


def main() -> None:
    """Measure at several places."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=100)
    parser.add_argument("--polluters", type=int, default=1)
    parser.add_argument("--places", type=int, default=3)
    parser.add_argument("--other", default="")
    asked = parser.parse_args()
    chooser = random.Random(asked.tests)  # noqa: S311 - places, the same each time
    for _ in range(asked.places):
        guilty = set(chooser.sample(range(asked.tests - 1), asked.polluters))
        with tempfile.TemporaryDirectory() as name:
            lay_out(Path(name), asked.tests, guilty)
            print(f"polluters {sorted(guilty)} of {asked.tests} tests")
            print(f"  paritygate             {gate(Path(name))}")
            if asked.other:
                print(f"  detect-test-pollution  {other(Path(name), asked.other)}")


if __name__ == "__main__":
    main()
