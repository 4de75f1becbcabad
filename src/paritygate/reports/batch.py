"""Cells that were announced together, such as the gate's: how many of them are done, which is next, how long all may take.

It counts against what was announced and never against what happens to have begun.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paritygate.reports.rows import STARTING, Row

LONG_SECONDS = 2.0
"""After how many seconds what has begun, and of which nothing is seen, is shown with its time."""
LEAST_LEFT = 1.0


class Batch:
    """Cells by their names, with the rows of those that have begun; `why` is what further ones run for, empty for the first ones.

    `since` is when the last of them ended, or when they were announced.
    """

    def __init__(self, names: Sequence[str], why: str, now: float) -> None:
        self.names = dict.fromkeys(names)
        self.why = why
        self.since = now
        self.rows: dict[str, Row] = {}

    def begin(self, row: Row) -> None:
        """Take in that a cell begins, or begins once more, one that nobody announced too."""
        self.names.setdefault(row.progress.cell)
        self.rows[row.progress.cell] = row

    def awaits(self, name: str) -> bool:
        """Say whether a cell was announced and has not begun."""
        return name in self.names and name not in self.rows

    def ended(self, now: float) -> None:
        """Take in that a cell has ended."""
        self.since = now

    @property
    def done(self) -> int:
        """Say how many cells have ended."""
        return sum(row.end is not None for row in self.rows.values())

    @property
    def red(self) -> int:
        """Say how many red tests there are in all cells."""
        return sum(row.progress.red for row in self.rows.values())

    @property
    def is_over(self) -> bool:
        """Say whether every cell has ended."""
        return self.done == len(self.names)

    @property
    def starting(self) -> tuple[str, ...]:
        """Name the cells that start now, while no other runs: those that have begun to, else the first that has not begun."""
        running = [row for row in self.rows.values() if row.end is None]
        if running:
            return tuple(row.progress.cell for row in running) if all(row.progress.step == STARTING for row in running) else ()
        return tuple(name for name in self.names if name not in self.rows)[:1]

    @property
    def waited_since(self) -> float:
        """Say since when no cell runs: since the last one ended, or the first of those that start now began."""
        return min((row.begin for row in self.rows.values() if row.end is None), default=self.since)

    def counts(self) -> str:
        """Say how the cells stand."""
        return _counts(self.done, len(self.names), self.red)

    def line(self, expected: Mapping[str, float], now: float) -> str:
        """Say how the cells stand, and what comes: the cell that starts now, or for how long they may go on."""
        said = f"{self.why}: {self.counts()}" if self.why else self.counts()
        if self.starting:
            seconds = now - self.waited_since
            return f"{said}, starting {' and '.join(self.starting)}" + (f" ({seconds:.0f} s)" if seconds >= LONG_SECONDS else "")
        left = self.left(expected, now)
        return said if left is None else f"{said}, about {left:.0f} s left for these cells"

    def left(self, expected: Mapping[str, float], now: float) -> float | None:
        """Guess for how many seconds the first cells go on, those that have not begun too; None where nobody can know.

        Of further ones, which confirm or look for causes, it is never said: nobody knows which ones follow.
        """
        if self.why or self.is_over:
            return None
        lefts = [expected.get(name) for name in self.names if name not in self.rows]
        open_rows = [row for row in self.rows.values() if row.end is None]
        lefts += [row.left(now) for row in open_rows]
        known = [left for left in lefts if left is not None]
        if len(known) < len(lefts):
            return None
        left = max(*known, sum(known) / max(1, len(open_rows))) if known else 0.0
        return left if left >= LEAST_LEFT else None


def in_all(batches: Sequence[Batch]) -> str:
    """Say at the end how the cells of several batches stand."""
    return _counts(
        sum(each.done for each in batches), sum(len(each.names) for each in batches), sum(each.red for each in batches)
    )


def _counts(done: int, announced: int, red: int) -> str:
    return f"{done} of {announced} cell{'s' * (announced != 1)} done, {red} red"
