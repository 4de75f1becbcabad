"""Makes one cell again of the shards that it was split into, and refuses those that are no whole.

It labels nothing. What one test of a shard does to a test of another nobody has seen, and nothing here can say it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import msgspec

from paritygate.classifier.grid import stands_for_many
from paritygate.errors import UsageError
from paritygate.outcomes.cells import Cell, NodeId, Pins, Shard, TestId, TestRun
from paritygate.outcomes.words import CellStatus

WELL = frozenset({CellStatus.FINISHED, CellStatus.NO_TESTS})
TOGETHER = "classify the shards of one cell together, each of them once, all split in the same way"

Part = tuple[Path, Cell]


def is_part(cell: Cell) -> bool:
    """Say whether a cell is one shard of several."""
    return len(cell.shards) == 1 and cell.shards[0].total > 1


def joined(parts: Iterable[Part]) -> tuple[Cell, ...]:
    """Make a cell of the shards of each environment and attempt, given with the files that hold them; one file may come twice.

    Raises `UsageError` where a shard is missing or there twice, and where they were not split or seeded alike.
    """
    groups: dict[tuple[object, ...], list[Part]] = {}
    for path, cell in parts:
        groups.setdefault((cell.env, cell.attempt, cell.purpose), []).append((path, cell))
    return tuple(_whole(group) for group in groups.values())


def remarks(cells: Iterable[Cell]) -> tuple[str, ...]:
    """Say of cells that were split what that hides."""
    split = sorted({len(cell.shards) for cell in cells if len(cell.shards) > 1})
    if not split:
        return ()
    number = " or ".join(map(str, split))
    return (f"cells were run in {number} shards and put together: whether a test depends on those of another could not show",)


def _whole(group: Sequence[Part]) -> Cell:
    by_number = _by_number(group)
    cells = [by_number[number][1] for number in sorted(by_number)]
    tests = _tests([by_number[number] for number in sorted(by_number)])
    first = next((cell for cell in cells if cell.status is CellStatus.FINISHED), cells[0])
    collected = sum(cell.collected for cell in cells)
    return msgspec.structs.replace(
        first,
        status=_status(cells),
        returncode=_returncode(cells),
        passed=all(cell.status in WELL for cell in cells) and bool(tests) and all(run.outcome.green for run in tests),
        detail="; ".join(
            f"shard {cell.shards[0]}: {cell.detail}" for cell in cells if cell.detail and cell.status is not CellStatus.NO_TESTS
        ),
        started=min((cell.started for cell in cells if cell.started), default=""),
        seconds=sum(cell.seconds for cell in cells),
        overhead=sum(cell.overhead for cell in cells),
        collected=collected,
        # What the others run is deselected in each of them, and in the whole is not.
        deselected=max(0, first.collected + first.deselected - collected),
        dates=tuple(dict.fromkeys(chain.from_iterable(cell.dates for cell in cells))),
        neutralised=tuple(dict.fromkeys(chain.from_iterable(cell.neutralised for cell in cells))),
        unstable_ids=tuple(dict.fromkeys(chain.from_iterable(cell.unstable_ids for cell in cells))),
        excluded=_excluded(cells),
        missing=tuple(dict.fromkeys(chain.from_iterable(cell.missing for cell in cells))),
        uneven=tuple(dict.fromkeys(chain.from_iterable(cell.uneven for cell in cells))),
        order={_worker(cell, worker): order for cell in cells for worker, order in cell.order.items()},
        tests=tests,
        running=tuple(chain.from_iterable(cell.running for cell in cells)),
        rewritten=tuple(dict.fromkeys(chain.from_iterable(cell.rewritten for cell in cells))),
        pins=_pins(cells),
        stderr_tail=next((cell.stderr_tail for cell in cells if cell.status not in WELL), first.stderr_tail),
        shards=tuple(cell.shards[0] for cell in cells),
    )


def _by_number(group: Sequence[Part]) -> dict[int, Part]:
    first_path, first = group[0]
    name = f"`{first.env}` attempt {first.attempt}"
    found: dict[int, Part] = {}
    for path, cell in group:
        shard = cell.shards[0]
        for what, here, there in (
            ("number of shards", first.shards[0].total, shard.total),
            ("way in which the shards were split", first.shards[0].split, shard.split),
            ("seed", first.seed, cell.seed),
        ):
            if here != there:
                raise UsageError(
                    f"the {what} of {name} is not the same in `{first_path}` and `{path}`: {here} and {there}", TOGETHER
                )
        known = found.setdefault(shard.number, (path, cell))
        if known[1] is not cell and known[1] != cell:
            raise UsageError(f"shard {shard} of {name} is in `{known[0]}` and, otherwise, in `{path}`", TOGETHER)
    total = first.shards[0].total
    lacking = [str(Shard(number, total)) for number in range(1, total + 1) if number not in found]
    if lacking:
        raise UsageError(
            f"of {name} {'shard' if len(lacking) == 1 else 'shards'} {', '.join(lacking)} {_is(lacking)} in no file", TOGETHER
        )
    return found


def _is(some: Sequence[object]) -> str:
    return "is" if len(some) == 1 else "are"


def _status(cells: Sequence[Cell]) -> CellStatus:
    """Say how the whole ended: as the shards did that did not end well; where these differ, what they lack is merely unknown."""
    ill = {cell.status for cell in cells if cell.status not in WELL}
    if not ill:
        return CellStatus.FINISHED if any(cell.status is CellStatus.FINISHED for cell in cells) else CellStatus.NO_TESTS
    everywhere = all(cell.status in ill for cell in cells)
    if len(ill) == 1 and (everywhere or CellStatus.UNUSABLE not in ill):
        return ill.pop()
    return CellStatus.CRASHED


def _returncode(cells: Sequence[Cell]) -> int | None:
    codes = [cell.returncode for cell in cells if cell.status is not CellStatus.NO_TESTS]
    known = [code for code in codes if code is not None]
    return None if len(known) < len(codes) else max(known, default=cells[0].returncode)


def _tests(parts: Sequence[Part]) -> tuple[TestRun, ...]:
    """Put the tests of shards together. Every shard collects everything, so what broke in that is in each, and counts once."""
    found: dict[TestId, tuple[TestRun, Shard]] = {}
    for path, cell in parts:
        shard = cell.shards[0]
        for run in cell.tests:
            known = found.setdefault(run.test, (run, shard))
            if known[0] is not run and not (stands_for_many(run) and stands_for_many(known[0])):
                what = (
                    f"`{run.nodeid}` of `{cell.env}` attempt {cell.attempt} ran in shard {known[1]} and, by `{path}`, in {shard}"
                )
                raise UsageError(what, TOGETHER)
    numbers = {cell.shards[0]: cell for _, cell in parts}
    return tuple(msgspec.structs.replace(run, worker=_worker(numbers[shard], run.worker)) for run, shard in found.values())


def _worker(cell: Cell, worker: str) -> str:
    """Name a worker of a shard: each has one of the same name."""
    return f"{cell.shards[0].number}:{worker}"


def _excluded(cells: Sequence[Cell]) -> dict[NodeId, str]:
    merged: dict[NodeId, str] = {}
    for cell in cells:
        merged |= cell.excluded
    return merged


def _pins(cells: Sequence[Cell]) -> Pins:
    return Pins(
        suite=any(cell.pins.suite for cell in cells),
        tests=sum(cell.pins.tests for cell in cells),
        in_force=any(cell.pins.in_force for cell in cells),
    )
