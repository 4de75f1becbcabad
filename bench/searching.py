"""Count the cells and the time that it takes to name why a made-up test is unstable, and how many coins get a wrong cause.

    python -m bench.searching [--tests 100] [--seconds 1] [--start 2] [--places 7]
    python -m bench.searching --coins 2000

Run at the top of the tree: the cells are those of the unit tests' made-up worlds, the search is the real one. A cell takes
`start` seconds and those of its tests, two cells run at once, and the search has the time that a gate gives it by default: as
long as the gate's cells took, a minute at least. Each world is tried with its culprits at several places, then without a limit.
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import msgspec

from paritygate.classifier.labels import UNSTABLE
from paritygate.gate.explaining import Budget
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import CellPlan, Environment
from paritygate.outcomes.words import CauseKind
from tests.support.builders import an_environment
from tests.support.worlds import ONE, Behaviour, Searched, search

AT_ONCE = 2
FIRST = 101
"""The seed of attempt 1."""
TWO = an_environment("server", workers=2)


class World(msgspec.Struct, frozen=True):
    """A kind of instability: how its test fails, in which environments it is run, and what is to be said of it."""

    name: str
    kind: CauseKind
    fails: Callable[[random.Random, Sequence[str]], Behaviour]
    environments: tuple[Environment, ...] = (ONE, TWO)


def polluted(chooser: random.Random, names: Sequence[str], count: int = 1, *, brittle: bool = False) -> Behaviour:
    """Fail after some tests that are chosen, or without them."""
    guilty = set(chooser.sample(names, count))
    return lambda name, before, _: name == "victim" and (guilty <= {*before}) is not brittle


def thrown(chooser: random.Random, chance: float) -> Behaviour:
    """Fail by chance."""
    return lambda name, _, __: name == "victim" and chooser.random() < chance


def raced(chooser: random.Random, chance: float) -> Behaviour:
    """Fail by chance where there are several workers."""
    return lambda name, _, plan: name == "victim" and plan.environment.workers > 1 and chooser.random() < chance


def hashed(plan: CellPlan) -> int:
    """Say the seed of hashes."""
    return plan.seed if plan.hash_seed is None else plan.hash_seed


WORLDS = (
    World("a polluter", CauseKind.ORDER, polluted),
    World("a setter", CauseKind.ORDER, lambda chooser, names: polluted(chooser, names, brittle=True)),
    World("two polluters", CauseKind.ORDER, lambda chooser, names: polluted(chooser, names, 2)),
    World("a seed", CauseKind.DATA_SEED, lambda _, __: lambda name, ___, plan: name == "victim" and plan.seed == FIRST),
    World("a hash seed", CauseKind.HASH_SEED, lambda _, __: lambda name, ___, plan: name == "victim" and hashed(plan) == FIRST),
    World(
        "a race in one order",
        CauseKind.RACE,
        lambda _, __: lambda name, ___, plan: name == "victim" and plan.environment.workers > 1 and not plan.order.reversed,
    ),
    World("a race, 70 %", CauseKind.RACE, lambda chooser, _: raced(chooser, 0.7)),
    World("a race, 40 %", CauseKind.RACE, lambda chooser, _: raced(chooser, 0.4)),
    World("a coin, 10 %", CauseKind.CHANCE, lambda chooser, _: thrown(chooser, 0.1)),
    World("a coin, 30 %", CauseKind.CHANCE, lambda chooser, _: thrown(chooser, 0.3)),
    World("a coin, 50 %", CauseKind.CHANCE, lambda chooser, _: thrown(chooser, 0.5)),
    World("a coin, 30 %, two workers", CauseKind.CHANCE, lambda chooser, _: thrown(chooser, 0.3), (TWO,)),
)


class Clock:
    """Says when the time for causes is over, in seconds of made-up cells."""

    def __init__(self, start: float, *, limited: bool) -> None:
        self.seconds = 0.0
        self._start = start
        self._limited = limited

    def spent(self, gate: Sequence[Cell], batch: Sequence[Cell]) -> bool:
        """Let a batch take its time."""
        self.seconds += self._wall(batch)
        some = [msgspec.structs.replace(cell, seconds=self._of(cell)) for cell in gate]
        return self._limited and self.seconds >= Budget.of(None, self._wall(gate), some, lambda: 0.0).seconds

    def _wall(self, cells: Sequence[Cell]) -> float:
        busy = [0.0] * AT_ONCE
        for cell in cells:
            busy[busy.index(min(busy))] += self._of(cell)
        return max(busy)

    def _of(self, cell: Cell) -> float:
        shares = Counter[str]()
        for run in cell.tests:
            shares[run.worker] += run.seconds
        return self._start + max(shares.values(), default=0.0)


def searched(world: World, number: int, asked: argparse.Namespace, *, limited: bool) -> tuple[Searched, float]:
    """Search once; a gate that shows nothing unstable is another number's."""
    names = [f"t{place:04}" for place in range(asked.tests)]
    while True:
        clock = Clock(asked.start, limited=limited)
        chooser = random.Random(f"{world.name} {number}")  # noqa: S311 - places and coins, the same each time
        fails = world.fails(chooser, names)
        found = search([*names, "victim"], fails, *world.environments, seconds=asked.seconds, spent=clock.spent, batches=10_000)
        if found.finding().label in UNSTABLE:
            return found, clock.seconds
        number += 1_000


def compare(world: World, asked: argparse.Namespace) -> None:
    """Print how a kind of instability fares within the time and without a limit."""
    parts = []
    for limited in (True, False):
        some = [searched(world, number, asked, limited=limited) for number in range(asked.places)]
        kinds = Counter(str(cause.kind) if (cause := found.finding().cause) else "open" for found, _ in some)
        cells = statistics.median(found.cells for found, _ in some)
        seconds = statistics.median(seconds for _, seconds in some)
        said = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        parts.append(f"{cells:5.0f} cells {seconds:7.0f} s: {said:24}")
    print(f"{world.name:26} {' | '.join(parts)}")


def coins(count: int, workers: Environment) -> Iterator[str]:
    """Throw so many coins of each chance that look unstable, in a suite of eight others, and count what is said of them."""
    names = [f"t{place}" for place in range(8)]
    for percent in (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99):
        coin = random.Random(f"{percent} {workers.workers}")  # noqa: S311 - it decides what a made-up test does
        kinds = Counter[str]()
        while kinds.total() < count:
            finding = search([*names, "victim"], thrown(coin, percent / 100), workers).finding()
            if finding.label in UNSTABLE:
                kinds[str(finding.cause.kind) if finding.cause else "open"] += 1
        yield f"{percent:2} %, {workers.workers} workers: {', '.join(f'{many} {kind}' for kind, many in kinds.most_common())}"


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--start", type=float, default=2.0)
    parser.add_argument("--places", type=int, default=7)
    parser.add_argument("--coins", type=int, default=0)
    asked = parser.parse_args()
    if asked.coins:
        for environment in (ONE, TWO):
            for line in coins(asked.coins, environment):
                print(line, flush=True)
        return
    print(f"{'':26} {'within the time':40} | without a limit")
    for world in WORLDS:
        compare(world, asked)


if __name__ == "__main__":
    main()
