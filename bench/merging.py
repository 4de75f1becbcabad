"""Time putting shards together: 64 of them with 10,000 tests each, for each cell of a gate.

Run as `python bench/merging.py [SHARDS] [TESTS] [CELLS]`; prints seconds of CPU and the peak of memory in MB, for reading the
files, for joining alone, and for the whole way to a verdict.
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
from paritygate.archive import CellFile
from paritygate.classifier import shards
from paritygate.outcomes.artifact import SCHEMA, EnvironmentRecord, Subject
from paritygate.outcomes.cells import Cell, EnvironmentName, NodeId, Shard, TestRun
from paritygate.outcomes.words import Axis, CellStatus, Outcome, Purpose, RunnerName

Result = TypeVar("Result")
ZONES = {"a": "Asia/Shanghai", "b": "UTC"}


def a_shard(env: str, attempt: int, shard: Shard, tests: int) -> Cell:
    """Make a shard whose texts are its own, as those of a cell that was read are."""
    names = (f"tests/part_{shard.number}/test_{number // 20}.py::TestThing::test_case[{number}]" for number in range(tests))
    runs = tuple(TestRun(nodeid=NodeId(name), outcome=Outcome.PASSED, seconds=0.01) for name in names)
    return Cell(
        env=EnvironmentName(env),
        attempt=attempt,
        seed=attempt,
        runner=RunnerName.DOCKER,
        purpose=Purpose.GATE,
        status=CellStatus.FINISHED,
        returncode=0,
        passed=True,
        collected=tests,
        tests=runs,
        order={"": tuple(run.test for run in runs)},
        shards=(shard,),
    )


def timed(step: str, work: Callable[[], Result]) -> Result:
    """Do a piece of work and print what it took."""
    start = time.process_time()
    result = work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{step:<40} {time.process_time() - start:6.2f} s   (peak {peak} MB)")
    return result


def main() -> None:
    """Print the figures."""
    total, tests, cells = (int(word) for word in (*sys.argv[1:], *("64", "10000", "1")[len(sys.argv) - 1 :]))
    subject = Subject(project="bench", commit="c", trees={"clean": "d"}, selection=())
    jobs = [("ab"[number % 2], number // 2 + 1) for number in range(cells)]
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for env, attempt in jobs:
            record = EnvironmentRecord(name=EnvironmentName(env), axes={Axis.TIMEZONE: ZONES[env]})
            for number in range(1, total + 1):
                cell = a_shard(env, attempt, Shard(number, total, "split"), tests)
                path = Path(folder) / f"{env}-{attempt}-{number}.json"
                file = CellFile(schema=SCHEMA, paritygate="bench", subject=subject, cells=(cell,), environments=(record,))
                archive.write(file, path)
                paths.append(path)
        size = sum(path.stat().st_size for path in paths) / 1e6
        print(f"{cells} x {total} shards of {tests} tests, {size:.0f} MB")
        files = timed("read", lambda: [(path, archive.read_cells(path)) for path in paths])
        whole = timed("join", lambda: shards.joined((path, cell) for path, file in files for cell in file.cells))
        assert [len(cell.tests) for cell in whole] == [total * tests] * cells
        files, whole = [], ()
        artifact = timed("read, join, label, weigh", lambda: archive.classify(paths, "bench"))
    print(artifact.verdict.line)


if __name__ == "__main__":
    main()
