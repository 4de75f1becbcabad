"""What a sweep will cost, said before any cell is run: how many cells, and how long they take if cells take what they took."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import msgspec

from paritygate import archive
from paritygate.classifier.evidence import attempts_needed
from paritygate.config.settings import USUAL_REPORT, USUAL_SWEEP
from paritygate.errors import UsageError
from paritygate.gate import material, planning
from paritygate.gate.beginning import begin
from paritygate.gate.request import Request, World
from paritygate.gate.settled import settle
from paritygate.gate.sweeping import flow, values
from paritygate.gate.sweeping.request import Wanted
from paritygate.gate.sweeping.values import Breadth
from paritygate.outcomes.sweeps import SweptValue
from paritygate.outcomes.words import Axis, Purpose

REPORTS = (USUAL_SWEEP, USUAL_REPORT)
SIDES = 2


class Foreseen(msgspec.Struct, frozen=True, kw_only=True):
    """A cost for programs: the values of each axis, how many cells, and for how many seconds, None where nobody knows.

    `cells` run in any case; of those that may follow `again` are second attempts, `confirming` those of tests that part in two,
    `timed` those whose files have the time of a moved clock. `cell_seconds` is what a cell took in the report `source`.
    `begun` is how many of the cells about begin within `budget_seconds`.
    """

    axes: dict[Axis, tuple[SweptValue, ...]]
    cells: int
    again: int
    confirming: int
    timed: int
    cell_seconds: float | None
    source: str
    least_seconds: float | None
    most_seconds: float | None
    budget_seconds: float | None
    begun: int | None


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """How many cells there are, on so many processors, and the seconds of one; 0 where nobody knows.

    `share` is the part of the processors that one keeps busy, `source` the report that says what cells take. After `budget`
    seconds, where there is one, no further value is begun.
    """

    spread: Breadth
    cells: int
    processors: int
    share: float
    seconds: float
    source: str = ""
    budget: float | None = None

    @property
    def again(self) -> int:
        """Say how many cells at most run once more: all but one value may part from the rest."""
        return self.cells - 1

    @property
    def confirming(self) -> int:
        """Say how many cells it takes to confirm tests that part in two."""
        return SIDES * attempts_needed(SIDES)

    @property
    def timed(self) -> int:
        """Say how many cells at most run once more with files that have the time of their moved clock."""
        return sum(bool(each.clock) for each in self.spread.environments)

    @property
    def most(self) -> int:
        """Say how many cells there are at most where tests part in two."""
        return self.cells + self.again + self.confirming + self.timed

    @property
    def begun(self) -> int | None:
        """Say how many cells about begin before the budget is over, the first in any case; None where nobody knows."""
        if self.budget is None:
            return self.cells
        if not self.budget:
            return 1
        if not self.seconds:
            return None
        side_by_side = max(1, int(1 / self.share))
        return min(self.cells, side_by_side * math.ceil(self.budget / self.seconds))

    def wall(self, cells: int) -> float:
        """Say how many seconds so many cells take."""
        return cells * self.share * self.seconds

    @property
    def record(self) -> Foreseen:
        """Say it for programs."""
        known = bool(self.seconds)
        return Foreseen(
            axes={swept.axis: swept.values for swept in self.spread.axes},
            cells=self.cells,
            again=self.again,
            confirming=self.confirming,
            timed=self.timed,
            cell_seconds=self.seconds if known else None,
            source=self.source,
            least_seconds=self.wall(self.cells) if known else None,
            most_seconds=self.wall(self.most) if known else None,
            budget_seconds=self.budget,
            begun=self.begun,
        )


def estimate(request: Request, wanted: Wanted, world: World) -> Cost:
    """Say what a sweep will cost, and refuse what it would refuse; where cells run must answer, and nothing is made there."""
    settled = flow.held(settle(request, world), wanted)
    quiet = msgspec.structs.replace(world, say=lambda _line: None, sleep=lambda _seconds: None)
    begun = begin(settled, request, quiet)
    places, runners = planning.find_places(settled, world)
    flow.check_movable(runners, settled)
    machine = next(iter(places.values())).machine
    base = material.plan(settled, begun.trees, begun.asked, machine, quiet).resolution.environments[0]
    spread = values.spread(base, wanted.witnesses(settled), machine)
    seconds, source = seconds_of_a_cell(settled.project)
    loads = [min(machine.cpus, max(1, each.workers)) / machine.cpus for each in spread.environments]
    return Cost(
        spread=spread,
        cells=len(loads),
        processors=machine.cpus,
        share=sum(loads) / len(loads),
        seconds=seconds,
        source=source,
        budget=wanted.seconds,
    )


def seconds_of_a_cell(project: Path) -> tuple[float, str]:
    """Take what cells took on average in the project's last report, and say in which; 0 where there is none."""
    for name in REPORTS:
        try:
            cells = archive.read(project / name).cells if (project / name).is_file() else ()
        except UsageError:
            continue
        took = [cell.seconds for cell in cells if cell.purpose is Purpose.GATE]
        if took:
            return sum(took) / len(took), name
    return 0.0, ""


def told(cost: Cost) -> Iterator[str]:
    """Say a cost in lines: every value with its reason, then the numbers."""
    for swept in cost.spread.axes:
        tried = [each for each in swept.values if not each.untried]
        yield f"{swept.axis}: {len(tried)} value{'s' * (len(tried) != 1)}"
        longest = max((len(each.value) for each in tried), default=0)
        yield from (f"  {each.value:<{longest}}  {each.why}".rstrip() for each in tried)
        yield from (f"not tried: `{each.value}`: {each.untried}" for each in swept.values if each.untried)
    yield (
        f"{cost.cells} cells, side by side as far as {cost.processors} processors go; at most {cost.again} once more, where "
        "values part from the rest"
    )
    yield f"what parts in two is confirmed by {cost.confirming} more cells, what parts in more by more"
    if cost.timed:
        yield f"and by {cost.timed} at most whose files have the time of the moved clock, where it is not as by the true one"
    if cost.seconds:
        least, most = cost.wall(cost.cells), cost.wall(cost.most)
        yield (
            f"about {least:.0f} s where nothing parts, {most:.0f} s at most where tests part in two, by the "
            f"{cost.seconds:.1f} s that a cell took in `{cost.source}`"
        )
    else:
        yield f"how long a cell takes is in no report yet ({' and '.join(f'`{name}`' for name in REPORTS)} are not there)"
    if cost.budget is not None:
        yield f"after {cost.budget:g} s no further value is begun{_begun(cost)}; what is found by then is confirmed all the same"


def _begun(cost: Cost) -> str:
    if cost.begun is None:
        return ", and how many are by then nobody knows"
    return f", so about {cost.begun} of {cost.cells} are" if cost.begun > 1 else f", so 1 of {cost.cells} is"
