"""What the cells are doing now: a table that redraws itself on a terminal, plain lines elsewhere, nothing when quiet.

It never says how a test is judged; the report does when all cells are done.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

import rich.live
from rich.console import Console
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from paritygate.outcomes.cells import TestId
from paritygate.outcomes.plans import Progress
from paritygate.reports.text import spell_out
from paritygate.reports.workflow import neutralised

SLOW_SECONDS = 3.0
SILENT_SECONDS = 60.0
QUARTER_SECONDS = 5.0
QUARTERS = 4
BAR_WIDTH = 20

_UNDERWAY = frozenset({"starting", "collecting", "running", "ending", "ended"})
"""What a cell does before its last word; every other word, such as a status or that it was stopped, is the last one."""


class Row:
    """Where one cell stands, and since when. `said` is the time of the last plain line about it."""

    def __init__(self, progress: Progress, now: float) -> None:
        self.progress = progress
        self.begin = now
        self.end: float | None = None
        self.running: dict[TestId, float] = {}
        self.said = now
        self.quarter = 0

    def move(self, progress: Progress, now: float) -> None:
        """Take in what the cell says now."""
        self.progress = progress
        self.running = {test: self.running.get(test, now) for test in progress.running}
        if progress.step not in _UNDERWAY and self.end is None:
            self.end = now

    @property
    def done(self) -> int:
        """Say how many tests are done, never more than there are: a test that claims to end twice counts once."""
        progress = self.progress
        return min(progress.done, progress.collected) if progress.collected else progress.done

    def seconds(self, now: float) -> float:
        """Say how long the cell has been running, or ran."""
        return (now if self.end is None else self.end) - self.begin

    def slow(self, now: float) -> str:
        """Name the test that has been running longest, where that is long."""
        if self.end is not None or not self.running:
            return ""
        test, since = min(self.running.items(), key=lambda item: item[1])
        return f"{spell_out(test.nodeid)} ({now - since:.0f} s)" if now - since >= SLOW_SECONDS else ""


class Live:
    """Watches any number of cells at once, from any thread; a cell's last step is the name of its status, or how else it ended.

    A cell that begins once more after its end, since it is run again, has a row of its own time.
    """

    def __init__(self, console: Console, *, quiet: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._quiet = quiet
        self._clock = clock
        self._rows: dict[str, Row] = {}
        self._lock = threading.RLock()
        self._screen: rich.live.Live | None = None

    def __enter__(self) -> Self:
        """Begin to draw, on a terminal."""
        if self._console.is_terminal and not self._quiet:
            self._screen = rich.live.Live(
                get_renderable=self.table,
                console=self._console,
                refresh_per_second=4,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._screen.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Leave the last state on the terminal."""
        if self._screen is not None:
            self._screen.stop()
            self._screen = None

    def say(self, line: str) -> None:
        """Show a line that is about no cell, above the table where there is one."""
        if not self._quiet:
            self._console.print(Text(neutralised(line)), soft_wrap=True, highlight=False)

    def watch(self, progress: Progress) -> None:
        """Take in where a cell stands."""
        now = self._clock()
        with self._lock:
            row = self._rows.get(progress.cell)
            first = row is None or (row.end is not None and progress.step in _UNDERWAY)
            if row is None or first:
                row = self._rows[progress.cell] = Row(progress, now)
            before = row.progress.collected
            ended = row.end is not None
            row.move(progress, now)
            if self._screen is None and not self._quiet and not ended:
                self._say_plainly(row, now, first=first, collected=progress.collected > 0 and (first or not before))

    def table(self) -> Table:
        """Draw every cell as it stands."""
        now = self._clock()
        table = Table.grid(padding=(0, 2), expand=True)
        for _ in range(4):
            table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
        with self._lock:
            for row in self._rows.values():
                progress = row.progress
                table.add_row(
                    Text(progress.cell),
                    ProgressBar(total=max(progress.collected, 1), completed=row.done, width=BAR_WIDTH),
                    Text(f"{row.done}/{progress.collected}"),
                    Text(f"{progress.red} red", style="red" if progress.red else "dim"),
                    Text(f"{row.seconds(now):.0f} s"),
                    Text(row.slow(now) or spell_out(progress.step)),
                )
        return table

    def _say_plainly(self, row: Row, now: float, *, first: bool, collected: bool) -> None:
        """Say what is new about a cell, in at most a few lines over its whole life; more only while it would be silent."""
        progress = row.progress
        counts = f"{row.done} of {progress.collected}, {progress.red} red"
        quarter = row.done * QUARTERS // progress.collected if progress.collected else 0
        lines = []
        if first:
            lines.append("started")
        if collected:
            lines.append(f"collected {progress.collected}")
        if row.end is not None:
            lines.append(f"{progress.step}, {counts}, {row.seconds(now):.1f} s")
        elif row.quarter < quarter < QUARTERS and now - row.said >= QUARTER_SECONDS:
            lines.append(f"{quarter * 100 // QUARTERS} %, {counts}")
        elif now - row.said >= SILENT_SECONDS:
            lines.append(f"{spell_out(progress.step)}, {counts}{f', in {slow}' if (slow := row.slow(now)) else ''}")
        row.quarter = max(row.quarter, quarter)
        for line in lines:
            row.said = now
            self.say(f"{progress.cell}: {line}")
