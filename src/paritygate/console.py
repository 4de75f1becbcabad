"""The user's terminal, lent to a program elsewhere: every key goes there, and all that it writes comes here."""

from __future__ import annotations

import os
import select
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

if sys.platform != "win32":
    import termios
    import tty

STDIN, STDOUT = 0, 1
PIECE = 1 << 12


def is_there() -> bool:
    """Say whether there is a terminal on both sides that can be lent."""
    return sys.platform != "win32" and os.isatty(STDIN) and os.isatty(STDOUT)


def lend(write: Callable[[bytes], None], pieces: Iterable[bytes], resize: Callable[[int, int], None]) -> None:
    """Carry keys to `write` and what comes in `pieces` to the screen, until that ends; `resize` is told rows and columns."""
    over, ended = os.pipe()

    def show() -> None:
        try:
            for piece in pieces:
                rest = memoryview(piece)
                while rest:
                    rest = rest[os.write(STDOUT, rest) :]
        finally:
            os.close(ended)

    def tell_size(_number: int = 0, _frame: FrameType | None = None) -> None:
        size = shutil.get_terminal_size()
        resize(size.lines, size.columns)

    with _raw(), _on_resize(tell_size):
        tell_size()
        screen = threading.Thread(target=show, name="screen", daemon=True)
        screen.start()
        _carry_keys(over, write)
        os.close(over)


def _carry_keys(over: int, write: Callable[[bytes], None]) -> None:
    sources = [STDIN, over]
    while True:
        ready = select.select(sources, [], [])[0]
        if over in ready:
            return
        keys = os.read(STDIN, PIECE)
        if keys:
            write(keys)
        else:
            sources.remove(STDIN)


@contextmanager
def _raw() -> Iterator[None]:
    before = termios.tcgetattr(STDIN)
    tty.setraw(STDIN)
    try:
        yield
    finally:
        termios.tcsetattr(STDIN, termios.TCSADRAIN, before)


@contextmanager
def _on_resize(answer: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    before = signal.signal(signal.SIGWINCH, answer)
    try:
        yield
    finally:
        signal.signal(signal.SIGWINCH, before)
