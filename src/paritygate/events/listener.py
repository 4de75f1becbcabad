"""What a runner holds while a cell runs: it is fed both streams, says how far the cell is, and at last gives the cell.

It runs nothing and waits for nothing.
"""

from __future__ import annotations

from paritygate.events.ending import Ending
from paritygate.events.fold import Heard, fold
from paritygate.events.stream import Lines, Numbered
from paritygate.events.wire import (
    Collected,
    CollectError,
    End,
    Event,
    Finish,
    Mismatch,
    Partition,
    Start,
    TestEnd,
    TestStart,
)
from paritygate.outcomes.cells import Cell, NodeId, TestId
from paritygate.outcomes.plans import CellPlan, Progress

TAIL = 64 << 10


class Listener:
    """Listens to one cell. Bytes may come cut anywhere, and again from the beginning after `replay`."""

    def __init__(self, plan: CellPlan, nonce: str) -> None:
        self.plan = plan
        self.ended = False
        self._lines = Lines()
        self._numbered = Numbered(nonce)
        self._tail = b""
        self._progress = Progress(cell=plan.name, step="starting")
        self._running: dict[str, TestId] = {}
        self._broken: set[NodeId] = set()

    @property
    def progress(self) -> Progress:
        """Say where the cell stands."""
        return self._progress

    def stdout(self, data: bytes) -> Progress | None:
        """Take a piece of the launcher's stdout; say where the cell stands if that has changed."""
        before = self._progress
        for line in self._lines.feed(data):
            event = self._numbered.take(line)
            if event is not None:
                self._advance(event)
        return self._progress if self._progress != before else None

    def stderr(self, data: bytes) -> None:
        """Take a piece of the launcher's stderr, of which the end is kept."""
        self._tail = (self._tail + data)[-TAIL:]

    def replay(self) -> None:
        """Expect both streams once more from their beginnings, as after a broken connection; what is known counts once."""
        self._lines.reset()
        self._tail = b""

    def cell(self, ending: Ending) -> Cell:
        """Fold everything into the cell."""
        tail = self._tail.decode("utf-8", "replace")
        heard = Heard(tuple(self._numbered.events()), tuple(self._numbered.faults()), tail)
        return fold(self.plan, heard, ending)

    def _advance(self, event: Event) -> None:
        """Bring progress up to date."""
        now = self._progress
        collected, done, red, step = now.collected, now.done, now.red, now.step
        match event:
            case Start():
                step = "collecting"
            case Collected() | Partition():
                collected, step = len(event.tests), "running"
            case TestStart():
                self._running[event.worker] = event.test
            case TestEnd():
                done, red = done + 1, red + (not event.outcome.green)
                self._running.pop(event.worker, None)
            case CollectError() if event.nodeid not in self._broken:
                # A process that replaces another collects, and complains, anew.
                self._broken.add(event.nodeid)
                red += 1
            case Finish():
                step = "ending"
            case End() | Mismatch():
                step, self.ended = "ended", True
                self._running.clear()
            case _:
                return
        running = tuple(self._running.values())
        self._progress = Progress(cell=now.cell, step=step, collected=collected, done=done, red=red, running=running)
