"""What the cells are doing now: a table that redraws itself on a terminal, plain lines elsewhere, nothing when quiet.

It never says how a test is judged; the report does when all cells are done.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from types import TracebackType
from typing import NamedTuple, Self

import rich.live
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from paritygate.outcomes.plans import CellPlan, Progress
from paritygate.reports import rows
from paritygate.reports.batch import LONG_SECONDS, Batch, in_all
from paritygate.reports.rows import UNDERWAY, Row
from paritygate.reports.text import spell_out
from paritygate.reports.workflow import neutralised

SILENT_SECONDS = 60.0
QUARTER_SECONDS = 5.0
QUARTERS = 4
TICK_SECONDS = 5.0
BESIDE_ROWS = 6
LEAST_ROWS = 4


class Much(Enum):
    """How much is said: nothing, what a reader wants, or every step of every cell in a line of its own, on a terminal too."""

    QUIET = "quiet"
    PLAIN = "plain"
    VERBOSE = "verbose"


class Doing(NamedTuple):
    """What is going on, and since when."""

    what: str
    since: float


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
        self._batches: list[Batch] = []
        self._step, self._since = "", clock()
        self._said = self._since
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._screen: rich.live.Live | None = None
        self._ticker: threading.Thread | None = None

    @property
    def is_drawn(self) -> bool:
        """Say whether cells are drawn as a table, which takes a terminal that can move its cursor."""
        return self._console.is_terminal and not self._console.is_dumb_terminal and self._much is Much.PLAIN

    def __enter__(self) -> Self:
        """Begin to draw, on a terminal; elsewhere begin to look whether a step takes long."""
        if self._much is Much.QUIET:
            return self
        if self.is_drawn:
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
        self.step("")
        if self._screen is not None:
            self._screen.stop()
            self._screen = None
        if self._ticker is not None:
            self._ticker.join()

    def say(self, line: str) -> None:
        """Show a line that is about no cell, above the table where there is one."""
        with self._lock:
            self._print(line)

    def step(self, line: str) -> None:
        """Show a line about a step that begins, or nothing where it ends: until then it is what is going on."""
        with self._lock:
            self._step, self._since = line, self._clock()
            if line:
                self._print(line)

    def announce(self, plans: Sequence[CellPlan], why: str = "") -> None:
        """Take in which cells are about to run, and why further ones; what was done before them is over."""
        with self._lock:
            self.step("")
            if plans:
                self._batches.append(Batch([plan.name for plan in plans], why, self._clock()))

    def expect(self, seconds: Mapping[str, float]) -> None:
        """Take in how many seconds each cell took the last time, by its name."""
        with self._lock:
            self._expected = dict(seconds)

    def watch(self, progress: Progress) -> None:
        """Take in where a cell stands."""
        now = self._clock()
        with self._lock:
            row = self._rows.get(progress.cell)
            awaited = bool(self._batches) and self._batches[-1].awaits(progress.cell)
            first = row is None or (row.end is not None and (awaited or progress.step in UNDERWAY))
            if row is None or first:
                row = Row(progress, now, self._expected.get(progress.cell, 0.0))
                self._rows.pop(progress.cell, None)
                self._rows[progress.cell] = row
                self._begun(row, now)
            before, step = row.progress.collected, row.progress.step
            ended = row.end is not None
            row.move(progress, now)
            if row.end is not None and not ended:
                self._batches[-1].ended(now)
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
        below = (Text(line, style="dim") for line in lines)
        return Group(*((drawn,) if some else ()), *below)

    def tick(self) -> None:
        """Say of what has been silent for long that it goes on."""
        now = self._clock()
        with self._lock:
            open_rows = [row for row in self._rows.values() if row.end is None]
            for row in open_rows:
                self._say_plainly(row, now, first=False, collected=False)
            if not open_rows and now - self._said >= SILENT_SECONDS and (doing := self._doing()):
                self._print(f"still {now - doing.since:.0f} s at: {doing.what}")

    def _begun(self, row: Row, now: float) -> None:
        """Count a cell that begins among those announced last; where nobody announces any, among all of its run."""
        self._step = ""
        if not self._batches:
            self._batches.append(Batch((), "", now))
        self._batches[-1].begin(row)

    def _doing(self) -> Doing | None:
        """Say what is going on while no cell runs; None for nothing that anybody said."""
        if self._step:
            return Doing(self._step, self._since)
        if self._batches and (names := self._batches[-1].starting):
            return Doing(f"starting {' and '.join(names)}", self._batches[-1].waited_since)
        return None

    def _below(self, now: float) -> str:
        """Say in a line which step takes so long, or how the cells stand; of all of them in the end."""
        if self._step:
            return f"{now - self._since:.0f} s: {self._step}" if now - self._since >= LONG_SECONDS else ""
        if not self._batches:
            return ""
        return in_all(self._batches) if self._over.is_set() else self._batches[-1].line(self._expected, now)

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
