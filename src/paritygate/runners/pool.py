"""Runs cells on the places of a pool, side by side, as far as the processors of each allow.

It does not know what a cell is for, and never gives up one cell because another died. The cells of a place that is lost start
anew on another.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime

import msgspec

from paritygate.environments import weight
from paritygate.outcomes.cells import Cell, EnvironmentName
from paritygate.outcomes.plans import CellPlan, Progress
from paritygate.outcomes.words import CellStatus, RunnerName
from paritygate.runners.protocol import Runner, Watch

ENDED = frozenset({CellStatus.FINISHED, CellStatus.NO_TESTS, CellStatus.ENVIRONMENT_MISMATCH})
"""What only a launcher that was heard to its end can say; whatever else there is may be for the loss of the place."""
LOOK_SECONDS = 0.5


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """A place of a pool, with the processors that its cells may keep busy together.

    `environments` are those whose cells, and whose mixtures' cells, may run there; None for all. `answers` says of a place on
    which a cell has died whether it is still there.
    """

    runner: Runner
    processors: int
    name: str = ""
    environments: frozenset[EnvironmentName] | None = None
    answers: Callable[[], bool] = lambda: True

    def takes(self, plan: CellPlan) -> bool:
        """Say whether a cell may run there; a mixed environment's name begins with that of the one that it is made of."""
        base = EnvironmentName(plan.environment.name.partition("+")[0])
        return self.environments is None or base in self.environments

    def run(self, plan: CellPlan, watch: Watch) -> tuple[Cell, bool]:
        """Run one cell to its end, and say whether the place was lost meanwhile; whoever watches sees at once that it begins."""
        watch(Progress(cell=plan.name, step="starting"))
        cell = self.runner.run(plan, watch)
        if self.name:
            cell = msgspec.structs.replace(cell, engine=self.name)
        return cell, cell.status not in ENDED and not self.answers()


class Loss(msgspec.Struct, frozen=True):
    """A place that was lost: since when (UTC), and the cells that it did not end."""

    since: datetime
    cells: tuple[str, ...] = ()


class Pool:
    """The places of a run. One thread decides; what is lost stays lost."""

    def __init__(self, members: Sequence[Member], say: Callable[[str], None] = lambda _line: None) -> None:
        self.members = tuple(members)
        self.lost: dict[str, Loss] = {}
        self._say = say
        self._load = dict.fromkeys(range(len(self.members)), 0)
        self._given = dict.fromkeys(range(len(self.members)), 0)

    @property
    def processors(self) -> int:
        """Say how many there are in all."""
        return sum(max(1, member.processors) for member in self.members)

    def stop(self) -> None:
        """End every cell that is running, on all of them."""
        for member in self.members:
            member.runner.stop()

    def is_full(self) -> bool:
        """Say whether there are places, and none can take even the lightest cell now."""
        left = self._living()
        return bool(left) and all(self._load[number] >= max(1, self.members[number].processors) for number in left)

    def places_for(self, plan: CellPlan) -> tuple[int, ...]:
        """List the places that are left on which a cell may run: those that are large enough for it, if there are any."""
        left = tuple(number for number in self._living() if self.members[number].takes(plan))
        return tuple(number for number in left if self.members[number].processors >= weight(plan)) or left

    def choose(self, plan: CellPlan, places: Sequence[int]) -> int | None:
        """Choose of some places the one that would be least busy, of equals the one that was given least; None: no room.

        A cell that is heavier than a whole place runs there alone.
        """
        room = [
            number
            for number in places
            if not self._load[number] or self._load[number] + weight(plan) <= self.members[number].processors
        ]
        return min(room, key=lambda number: self._share(number, weight(plan)), default=None)

    def begin(self, number: int, plan: CellPlan) -> None:
        """Note that a cell runs on a place."""
        self._load[number] += weight(plan)
        self._given[number] += weight(plan)

    def end(self, number: int, plan: CellPlan) -> None:
        """Note that it does no more."""
        self._load[number] -= weight(plan)

    def lose(self, number: int, plan: CellPlan) -> None:
        """Note that a place is lost, and with it a cell."""
        name = self.members[number].name
        if name not in self.lost:
            self._say(f"warning: the engine `{name}` is lost; its cells start anew on another, if there is one")
        known = self.lost.get(name, Loss(datetime.now(UTC)))
        self.lost[name] = Loss(known.since, (*known.cells, plan.name))

    def is_lost(self, number: int) -> bool:
        """Say whether a place is lost."""
        return self.members[number].name in self.lost

    def none_left(self, plan: CellPlan) -> str:
        """Say of a cell that no place is left for which there were."""
        gone = (member.name for member in self.members if member.takes(plan))
        said = ", ".join(f"`{name}` at {self.lost[name].since:%H:%M:%S} UTC" for name in gone if name in self.lost)
        return f"no engine is left for it: lost were {said}"

    def _living(self) -> tuple[int, ...]:
        return tuple(number for number in range(len(self.members)) if not self.is_lost(number))

    def _share(self, number: int, more: int) -> tuple[float, float]:
        processors = max(1, self.members[number].processors)
        return (self._load[number] + more) / processors, (self._given[number] + more) / processors


