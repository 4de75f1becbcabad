"""Time labelling and the artifact at the size that has to hold: 4 cells of 100,000 tests each.

Run as `python bench/classify.py [TESTS]`; prints seconds of CPU, the best of three, and the peak of memory in MB.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from paritygate import archive
from paritygate.classifier.labels import counts, label
from paritygate.classifier.verdicts import Facts, verdict
from paritygate.outcomes.artifact import SCHEMA, Artifact, Subject, Varied
from paritygate.outcomes.cells import Cell, EnvironmentName, Failure, NodeId, TestRun
from paritygate.outcomes.words import Axis, CellStatus, Outcome, Purpose, RunnerName

Result = TypeVar("Result")


def outcome(number: int, env: str, attempt: int) -> Outcome:
    """Let every 500th test be coupled, every 700th unstable and every 900th red."""
    if number % 900 == 0 or (number % 500 == 0 and env == "a") or (number % 700 == 0 and attempt == 1):
        return Outcome.FAILED
    return Outcome.PASSED


def a_cell(env: str, attempt: int, tests: int) -> Cell:
    """Make a cell whose texts are its own, as those of a cell that was read are."""
    failure = Failure(
        phase="call", exception="AssertionError", message="assert 1 == 2", fingerprint="0123456789abcdef", text="x" * 500
    )
    runs = []
    for number in range(tests):
        seen = outcome(number, env, attempt)
        nodeid = NodeId(f"tests/unit/part_{number // 100}/test_module_{number // 20}.py::TestThing::test_case[{number}]")
        runs.append(TestRun(nodeid=nodeid, outcome=seen, seconds=0.01, failure=None if seen.green else failure))
    return Cell(
        env=EnvironmentName(env),
        attempt=attempt,
        seed=attempt,
        runner=RunnerName.DOCKER,
        purpose=Purpose.GATE,
        status=CellStatus.FINISHED,
        returncode=0,
        passed=False,
        collected=tests,
        tests=tuple(runs),
        order={"": tuple(run.test for run in runs)},
    )


def best(step: str, work: Callable[[], Result]) -> Result:
    """Do a piece of work three times and print the best."""
    seconds = []
    for _ in range(3):
        start = time.process_time()
        result = work()
        seconds.append(time.process_time() - start)
    print(f"{step:<28} {min(seconds):6.2f} s   (peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB)")
    return result


def main() -> None:
    """Print the figures."""
    tests = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    cells = tuple(a_cell(env, attempt, tests) for env in "ab" for attempt in (1, 2))
    print(f"4 cells of {tests} tests           (peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB)")
    findings = best("label", lambda: label(cells))
    said = best("verdict", lambda: verdict(findings, Facts(cells=cells, varied=(Varied(axis=Axis.TIMEZONE, varied=True),))))
    artifact = Artifact(
        schema=SCHEMA,
        paritygate="bench",
        created="",
        verdict=said,
        subject=Subject(project="bench", commit="", trees={}, selection=()),
        environments=(),
        axes=(),
        images={},
        cells=cells,
        tests=findings,
        labels=counts(findings, {}),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "parity_report.json"
        best("write", lambda: archive.write(artifact, path))
        print(f"{'size':<28} {path.stat().st_size / 1e6:6.1f} MB")
        best("read", lambda: archive.read(path))
    print(said.line)


if __name__ == "__main__":
    main()
