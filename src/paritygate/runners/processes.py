"""A process of this computer as a guest: its three streams, its end, and the end of all that it has started.

It knows nothing of what the process does.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self

import msgspec

from paritygate.errors import RunnerError
from paritygate.guest import lodging

LOOK_SECONDS = 0.5
ORDERLY_SECONDS = 20.0
"""How long a process may take to end what it has started, before that is done for it; the launcher's own limit is shorter."""
SIGNALLED = 128
PIECE = 1 << 18


class ProcessEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How a process ended; nobody tells an ordinary user whether it was for lack of memory."""

    exit_code: int | None
    out_of_memory: bool = False
    detail: str = ""


class Process:
    """A process in a session of its own. Leaving the context ends it, and all below it, whatever happened.

    `keep` are descriptors that it gets besides its streams. The end of its stdin is the first thing that it is told.
    """

    def __init__(self, command: Sequence[str], keep: tuple[int, ...] = (), variables: dict[str, str] | None = None) -> None:
        try:
            self._popen = subprocess.Popen(  # noqa: S603 - the caller's own command
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=variables,
                cwd="/",
                pass_fds=keep,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise RunnerError(f"`{command[0]}` cannot be started: {(error.strerror or str(error)).lower()}") from error
        self._closed = False
        self._asked = False
        self._guard = threading.Lock()

    @property
    def identity(self) -> str:
        """Say its process id."""
        return str(self._popen.pid)

    def limit_processors(self, number: int) -> None:
        """Let it, and all that it will start, run on so many of the processors only."""
        allowed = sorted(os.sched_getaffinity(0))[: max(1, number)]
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(self._popen.pid, allowed)

    def write(self, data: bytes) -> None:
        """Send bytes to its stdin."""
        if self._popen.stdin is None:
            return
        try:
            with memoryview(data) as rest:
                sent = 0
                while sent < len(data):
                    sent += self._popen.stdin.write(rest[sent:]) or 0
        except (OSError, ValueError) as error:
            raise RunnerError(f"the cell takes no specification: {str(error).lower()}") from error

    def frames(self) -> Iterator[tuple[int, bytes]]:
        """Yield what comes until both streams end, or the process has ended and nothing more comes.

        Who still holds one of them may be somebody that it has left behind.
        """
        with selectors.DefaultSelector() as selector:
            for number, stream in ((1, self._popen.stdout), (2, self._popen.stderr)):
                if stream is not None:
                    selector.register(stream, selectors.EVENT_READ, number)
            while selector.get_map() and not self._closed:
                ended = self._popen.poll() is not None
                ready = selector.select(LOOK_SECONDS)
                for key, _ in ready:
                    if data := os.read(key.fd, PIECE):
                        yield key.data, data
                    else:
                        selector.unregister(key.fileobj)
                if ended and not ready:
                    return

    def close(self) -> None:
        """Let go of the streams."""
        self._closed = True
        self._end_stdin()

    def wait(self, seconds: float) -> ProcessEnd | None:
        """Wait until it has ended; None when the time was too short."""
        try:
            status = self._popen.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        return ProcessEnd(exit_code=status if status >= 0 else SIGNALLED - status)

    def kill(self) -> None:
        """Ask it to end, with all below it; what is asked a second time is ended at once."""
        with self._guard:
            again, self._asked = self._asked, True
        if self._popen.poll() is not None:
            return
        self._end_stdin()
        if again:
            self._end_all()
        else:
            self._popen.terminate()

    def logs(self) -> None:
        """Say that nobody has kept what it said."""
        return

    def __enter__(self) -> Self:
        """Give itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End what has not ended, and let go of its streams."""
        self.kill()
        if self.wait(ORDERLY_SECONDS) is None:
            self._end_all()
            self._popen.wait()
        for stream in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _end_stdin(self) -> None:
        if self._popen.stdin is not None:
            with contextlib.suppress(OSError):
                self._popen.stdin.close()

    def _end_all(self) -> None:
        """Kill everything below it while it stands still, so that it can start no more and orphans stay its own."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._popen.pid, signal.SIGSTOP)
            for _ in range(100):
                victims = lodging.below(self._popen.pid)
                for pid in victims:
                    with contextlib.suppress(OSError):
                        os.kill(pid, signal.SIGKILL)
                if not victims:
                    break
                time.sleep(0.01)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._popen.pid, signal.SIGKILL)
