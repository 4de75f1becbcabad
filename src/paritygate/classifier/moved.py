"""Cells whose programs were told another time than the true one."""

from __future__ import annotations

from collections.abc import Iterable

from paritygate.outcomes.cells import Cell
from paritygate.outcomes.words import Purpose


def has_moved_clock(cell: Cell) -> bool:
    """Say whether programs of a cell were told another time than the true one."""
    return cell.probe is not None and cell.probe.clock is not None and cell.probe.clock.moved != 0


def has_file_times(cell: Cell) -> bool:
    """Say whether what a cell wrote had the time of its clock, instead of the true one."""
    return cell.probe is not None and cell.probe.clock is not None and cell.probe.clock.files


def passed_midnights(cells: Iterable[Cell]) -> tuple[str, ...]:
    """Remark moved clocks that came to another date while tests ran: which tests that met hangs on how fast they were."""
    moved = [cell for cell in cells if cell.purpose is Purpose.GATE and has_moved_clock(cell)]
    passing = dict.fromkeys(cell.env for cell in moved if len({moment.local for moment in cell.dates}) > 1)
    said = "passed midnight while tests ran: which of them saw it depends on their pace"
    return tuple(f"the clock of `{env}` {said}" for env in passing)
