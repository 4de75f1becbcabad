"""Gives cells of several files their numbers: its own to each, and numbers further on to what would have one a second time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from paritygate.errors import UsageError
from paritygate.outcomes.cells import Cell, EnvironmentName
from paritygate.outcomes.words import Purpose

Key = tuple[EnvironmentName, Purpose, int]
SAME_SEEDS = "attempt k has the same seed in every environment: give all the same `--seed`, or neither `--seed` nor `--env`"


def numbered_on(groups: Sequence[Sequence[Cell]], planned: Mapping[EnvironmentName, int]) -> Iterator[Cell]:
    """Give cells their numbers, file by file; what is there a second time does not take the place of a `planned` attempt.

    Raises `UsageError` where an attempt has not the same seed in every environment.
    """
    owners: dict[Key, int] = {}
    last = {(env, Purpose.GATE): number for env, number in planned.items()}
    for number, group in enumerate(groups):
        for cell in group:
            owners.setdefault(_key(cell), number)
            last[cell.env, cell.purpose] = max(last.get((cell.env, cell.purpose), 0), cell.attempt)
    _check_seeds([cell for number, group in enumerate(groups) for cell in group if owners[_key(cell)] == number])
    for number, group in enumerate(groups):
        for cell in group:
            if owners[_key(cell)] == number:
                yield cell
            else:
                last[cell.env, cell.purpose] += 1
                yield msgspec.structs.replace(cell, attempt=last[cell.env, cell.purpose])


def _key(cell: Cell) -> Key:
    return cell.env, cell.purpose, cell.attempt


def _check_seeds(cells: Sequence[Cell]) -> None:
    """Refuse what differs between environments by its seed alone: a test that hangs on that would look coupled."""
    first: dict[int, Cell] = {}
    for cell in cells:
        known = first.setdefault(cell.attempt, cell) if cell.purpose is Purpose.GATE else cell
        if known.seed != cell.seed:
            what = f"attempt {cell.attempt} has seed {known.seed} in `{known.env}` and seed {cell.seed} in `{cell.env}`"
            raise UsageError(what, SAME_SEEDS)
