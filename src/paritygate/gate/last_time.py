"""What the last run of a project took, by its report: for how long to expect the next one, cell by cell."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from paritygate import places
from paritygate.errors import UsageError
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.words import Purpose, RunnerName

FIRST_ESTIMATE = 900.0
SHORTEST_ESTIMATE = 60.0


class LastCell(msgspec.Struct, frozen=True, kw_only=True):
    """What is needed of a cell."""

    env: str
    attempt: int
    runner: str = ""
    seconds: float = 0.0
    purpose: Purpose = Purpose.GATE


class LastSubject(msgspec.Struct, frozen=True, kw_only=True):
    """What was selected."""

    selection: tuple[str, ...] = ()


class Last(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a report that tells of time: seconds of each step, and of each cell."""

    timings: dict[str, float] = {}
    cells: tuple[LastCell, ...] = ()
    subject: LastSubject = LastSubject()

    def seconds_of(self, selection: tuple[str, ...], runners: Mapping[EnvironmentName, RunnerName]) -> dict[str, float]:
        """Say what each cell of the gate took, by its name; nothing where something else was selected, or it ran elsewhere."""
        gate = [cell for cell in self.cells if cell.purpose is Purpose.GATE]
        if self.subject.selection != selection or any(runners.get(EnvironmentName(cell.env)) != cell.runner for cell in gate):
            return {}
        return {f"{cell.env}-{cell.attempt}": cell.seconds for cell in gate}


def read(report: Path) -> Last:
    """Read a report as far as it tells of time; where there is none, or nothing that can be read, it tells nothing."""
    try:
        return msgspec.json.decode(places.read(report), type=Last) if report.is_file() else Last()
    except (OSError, UsageError, msgspec.DecodeError):
        return Last()


def estimate(last: Last, longest: float) -> float:
    """Say for how many seconds the cells will likely run: half as long again as the last time, or what nobody could know."""
    if not last.timings:
        return min(FIRST_ESTIMATE, longest)
    return max(SHORTEST_ESTIMATE, 1.5 * (last.timings.get("cells", FIRST_ESTIMATE) + last.timings.get("confirm", 0.0)))
