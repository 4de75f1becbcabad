"""Run the gate many times over one project and count the labels of every test that was not always consistently green.

    python bench/repeat.py [--gates 20] PROJECT [-- SELECTION ...]

A control has to show nothing at all; a coin flip may show any label but `coupling`.
"""

from __future__ import annotations

import argparse
import collections
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def gate(project: Path, report: Path, selection: list[str]) -> int:
    """Run one gate; returns its exit code."""
    command = [
        sys.executable,
        "-m",
        "paritygate",
        "run",
        "--quiet",
        "--project",
        str(project),
        "--report",
        str(report),
        *selection,
    ]
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path)
    parser.add_argument("--gates", type=int, default=20)
    parser.add_argument("selection", nargs="*")
    options = parser.parse_args()
    codes: collections.Counter[int] = collections.Counter()
    labels: dict[str, collections.Counter[str]] = {}
    cells = 0
    began = time.perf_counter()
    for _ in range(options.gates):
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder, "report.json")
            codes[gate(options.project, report, options.selection)] += 1
            content = json.loads(report.read_bytes()) if report.is_file() else {"tests": [], "cells": []}
        cells += len(content["cells"])
        for test in content["tests"]:
            labels.setdefault(test["nodeid"], collections.Counter())[test["label"]] += 1
    print(f"{options.gates} gates, {cells} cells, {time.perf_counter() - began:.0f} s, exit codes {dict(codes)}")
    for nodeid, counted in sorted(labels.items()):
        if set(counted) != {"consistent-green"} or counted.total() != options.gates:
            print(f"  {nodeid}: {dict(counted)}")


if __name__ == "__main__":
    main()
