"""What a sweep will cost, said before any cell is run: how many cells, and how long they take if cells take what they took."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from paritygate import archive
from paritygate.classifier.evidence import attempts_needed
from paritygate.config.settings import USUAL_REPORT, USUAL_SWEEP
from paritygate.environments import Facts, resolve
from paritygate.errors import UsageError
from paritygate.gate.request import Request, World
from paritygate.gate.settled import settle
from paritygate.gate.sweeping import flow, values
from paritygate.gate.sweeping.request import Wanted
from paritygate.gate.sweeping.values import Breadth
from paritygate.outcomes.words import Purpose

REPORTS = (USUAL_SWEEP, USUAL_REPORT)
SIDES = 2


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """How many cells there are, on so many processors, and the seconds of one; 0 where nobody knows.

    `share` is the part of the processors that one keeps busy, `source` the report that says what cells take.
    """

    spread: Breadth
    cells: int
    processors: int
    share: float
    seconds: float
    source: str = ""

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

    def wall(self, cells: int) -> float:
        """Say how many seconds so many cells take."""
        return cells * self.share * self.seconds


def estimate(request: Request, wanted: Wanted, world: World) -> Cost:
    """Say what a sweep will cost; it takes an engine that answers, and nothing is made on it."""
    settled = flow.held(settle(request, world), wanted)
    facts = Facts(cpus=world.connect().info.cpus, memory=0, now=world.now(), estimate_seconds=settled.estimate)
    base = resolve(settled.settings, facts).environments[0]
    spread = values.spread(base, wanted.witnesses(settled), facts.cpus)
    seconds, source = seconds_of_a_cell(settled.project)
    loads = [min(facts.cpus, max(1, each.workers)) / facts.cpus for each in spread.environments]
    return Cost(
        spread=spread,
        cells=len(loads),
        processors=facts.cpus,
        share=sum(loads) / len(loads),
        seconds=seconds,
        source=source,
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
        least, most = cost.wall(cost.cells), cost.wall(cost.cells + cost.again + cost.confirming + cost.timed)
        yield (
            f"about {least:.0f} s where nothing parts, {most:.0f} s at most where tests part in two, by the "
            f"{cost.seconds:.1f} s that a cell took in `{cost.source}`"
        )
    else:
        yield f"how long a cell takes is in no report yet ({' and '.join(f'`{name}`' for name in REPORTS)} are not there)"
