"""Time scheduling 1,000 cells of 10 tests over four simulated engines, and count the cells that each gets.

Run as `python bench/scheduling.py [CELLS] [TESTS]`. The engines are those in memory of the tests: a container is a thread that
speaks as the launcher does and in between sleeps, for as long as the cell would take. All else is what runs in a gate: the pool,
the runner, the conversation, the events. Printed are, for equal and for unequal engines, the cells of each engine beside its fair
share, the time that was spent beside the least possible, and what a cell costs this process; then the same without the
conversation, which is what choosing costs.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator

import msgspec

from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import CellPlan, Progress
from paritygate.outcomes.words import CellStatus, RunnerName
from paritygate.runners.docker import CellImage, DockerRunner
from paritygate.runners.pool import Member, Pool, run_side_by_side
from paritygate.runners.protocol import Runner, Watch
from paritygate.runners.specification import Place
from tests.support.builders import a_probe
from tests.support.fake_engine import FakeEngine, Process
from tests.support.plans import a_plan

SECONDS = 0.2
"""How long a cell takes on an engine of speed 1."""
SLOTS = 4
EQUAL = {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0}
UNEQUAL = {"a": 4.0, "b": 2.0, "c": 1.0, "d": 1.0}
PROBE = msgspec.to_builtins(a_probe())
DATES = ["2024-01-01", "2024-01-01"]


def events(tests: int) -> Iterator[dict[str, object]]:
    """Yield what a launcher says of a cell in which all is green."""
    names = [f"tests/test_part.py::test_case[{number}]" for number in range(tests)]
    yield {"e": "start", "probe": PROBE, "dates": DATES}
    yield {"e": "collected", "tests": [[name, 0] for name in names]}
    for name in names:
        yield {"e": "test-start", "nodeid": name}
        yield {"e": "test", "nodeid": name, "outcome": "passed", "seconds": 0.01}
    yield {"e": "finish", "exit": 0}
    yield {"e": "end", "why": "finished", "returncode": 0, "dates": DATES}


def simulated(speed: float, tests: int) -> DockerRunner:
    """Make a runner on an engine in memory; a cell speaks in two parts, before and after it has taken its time."""
    said = list(events(tests))

    def launcher(process: Process) -> int:
        nonce = json.loads(process.read_line())["nonce"]
        lines = [json.dumps({"n": nonce, "s": number, **event}).encode() + b"\n" for number, event in enumerate(said)]
        process.out(b"".join(lines[: tests + 2]))
        time.sleep(SECONDS / speed)
        process.out(b"".join(lines[tests + 2 :]))
        return 0

    engine = FakeEngine({Place().supervisor: launcher})
    engine.keep("cell:1", {}, {}, {})
    return DockerRunner(engine, lambda _plan: CellImage("cell:1"))


class Silent:
    """A runner whose cells are over at once: what is left is what the pool itself costs."""

    def run(self, plan: CellPlan, watch: Watch) -> Cell:
        """End a cell."""
        del watch
        return Cell(
            env=plan.environment.name,
            attempt=plan.attempt,
            seed=plan.seed,
            runner=RunnerName.DOCKER,
            purpose=plan.purpose,
            status=CellStatus.FINISHED,
            returncode=0,
            passed=True,
        )

    def stop(self) -> None:
        """Have nothing to stop."""


def ignore(progress: Progress) -> None:
    """Watch nothing."""


def run(runners: dict[str, Runner], cells: int) -> tuple[Counter[str], float, float]:
    """Run cells, and say how many each engine had, the seconds that passed, and those of this process's processor."""
    pool = Pool([Member(runner=runner, processors=SLOTS, name=name) for name, runner in runners.items()])
    plans = [a_plan(attempt=number) for number in range(1, cells + 1)]
    began, spent = time.monotonic(), time.process_time()
    ended = run_side_by_side(plans, pool, ignore)
    seconds, busy = time.monotonic() - began, time.process_time() - spent
    dead = [cell for cell in ended if cell.status is not CellStatus.FINISHED]
    assert not dead, dead[0]
    return Counter(cell.engine for cell in ended), seconds, busy


def main() -> None:
    """Print the figures."""
    cells, tests = (int(word) for word in (*sys.argv[1:], *("1000", "10")[len(sys.argv) - 1 :]))
    for title, speeds in (("equal", EQUAL), ("unequal", UNEQUAL)):
        counts, seconds, busy = run({name: simulated(speed, tests) for name, speed in speeds.items()}, cells)
        least = cells * SECONDS / (SLOTS * sum(speeds.values()))
        print(f"{title} engines, {cells} cells of {tests} tests, {SLOTS} at once on each")
        for name, speed in speeds.items():
            fair = cells * speed / sum(speeds.values())
            print(f"  {name} (speed {speed:g})  {counts[name]:5} cells, fair {fair:6.1f}  ({counts[name] / fair - 1:+.1%})")
        print(
            f"  {seconds:.2f} s, at least {least:.2f} s ({seconds / least:.2f} times); {busy / cells * 1e3:.2f} ms of ours a cell"
        )
    counts, seconds, busy = run({name: Silent() for name in EQUAL}, cells)
    print(f"choosing alone: {busy / cells * 1e3:.3f} ms of ours a cell ({seconds:.2f} s in all)")


if __name__ == "__main__":
    main()
