"""Everything that is known before anything is touched: settings with the command line laid over them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from paritygate import archive
from paritygate.config import file as config_file
from paritygate.config.settings import Settings
from paritygate.gate.request import Request, World

FIRST_ESTIMATE = 900.0
SHORTEST_ESTIMATE = 60.0


class _Last(msgspec.Struct, frozen=True):
    timings: dict[str, float]


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for the whole run.

    `report` is where the artifact goes, `logs` where those of builds are kept, `estimate` for how many seconds the cells will
    likely run.
    """

    project: Path
    settings: Settings
    source: str
    notes: tuple[str, ...]
    report: Path
    logs: Path
    estimate: float


def settle(request: Request, world: World) -> Settled:
    """Read the configuration and lay variables, then the command line, over it; refuse a report that could not be written."""
    loaded = config_file.load(request.project)
    settings = config_file.apply(loaded.settings, config_file.overrides_from_variables(world.variables), "the environment")
    settings = config_file.apply(settings, request.overrides, "the command line")
    report = request.project / settings.report
    archive.check_place(report)
    return Settled(
        project=request.project,
        settings=settings,
        source=loaded.source,
        notes=loaded.notes,
        report=report,
        logs=request.project / ".paritygate" / "logs",
        estimate=estimate(report, settings.cell_timeout),
    )


def estimate(report: Path, longest: float) -> float:
    """Say for how many seconds the cells will likely run: half as long again as the last time, or what nobody could know."""
    try:
        last = msgspec.json.decode(report.read_bytes(), type=_Last).timings
    except (OSError, msgspec.DecodeError):
        return min(FIRST_ESTIMATE, longest)
    return max(SHORTEST_ESTIMATE, 1.5 * (last.get("cells", FIRST_ESTIMATE) + last.get("confirm", 0.0)))
