"""Progress on a real terminal: how it fits its width, what it does without colours or Unicode, and what is left at the end."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("there are no such terminals", allow_module_level=True)

from tests.support.screens import Shown, screen, show

FOUR_CELLS = Path(__file__).with_name("four_cells.py")
COLOUR = re.compile(r"\x1b\[[0-9;]*(?:3[0-8]|4[0-8])[0-9;]*m")
SAID = ["engine: Docker Engine 20.10.24 at unix:///var/run/docker.sock", "putting the dirty tree into the image of `local-like`"]


def four_cells(*arguments: str, columns: int, variables: Mapping[str, str] | None = None) -> Shown:
    """Run the program that shows four cells, which takes from this project's tests what plans are made of."""
    around = {"PYTHONPATH": str(FOUR_CELLS.parents[2])} | dict(variables or {})
    return show(str(FOUR_CELLS), *arguments, columns=columns, variables=around)


def test_a_wide_terminal_shows_bars_the_slow_test_and_what_is_left() -> None:
    shown = four_cells(columns=100)
    assert shown.code == 0
    assert shown.lines[:5] == [
        *SAID,
        "local-like-1   ━━━━━━━━━━━━━━━━━━━━  120/120  2 red  17 s  finished",
        "server-like-1  ━━━━━╺━━━━━━━━━━━━━━  31/120   0 red  17 s  tests/test_orders.py::test_all_of_them_a…",
        "1 of 4 cells done, 2 red",
    ]
    assert COLOUR.search(shown.written)


def test_without_room_there_are_no_bars() -> None:
    shown = four_cells(columns=64)
    assert shown.lines[2] == "local-like-1   120/120  2 red  17 s  finished"
    assert max(map(len, shown.lines)) <= 64


def test_forty_columns_hold_name_counts_and_time() -> None:
    shown = four_cells(columns=40)
    assert shown.lines[4].startswith("local-like-1  120/120 2 red 17 s fin")
    assert shown.lines[5].startswith("server-like-1 31/120  0 red 17 s ")
    assert max(map(len, shown.lines)) <= 40


def test_no_color_is_heeded() -> None:
    assert not COLOUR.search(four_cells(columns=100, variables={"NO_COLOR": "1"}).written)


def test_a_terminal_without_unicode_gets_ascii() -> None:
    shown = four_cells(columns=100, variables={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert shown.written.isascii()
    assert shown.lines[2] == "local-like-1   --------------------  120/120  2 red  17 s  finished"


IN_LINES = [
    "local-like-1: started",
    "local-like-1: collected 120",
    "server-like-1: started",
    "server-like-1: collected 120",
    "local-like-1: 50 %, 60 of 120, 1 red",
    "server-like-1: 25 %, 31 of 120, 0 red",
    "local-like-1: finished, 120 of 120, 2 red, 17.0 s",
]


def test_verbose_is_lines_on_a_terminal_too() -> None:
    shown = four_cells("-v", columns=100)
    assert shown.lines[2:9] == IN_LINES


@pytest.mark.parametrize("name", ["dumb", "unknown"])
def test_a_terminal_that_cannot_move_its_cursor_gets_lines_as_they_happen(name: str) -> None:
    shown = four_cells(columns=100, variables={"TERM": name, "NO_COLOR": "1"})
    assert "\x1b" not in shown.written
    assert shown.lines[:9] == [*SAID, *IN_LINES]


def test_the_screen_of_these_tests_obeys_what_progress_needs() -> None:
    assert screen("one\r\ntwo\r\n\x1b[1A\r\x1b[2Kthree\r\n", 10) == ["one", "three", ""]
    assert screen("12345", 3) == ["123", "45"]
