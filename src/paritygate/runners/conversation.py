"""One cell's conversation with its launcher, whatever carries it: what is sent, what is heard, how long it is waited for.

A runner makes the other end of the line, a guest, and says how to speak to it; everything else about a cell is here.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Protocol

import msgspec

from paritygate.errors import ConnectionLostError, NoVerdictError
from paritygate.events.ending import Ending
from paritygate.events.listener import Listener
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import CellStatus, RunnerName
from paritygate.runners.protocol import Watch

STDOUT = 1
LONGEST_SECONDS = 24 * 3600.0

logger = logging.getLogger(__name__)


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """For how many seconds a cell is waited for where its launcher should have spoken.

    `grace` is what the launcher may need beyond the cell's own limit: the probe before, the ends of all processes after it.
    `silent` is many heartbeats: a connection without a sign of life for so long is dead, whatever the operating system thinks.
    `end` is for the guest's end once the streams have ended, `look` how often all this is looked at.
    """

    grace: float = 240.0
    silent: float = 120.0
    end: float = 60.0
    look: float = 1.0


class End(Protocol):
    """How a guest ended; `exit_code` is None where the line to it was lost."""

    @property
    def exit_code(self) -> int | None:
        """Say the exit status, 128 and the signal's number for one that was killed."""

    @property
    def out_of_memory(self) -> bool:
        """Say whether it is known that it was ended for lack of memory."""

    @property
    def detail(self) -> str:
        """Say what else is known."""


class Line(Protocol):
    """The streams of a guest. Every method raises a `NoVerdictError` where they break."""

    def write(self, data: bytes) -> None:
        """Send bytes to its stdin."""

    def frames(self) -> Iterator[tuple[int, bytes]]:
        """Yield (1 for stdout or 2 for stderr, bytes) until the streams end or `close` is called."""

    def close(self) -> None:
        """Let go of the line; a reader in another thread ends."""


class Guest(Protocol):
    """A launcher with all that it has started."""

    @property
    def identity(self) -> str:
        """Tell it from others."""

    def wait(self, seconds: float) -> End | None:
        """Wait until it has ended; None when the time was too short."""

    def kill(self) -> None:
        """End it and all that it has started; not an error when it has ended already."""

    def logs(self) -> Iterator[tuple[int, bytes]] | None:
        """Yield once more the frames of its streams, from the beginning; None where nobody has kept them."""


class Running:
    """The guests of a runner that are running, so that all can be ended from any thread."""

    def __init__(self) -> None:
        self.stopped = False
        self._guests: dict[str, Guest] = {}
        self._guard = threading.Lock()

    def guests(self) -> tuple[Guest, ...]:
        """List those that are running now."""
        with self._guard:
            return tuple(self._guests.values())

    def stop(self) -> None:
        """End them all, and let none begin."""
        self.stopped = True
        for guest in self.guests():
            try:
                guest.kill()
            except NoVerdictError as error:
                logger.warning("a cell could not be ended: %s", error.message)

    @contextmanager
    def registered(self, guest: Guest) -> Iterator[None]:
        """Have a guest among them while the context lasts."""
        with self._guard:
            self._guests[guest.identity] = guest
        try:
            yield
        finally:
            with self._guard:
                del self._guests[guest.identity]


