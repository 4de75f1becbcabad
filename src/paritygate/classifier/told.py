"""Whether axes varied in cells that only somebody told of, or that measured nothing.

It is known where the pasted command has measured them, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping

from paritygate.outcomes.artifact import Varied
from paritygate.outcomes.cells import Cell, EnvironmentName, Measured, Probe
from paritygate.outcomes.words import Axis, CellStatus

SHARED: dict[Axis, Callable[[Probe | Measured], tuple[object, ...]]] = {
    Axis.TIMEZONE: lambda each: (each.utcoffset_january, each.utcoffset_july),
    Axis.LOCALE: lambda each: (each.locale, each.encoding.lower()),
}
"""What probes and a pasted command measure alike."""


def pasted(gate: Iterable[Cell], probes: Container[EnvironmentName]) -> dict[EnvironmentName, Measured | None]:
    """List the environments that only somebody told of, with what was measured there, None where it was not in every cell."""
    found: dict[EnvironmentName, Measured | None] = {}
    for cell in gate:
        if cell.told is not None and cell.env not in probes:
            measured = cell.told.measured
            found[cell.env] = measured if found.setdefault(cell.env, measured) is not None else None
    return found


def unprobed(gate: Iterable[Cell]) -> tuple[EnvironmentName, ...]:
    """List the environments with a cell that came to its end, and says nothing of what it was in: ours all measure that."""
    silent = (cell for cell in gate if cell.status is CellStatus.FINISHED and cell.probe is None and cell.told is None)
    return tuple(dict.fromkeys(cell.env for cell in silent))


def unmeasured(row: Varied, names: Iterable[EnvironmentName]) -> Varied:
    """Say of an axis that is not known to have varied of which environments that is."""
    listed = ", ".join(f"`{name}`" for name in sorted(names))
    return Varied(axis=row.axis, varied=False, measured=False, why=f"of {listed} as asked for, not measured")


def known(row: Varied, probes: Mapping[EnvironmentName, Probe], by_name: Mapping[EnvironmentName, Measured | None]) -> Varied:
    """Say of an axis that was asked for in cells that somebody told of whether it is known that it varied, and did."""
    if not row.varied or not by_name:
        return row
    shared = SHARED.get(row.axis)
    lacking = [name for name, measured in by_name.items() if measured is None or shared is None]
    if shared is None or lacking:
        return unmeasured(row, lacking)
    seen = {shared(each) for each in (*probes.values(), *by_name.values()) if each is not None}
    return row if len(seen) > 1 else Varied(axis=row.axis, varied=False, why="measured, it is the same everywhere")
