"""A program in a terminal of its own: what it writes there, and what is left on the screen at the end."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping

import msgspec

from tests.support.samples import clean_environment

PATIENCE_SECONDS = 120.0
CONTROL = re.compile(r"\x1b\[(?P<parameters>[?0-9;]*)(?P<what>[A-Za-z])")


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """How a program ended, every byte that it wrote to its terminal, and the lines that stand there at the end."""

    code: int
    written: str
    lines: list[str]


def show(*arguments: str, columns: int, variables: Mapping[str, str] | None = None) -> Shown:
    """Run a program of this interpreter, with all its streams on a terminal of so many columns."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    around = {name: value for name, value in clean_environment().items() if name not in {"COLUMNS", "LINES", "NO_COLOR", "CI"}}
    program = subprocess.Popen(
        (sys.executable, *arguments),
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env=around | {"TERM": "xterm-256color"} | dict(variables or {}),
        start_new_session=True,
    )
    os.close(inner)
    content = b"".join(_pieces(outer, time.monotonic() + PATIENCE_SECONDS))
    os.close(outer)
    written = content.decode("utf-8", "replace")
    return Shown(code=program.wait(PATIENCE_SECONDS), written=written, lines=screen(written, columns))


def _pieces(outer: int, give_up: float) -> list[bytes]:
    """Read until the program's side is closed, which Linux says by an error."""
    pieces: list[bytes] = []
    while time.monotonic() < give_up:
        if not select.select([outer], [], [], 1.0)[0]:
            continue
        try:
            piece = os.read(outer, 1 << 16)
        except OSError:
            break
        if not piece:
            break
        pieces.append(piece)
    return pieces


def screen(written: str, columns: int) -> list[str]:
    """Say what stands on an endless screen after all that was written: the few sequences that progress needs are obeyed."""
    rows: list[list[str]] = [[]]
    row = column = 0
    position = 0
    while position < len(written):
        if match := CONTROL.match(written, position):
            position = match.end()
            count = int(match["parameters"]) if match["parameters"].isdecimal() else 1
            if match["what"] == "A":
                row = max(0, row - count)
            elif match["what"] == "K":
                rows[row] = []
            continue
        character = written[position]
        position += 1
        if character == "\r":
            column = 0
        elif character == "\n" or column >= columns:
            row, column = row + 1, 0
            rows += [[] for _ in range(row + 1 - len(rows))]
        if character not in "\r\n":
            rows[row] += " " * (column + 1 - len(rows[row]))
            rows[row][column] = character
            column += 1
    return ["".join(each).rstrip() for each in rows]
