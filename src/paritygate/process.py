"""The process around the program: its standard streams and its signals.

It loads next to nothing and says nothing of tests: it has to be there before anything else is.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TextIO

from paritygate.errors import InterruptedRunError
from paritygate.outcomes.words import ExitCode

ENDING = frozenset({"SIGHUP", "SIGINT", "SIGTERM"})
"""The signals that ask for an end, by name: not every system has all of them."""

STDERR = 2
SECOND = "paritygate: stopping; once more to abandon, the next run cleans up\n"
SHOW_CURSOR = "\x1b[?25h"


class Interruption(BaseException):
    """The first signal, on its way up. It is no `Exception`, so that nothing takes it for a failure and goes on."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Answering(io.TextIOWrapper):
    """A standard stream that fails nobody who writes to it: `lost` says why nothing more goes out.

    Whoever reads may leave early, as `head` does, and a disk may fill up. That is no reason to stop a run half way, nor may
    Python come upon it at the very end, where it has exit codes of its own.
    """

    lost: OSError | None = None

    def write(self, text: str, /) -> int:
        """Write what can be written, and take the rest as if it were."""
        with self._failing_nobody():
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """Send on what is kept."""
        with self._failing_nobody():
            super().flush()

    @contextmanager
    def _failing_nobody(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.lost = error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)


def take_in_hand() -> None:
    """Make the standard streams safe to write to, and let signals end the process in our way from now on."""
    _open_what_is_closed()
    sys.stdout = _answering(sys.stdout, 1)
    sys.stderr = _answering(sys.stderr, STDERR)
    for each in _ending_signals():
        signal.signal(each, _leave)


def lost(stream: TextIO) -> OSError | None:
    """Say why a standard stream takes nothing more; None where all went out, or its reader merely left early."""
    stream.flush()
    reason = stream.lost if isinstance(stream, Answering) else None
    return None if isinstance(reason, BrokenPipeError) else reason


@contextmanager
def ending_on_signals() -> Iterator[None]:
    """Turn the first signal into an error that unwinds, so that everything started is removed.

    The second one is answered, and the cleaning goes on; the third ends the process at once.
    """
    received: list[int] = []

    def answer(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        match len(received):
            case 1:
                raise Interruption(number)
            case 2:
                _say(SECOND)
            case _:
                _say(SHOW_CURSOR if os.isatty(STDERR) else "")
                os._exit(128 + number)

    before = {each: signal.signal(each, answer) for each in _ending_signals()}
    try:
        yield
    except Interruption as first:
        raise _interrupted(first.number) from first
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _ending_signals() -> list[signal.Signals]:
    """List the signals to be handled; who starts a process so that it ignores one, as `nohup` does, means it."""
    return [each for each in signal.Signals if each.name in ENDING and signal.getsignal(each) is not signal.SIG_IGN]


def _interrupted(number: int) -> InterruptedRunError:
    return InterruptedRunError(signal.Signals(number).name, ExitCode(128 + number))


def _leave(number: int, _frame: FrameType | None) -> None:
    """End at once: where this is in force nothing has been started yet, or everything is over."""
    error = _interrupted(number)
    _say(f"paritygate: {error.message}\n")
    os._exit(error.exit_code)


def _say(text: str) -> None:
    """Say something from within a signal handler, past the streams, which may be in use."""
    with suppress(OSError):
        os.write(STDERR, text.encode())


def _open_what_is_closed() -> None:
    """Give closed standard streams a descriptor that leads nowhere, so that no file or socket gets their number."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # noqa: FBT003  # the lowest free number is the closed one


def _answering(stream: TextIO | None, descriptor: int) -> TextIO:
    """Put a stream into our hands, unless it is no plain file but a console of Windows or something of the caller's."""
    buffer = getattr(stream, "buffer", None)
    raw = getattr(buffer, "raw", buffer)  # with `PYTHONUNBUFFERED` there is no buffer between
    if stream is not None and type(raw) is not io.FileIO:
        return stream
    if sys.platform != "win32":
        os.set_blocking(descriptor, True)  # else whoever reads too slowly would lose something
    return Answering(
        io.BufferedWriter(io.FileIO(descriptor, "wb", closefd=False)),
        encoding="utf-8" if stream is None else stream.encoding,
        errors="backslashreplace" if stream is None or stream.errors == "strict" else stream.errors,
        line_buffering=descriptor == STDERR or os.isatty(descriptor),
    )
