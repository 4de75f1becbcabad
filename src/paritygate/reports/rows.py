"""One cell as it stands, and a screen of them in as many columns as there are: what is drawn, not when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from paritygate.outcomes.cells import TestId
from paritygate.outcomes.plans import Progress
from paritygate.reports.text import spell_out

SLOW_SECONDS = 3.0
SURE_SECONDS = 2.0
"""For how long a cell has to have been running before what is left of it is guessed by its tests so far."""
SURE_SHARE = 20
BAR_WIDTH = 20
WIDE = 80
NARROW = 50

STARTING = "starting"
RUNNING = "running"
UNDERWAY = frozenset({STARTING, "collecting", "running", "ending", "ended"})
"""What a cell does before its last word; every other word, such as a status or that it was stopped, is the last one."""


class Row:
    """Where one cell stands, and since when. `said` is the time of the last plain line about it.

    `expected` is how many seconds it took the last time, 0 where nobody knows; `ran` is when its tests began.
    """

    def __init__(self, progress: Progress, now: float, expected: float = 0.0) -> None:
        self.progress = progress
        self.begin = now
        self.end: float | None = None
        self.running: dict[TestId, float] = {}
        self.said = now
        self.quarter = 0
        self.expected = expected
        self.ran: float | None = None

    def move(self, progress: Progress, now: float) -> None:
        """Take in what the cell says now."""
        self.progress = progress
        self.running = {test: self.running.get(test, now) for test in progress.running}
        if self.ran is None and progress.step == RUNNING:
            self.ran = now
        if progress.step not in UNDERWAY and self.end is None:
            self.end = now

    @property
    def done(self) -> int:
        """Say how many tests are done, never more than there are: a test that claims to end twice counts once."""
        progress = self.progress
        return min(progress.done, progress.collected) if progress.collected else progress.done

    def seconds(self, now: float) -> float:
        """Say how long the cell has been running, or ran."""
        return (now if self.end is None else self.end) - self.begin

    def left(self, now: float) -> float | None:
        """Guess how many seconds are left: by the last time, else by the tests so far; None where nobody can know yet."""
        if self.end is not None:
            return 0.0
        if self.expected > self.seconds(now):
            return self.expected - self.seconds(now)
        collected, running = self.progress.collected, 0.0 if self.ran is None else now - self.ran
        if running < SURE_SECONDS or not collected or self.done * SURE_SHARE < collected:
            return None
        return running / self.done * (collected - self.done)

    def slow(self, now: float) -> str:
        """Name the test that has been running longest, where that is long."""
        if self.end is not None or not self.running:
            return ""
        test, since = min(self.running.items(), key=lambda item: item[1])
        return f"{spell_out(test.nodeid)} ({now - since:.0f} s)" if now - since >= SLOW_SECONDS else ""


def table(rows: Iterable[Row], now: float, console: Console) -> Table:
    """Draw cells, one a line: with a bar where there is room, and on the narrowest screens by name, counts and time alone."""
    width = console.width
    drawn = Table.grid(padding=(0, 2 if width >= NARROW else 1), expand=True)
    drawn.add_column(no_wrap=True, overflow="crop", max_width=None if width >= NARROW else 16)
    for _ in range(3 if width >= WIDE else 2):
        drawn.add_column(no_wrap=True, overflow="crop")
    drawn.add_column(justify="right", no_wrap=True, overflow="crop")
    overflow = "crop" if console.options.ascii_only else "ellipsis"
    drawn.add_column(no_wrap=True, overflow="crop" if overflow == "crop" else "ellipsis", ratio=1)
    for row in rows:
        progress = row.progress
        bar = ProgressBar(total=max(progress.collected, 1), completed=row.done, width=BAR_WIDTH)
        drawn.add_row(
            Text(progress.cell),
            *((bar,) if width >= WIDE else ()),
            Text(f"{row.done}/{progress.collected}"),
            Text(f"{progress.red} red", style="red" if progress.red else "dim"),
            Text(f"{row.seconds(now):.0f} s"),
            Text(state(row, now)),
        )
    return drawn


def state(row: Row, now: float) -> str:
    """Say what a cell does: the test that it is in, if that is slow, and for how long it may go on."""
    left = row.left(now)
    slow = row.slow(now)
    if slow or left is None or left < 1 or row.progress.step != RUNNING:
        return slow or spell_out(row.progress.step)
    return f"{spell_out(row.progress.step)}, about {left:.0f} s left"


def shown(rows: Sequence[Row], most: int) -> tuple[list[Row], str]:
    """Choose the rows that a screen has room for, those that run first, and say in a line what became of the others."""
    if len(rows) <= most:
        return list(rows), ""
    over = [row for row in rows if row.end is not None]
    hidden = set(map(id, over[: max(0, len(rows) - most)]))
    gone = [row for row in over if id(row) in hidden]
    return [row for row in rows if id(row) not in hidden], _gone(gone)


def _gone(rows: Sequence[Row]) -> str:
    """Say in a line what became of cells that are not drawn."""
    red = sum(1 for row in rows if row.progress.red)
    if len(rows) == 1:
        return f"and 1 cell before, {'with' if red else 'without'} red tests"
    return f"and {len(rows)} cells before, {red or 'none'} of them with red tests" if rows else ""
