"""What the cells are doing now: a table that redraws itself on a terminal, plain lines elsewhere, nothing when quiet.

It never says how a test is judged; the report does when all cells are done.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from enum import Enum
from types import TracebackType
from typing import Self

import rich.live
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from paritygate.outcomes.plans import Progress
from paritygate.reports import rows
from paritygate.reports.rows import UNDERWAY, Row
from paritygate.reports.text import spell_out
from paritygate.reports.workflow import neutralised

SILENT_SECONDS = 60.0
QUARTER_SECONDS = 5.0
QUARTERS = 4
TICK_SECONDS = 5.0
LONG_SECONDS = 2.0
"""After how many seconds a step of which nothing is seen is shown on a terminal, with its time."""
BESIDE_ROWS = 6
LEAST_ROWS = 4


class Much(Enum):
    """How much is said: nothing, what a reader wants, or every step of every cell in a line of its own, on a terminal too."""

    QUIET = "quiet"
    PLAIN = "plain"
    VERBOSE = "verbose"


class Live:
    """Watches any number of cells at once, from any thread; a cell's last step is the name of its status, or how else it ended.

    A cell that begins once more after its end, since it is run again, has a row of its own time.
    """

    def __init__(
        self, console: Console, *, quiet: bool = False, verbose: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._console = console
        self._much = Much.QUIET if quiet else Much.VERBOSE if verbose else Much.PLAIN
        self._clock = clock
        self._rows: dict[str, Row] = {}
        self._expected: dict[str, float] = {}
        self._step, self._since = "", clock()
        self._said = self._since
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._screen: rich.live.Live | None = None
        self._ticker: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Begin to draw, on a terminal; elsewhere begin to look whether a step takes long."""
        if self._much is Much.QUIET:
            return self
        if self._console.is_terminal and self._much is Much.PLAIN:
            self._screen = rich.live.Live(
                get_renderable=self.screen,
                console=self._console,
                refresh_per_second=4,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._screen.start()
        else:
            self._ticker = threading.Thread(target=self._tick_on, name="progress", daemon=True)
            self._ticker.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Leave the last state on the terminal."""
        self._over.set()
        self._step = ""
        if self._screen is not None:
            self._screen.stop()
            self._screen = None
        if self._ticker is not None:
            self._ticker.join()

    def say(self, line: str) -> None:
        """Show a line that is about no cell, above the table where there is one: a step that begins, or a remark."""
        with self._lock:
            self._step, self._since = line, self._clock()
            self._print(line)

    def expect(self, seconds: Mapping[str, float]) -> None:
        """Take in how many seconds each cell took the last time, by its name."""
        with self._lock:
            self._expected = dict(seconds)

    def watch(self, progress: Progress) -> None:
        """Take in where a cell stands."""
        now = self._clock()
        with self._lock:
            row = self._rows.get(progress.cell)
            first = row is None or (row.end is not None and progress.step in UNDERWAY)
            if row is None or first:
                row = Row(progress, now, self._expected.get(progress.cell, 0.0))
                self._rows.pop(progress.cell, None)
                self._rows[progress.cell] = row
            before, step = row.progress.collected, row.progress.step
            ended = row.end is not None
            row.move(progress, now)
            if self._screen is None and self._much is not Much.QUIET and not ended:
                collected = progress.collected > 0 and (first or not before)
                self._say_plainly(row, now, first=first, collected=collected)
                if self._much is Much.VERBOSE and step != progress.step in UNDERWAY and not first:
                    self._print(f"{progress.cell}: {spell_out(progress.step)}")

    def table(self) -> Table:
        """Draw every cell as it stands."""
        with self._lock:
            return rows.table(self._rows.values(), self._clock(), self._console)

    def screen(self) -> RenderableType:
        """Draw the cells that there is room for, and below them what is going on beside, or for how long it may."""
        now = self._clock()
        with self._lock:
            some, before = rows.shown([*self._rows.values()], max(LEAST_ROWS, self._console.height - BESIDE_ROWS))
            lines = [line for line in (before, self._below(now)) if line]
            drawn = rows.table(some, now, self._console)
        below = (Text(line, style="dim", no_wrap=True, overflow="crop") for line in lines)
        return Group(*((drawn,) if some else ()), *below)

    def tick(self) -> None:
        """Say of what has been silent for long that it goes on."""
        now = self._clock()
        with self._lock:
            open_rows = [row for row in self._rows.values() if row.end is None]
            for row in open_rows:
                self._say_plainly(row, now, first=False, collected=False)
            if self._step and not open_rows and now - self._said >= SILENT_SECONDS:
                self._print(f"still {now - self._since:.0f} s at: {self._step}")

    def _below(self, now: float) -> str:
        """Say in a line how all cells stand, or while none runs which step takes so long."""
        every = [*self._rows.values()]
        if not any(row.end is None for row in every):
            return f"{now - self._since:.0f} s: {self._step}" if self._step and now - self._since >= LONG_SECONDS else ""
        left = rows.left_in_all(every, self._expected, now)
        red = sum(row.progress.red for row in every)
        over = sum(row.end is not None for row in every)
        total = max(len(every), len(self._expected))
        return f"{over} of {total} cells done, {red} red{f', about {left:.0f} s left' if left is not None else ''}"

    def _tick_on(self) -> None:
        while not self._over.wait(TICK_SECONDS):
            self.tick()

    def _print(self, line: str) -> None:
        self._said = self._clock()
        if self._much is not Much.QUIET:
            self._console.print(Text(neutralised(line)), soft_wrap=True, highlight=False)

    def _say_plainly(self, row: Row, now: float, *, first: bool, collected: bool) -> None:
        """Say what is new about a cell, in at most a few lines over its whole life; more only while it would be silent."""
        progress = row.progress
        counts = f"{row.done} of {progress.collected}, {progress.red} red"
        quarter = row.done * QUARTERS // progress.collected if progress.collected else 0
        patience = 0.0 if self._much is Much.VERBOSE else QUARTER_SECONDS
        lines = []
        if first:
            lines.append("started")
        if collected:
            lines.append(f"collected {progress.collected}")
        if row.end is not None:
            lines.append(f"{progress.step}, {counts}, {row.seconds(now):.1f} s")
        elif row.quarter < quarter < QUARTERS and now - row.said >= patience:
            lines.append(f"{quarter * 100 // QUARTERS} %, {counts}")
        elif now - row.said >= SILENT_SECONDS:
            lines.append(f"{spell_out(progress.step)}, {counts}{f', in {slow}' if (slow := row.slow(now)) else ''}")
        row.quarter = max(row.quarter, quarter)
        for line in lines:
            row.said = now
            self._print(f"{progress.cell}: {line}")