class Visit:
    """One cell while it runs: what has been heard, and how long to wait for more."""

    def __init__(self, plan: CellPlan, watch: Watch, patience: Patience, running: Running) -> None:
        limit = plan.limits.cell_seconds
        self.nonce = secrets.token_hex(16)
        self.listener = Listener(plan, self.nonce)
        self.seconds = limit + patience.grace if limit > 0 else LONGEST_SECONDS
        self.begun = False
        self.overdue = False
        self.broken = ""
        self.lost = False
        self._plan = plan
        self._watch = watch
        self._patience = patience
        self._running = running
        self._heard = time.monotonic()

    def cell(self, runner: RunnerName, converse: Callable[[], End | None]) -> Cell:
        """Hold the conversation and say the cell that came of it; a place that fails makes a dead cell, not an error."""
        started = datetime.now(UTC).isoformat(timespec="seconds")
        began = time.monotonic()
        end = None
        failure = ""
        try:
            end = converse()
        except NoVerdictError as error:
            failure = f"{error.message}; {error.hint}" if error.hint else error.message
            self.lost = isinstance(error, ConnectionLostError)
            logger.info("cell %s: %s", self._plan.name, failure)
        ending = Ending(
            runner=runner,
            exit_code=end.exit_code if end is not None else None,
            out_of_memory=end is not None and end.out_of_memory,
            detail=failure or self.broken or (end.detail if end is not None else ""),
            started=started,
            seconds=round(time.monotonic() - began, 3),
        )
        return self._judged(self.listener.cell(ending), failure, ended_unseen=ending.exit_code is None)

    def tell_end(self, cell: Cell) -> None:
        """Tell whoever watches how it has ended."""
        step = "stopped" if self._running.stopped and not self.listener.ended else cell.status.value
        self._watch(msgspec.structs.replace(self.listener.progress, step=step, running=()))

    def hold(self, guest: Guest, line: Line, specification: bytes) -> End | None:
        """Give a started launcher its specification, listen to all that it says, and wait for its end; None if there is none."""
        self.begun = True
        with self._watched(guest, line):
            self._listen(line, specification)
        return self._end_of(guest)

    def _judged(self, cell: Cell, failure: str, *, ended_unseen: bool) -> Cell:
        """Say of a cell that came to no end of its own what only the runner can know."""
        if self.listener.ended:
            return cell
        if self._running.stopped:
            return msgspec.structs.replace(cell, status=CellStatus.CRASHED, detail="stopped before its end", passed=False)
        if self.overdue:
            detail = f"it did not end within {self.seconds:.0f} s, and was killed"
            return msgspec.structs.replace(cell, status=CellStatus.TIMED_OUT, detail=detail, passed=False)
        if self.lost:
            return msgspec.structs.replace(cell, status=CellStatus.CRASHED, detail=failure, passed=False, lost=True)
        if failure and not self.begun:
            return msgspec.structs.replace(cell, status=CellStatus.UNUSABLE, detail=failure, passed=False)
        return msgspec.structs.replace(cell, lost=ended_unseen)

    def _listen(self, line: Line, specification: bytes) -> None:
        """Send the specification and take everything that comes until the streams end or break."""
        try:
            line.write(specification)
        except NoVerdictError as error:
            # The launcher may have died at once; why, its last words on the same connection say.
            self.broken = error.message
        try:
            for stream, data in line.frames():
                self._take(stream, data)
        except NoVerdictError as error:
            self.broken = error.message

    def _end_of(self, guest: Guest) -> End | None:
        """Wait for the guest's end and, if the launcher's last word is missing, hear what was kept of it once more."""
        end = guest.wait(self._patience.end)
        if end is None:
            # The end of its stdin has told the launcher to end; what does not, is stuck.
            guest.kill()
            end = guest.wait(self._patience.end)
        if not self.listener.ended and (kept := guest.logs()) is not None:
            self.listener.replay()
            for stream, data in kept:
                self._take(stream, data)
        return end

    @contextmanager
    def _watched(self, guest: Guest, line: Line) -> Iterator[None]:
        """Kill a cell that is overdue, and give up a connection on which nothing comes any more."""
        done = threading.Event()
        self._heard = time.monotonic()
        watchdog = threading.Thread(target=self._look, args=(guest, line, done), name="watchdog", daemon=True)
        watchdog.start()
        try:
            yield
        finally:
            done.set()
            watchdog.join()

    def _look(self, guest: Guest, line: Line, done: threading.Event) -> None:
        deadline = time.monotonic() + self.seconds
        while not done.wait(self._patience.look):
            now = time.monotonic()
            if now > deadline:
                self.overdue = True
                try:
                    guest.kill()
                except NoVerdictError as error:
                    self.broken = error.message
                line.close()
                return
            if now - self._heard > self._patience.silent:
                self.broken = f"nothing came for {self._patience.silent:.0f} s, not even a sign of life"
                line.close()
                return

    def _take(self, stream: int, data: bytes) -> None:
        self._heard = time.monotonic()
        if stream != STDOUT:
            self.listener.stderr(data)
        elif (progress := self.listener.stdout(data)) is not None:
            self._watch(progress)