def alone(runner: Runner, processors: int) -> Pool:
    """Make a pool of one place, for all cells."""
    return Pool((Member(runner=runner, processors=processors),))


def run_side_by_side(
    plans: Sequence[CellPlan], pool: Pool, watch: Watch, keep: Callable[[Cell], None] = lambda _cell: None
) -> tuple[Cell, ...]:
    """Run every plan as `run_in_time` does, and return the cells in the order of the plans."""
    cells = run_in_time(plans, pool, watch, keep, lambda: False)
    return tuple(cells[index] for index in range(len(plans)))


def run_in_time(
    plans: Sequence[CellPlan], pool: Pool, watch: Watch, keep: Callable[[Cell], None], over: Callable[[], bool]
) -> dict[int, Cell]:
    """Run plans until the time is `over`; each cell that has come to its end is given to `keep` at once.

    A cell starts as soon as it fits somewhere beside those that run. Plans are started in their order except that a lighter one
    may overtake. A cell that no place is left for is a dead one. When the caller is interrupted every cell is stopped first.
    Returns the cells by the number of their plan. The first is run in any case, and what has begun comes to its end.
    """
    watch = one_at_a_time(watch)
    waiting = dict(enumerate(plans))
    running: dict[Future[tuple[Cell, bool]], tuple[int, int]] = {}
    cells: dict[int, Cell] = {}
    with ThreadPoolExecutor(max_workers=pool.processors, thread_name_prefix="cell") as executor:
        try:
            while waiting or running:
                waiting = _left(waiting, cells.keys() | {index for index, _ in running.values()}, over)
                for index, place in fitting(waiting, pool):
                    plan = waiting.pop(index)
                    if place is None:
                        cells[index] = _without_a_place(plan, pool, cells.get(index))
                        continue
                    running[executor.submit(pool.members[place].run, plan, watch)] = (index, place)
                finished, _ = wait(running, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
                again: dict[int, CellPlan] = {}
                for future in finished:
                    index, place = running.pop(future)
                    pool.end(place, plans[index])
                    cells[index], gone = future.result()
                    if gone or (pool.is_lost(place) and cells[index].status not in ENDED):
                        pool.lose(place, plans[index])
                        again[index] = plans[index]
                    else:
                        keep(cells[index])
                waiting = again | waiting
        except BaseException:
            pool.stop()
            raise
    return cells


def one_at_a_time(watch: Watch) -> Watch:
    """Give whoever watches one thing after the other, whichever cells it comes from."""
    guard = threading.Lock()

    def guarded(progress: Progress) -> None:
        with guard:
            watch(progress)

    return guarded


def _left(waiting: dict[int, CellPlan], begun: AbstractSet[int], over: Callable[[], bool]) -> dict[int, CellPlan]:
    """Keep when the time is over only what was begun before, on a place that was lost; where nothing was, the first."""
    if not over():
        return waiting
    return {index: plan for index, plan in waiting.items() if index in begun} if begun else dict([*waiting.items()][:1])


def fitting(waiting: Mapping[int, CellPlan], pool: Pool) -> list[tuple[int, int | None]]:
    """Choose what can start now, and where; None where nothing is left on which it could."""
    chosen: list[tuple[int, int | None]] = []
    for index, plan in waiting.items():
        if pool.is_full():
            break
        places = pool.places_for(plan)
        if not places:
            chosen.append((index, None))
        elif (place := pool.choose(plan, places)) is not None:
            pool.begin(place, plan)
            chosen.append((index, place))
    return chosen


def _without_a_place(plan: CellPlan, pool: Pool, died: Cell | None) -> Cell:
    """Make the cell that could not run, or not to its end, since every place for it is lost."""
    why = pool.none_left(plan)
    if died is not None:
        return msgspec.structs.replace(died, detail=f"{why} ({died.detail})" if died.detail else why)
    return Cell(
        env=plan.environment.name,
        attempt=plan.attempt,
        seed=plan.seed,
        runner=RunnerName.DOCKER,
        purpose=plan.purpose,
        status=CellStatus.UNUSABLE,
        returncode=None,
        passed=False,
        detail=why,
        workers=plan.environment.workers,
    )
