"""Progress while cells run: lines without a terminal, a table on one, nothing when quiet."""

from __future__ import annotations

import io

import msgspec
from rich.console import Console

from paritygate.outcomes.cells import NodeId, TestId
from paritygate.outcomes.plans import Progress
from paritygate.reports.live import Live

SLOW = TestId(NodeId("tests/test_slow.py::test_all[bold]"))


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def a_console(*, terminal: bool = False) -> tuple[Console, io.StringIO]:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=100, color_system=None, legacy_windows=False, _environ={})
    return console, stream


def running(done: int = 0, red: int = 0, *, collected: int = 40, cell: str = "local-like-1", **changes: object) -> Progress:
    return msgspec.structs.replace(Progress(cell=cell, step="running", collected=collected, done=done, red=red), **changes)


def test_without_a_terminal_a_cell_says_a_few_lines() -> None:
    console, stream = a_console()
    clock = Clock()
    with Live(console, clock=clock) as live:
        live.watch(running(collected=0, step="starting"))
        for done in range(40):
            live.watch(running(done, red=done // 20))
            clock.now += 0.25
        live.watch(running(40, 2))
        live.watch(running(40, 2, step="finished"))
        live.watch(running(40, 2, step="finished"))
    assert stream.getvalue().splitlines() == [
        "local-like-1: started",
        "local-like-1: collected 40",
        "local-like-1: 50 %, 20 of 40, 1 red",
        "local-like-1: finished, 40 of 40, 2 red, 10.0 s",
    ]


def test_cells_side_by_side_are_told_apart_and_steps_may_be_left_out() -> None:
    console, stream = a_console()
    with Live(console, clock=Clock()) as live:
        live.watch(running(0, cell="a-1", collected=4))
        live.watch(running(0, cell="b-1", collected=0))
        live.watch(running(3, cell="a-1", collected=4))
        live.watch(running(0, cell="b-1", collected=0, step="unusable"))
    assert stream.getvalue().splitlines() == [
        "a-1: started",
        "a-1: collected 4",
        "b-1: started",
        "b-1: unusable, 0 of 0, 0 red, 0.0 s",
    ]


def test_a_cell_that_would_be_silent_for_a_minute_says_where_it_is() -> None:
    console, stream = a_console()
    clock = Clock()
    with Live(console, clock=clock) as live:
        live.watch(running(1, running=(SLOW,)))
        clock.now += 59
        live.watch(running(1, running=(SLOW,)))
        clock.now += 1
        live.watch(running(1, running=(SLOW,)))
    assert (
        stream.getvalue().splitlines()[-1]
        == "local-like-1: running, 1 of 40, 0 red, in tests/test_slow.py::test_all[bold] (60 s)"
    )
    assert len(stream.getvalue().splitlines()) == 3


def test_quiet_shows_nothing() -> None:
    console, stream = a_console(terminal=True)
    with Live(console, quiet=True) as live:
        live.say("building an image")
        live.watch(running())
        live.watch(running(40, step="finished"))
    assert stream.getvalue() == ""


def test_other_lines_are_shown_as_they_are() -> None:
    console, stream = a_console()
    with Live(console) as live:
        live.say("image [red]sha256:1[/red] " + "x" * 200)
    assert stream.getvalue() == "image [red]sha256:1[/red] " + "x" * 200 + "\n"


def test_on_a_terminal_the_table_shows_counts_the_slow_test_and_the_time() -> None:
    console, stream = a_console(terminal=True)
    clock = Clock()
    with Live(console, clock=clock) as live:
        live.watch(running(10, 2, running=(SLOW,)))
        live.watch(running(3, cell="server-like-1", step="collecting", collected=5))
        clock.now += 7
    frame = stream.getvalue().splitlines()
    local = next(line for line in reversed(frame) if "local-like-1" in line)
    server = next(line for line in reversed(frame) if "server-like-1" in line)
    assert all(part in local for part in ("10/40", "2 red", "7 s", "tests/test_slow.py::test_all[bold] (7 s)"))
    assert all(part in server for part in ("3/5", "0 red", "collecting"))


def test_a_test_that_has_just_begun_is_not_named() -> None:
    console, _ = a_console()
    clock = Clock()
    live = Live(console, quiet=True, clock=clock)
    live.watch(running(1, running=(SLOW,)))
    clock.now += 2.9
    with console.capture() as capture:
        console.print(live.table())
    assert "test_slow" not in capture.get()
    clock.now += 0.1
    with console.capture() as capture:
        console.print(live.table())
    assert "tests/test_slow.py::test_all[bold] (3 s)" in capture.get()


def test_the_time_of_a_cell_stops_with_it() -> None:
    console, _ = a_console()
    clock = Clock()
    live = Live(console, quiet=True, clock=clock)
    live.watch(running(1))
    clock.now += 5
    live.watch(running(40, step="timed_out"))
    clock.now += 500
    with console.capture() as capture:
        console.print(live.table())
    assert "5 s" in capture.get()
    assert "timed_out" in capture.get()


def test_a_long_name_takes_no_room_from_the_counts() -> None:
    console, _ = a_console()
    clock = Clock()
    live = Live(console, quiet=True, clock=clock)
    live.watch(running(1, running=(TestId(NodeId(f"tests/test_slow.py::test_{'x' * 200}")),)))
    clock.now += 5
    with console.capture() as capture:
        console.print(live.table())
    (line,) = capture.get().splitlines()
    assert all(part in line for part in ("local-like-1", "1/40", "0 red", "5 s", "tests/test_slow.py::test_xxx"))
    assert len(line) == 100


def test_a_test_that_claims_to_end_twice_is_counted_once() -> None:
    console, stream = a_console()
    with Live(console, clock=Clock()) as live:
        live.watch(running(70, collected=69))
        live.watch(running(70, collected=69, step="finished"))
        with console.capture() as capture:
            console.print(live.table())
    assert stream.getvalue().splitlines()[-1] == "local-like-1: finished, 69 of 69, 0 red, 0.0 s"
    assert "69/69" in capture.get()


def test_a_cell_that_was_stopped_ends_with_that_word() -> None:
    console, stream = a_console()
    clock = Clock()
    with Live(console, clock=clock) as live:
        live.watch(running(3, running=(SLOW,)))
        clock.now += 5
        live.watch(running(3, running=(SLOW,), step="stopped"))
        clock.now += 500
        with console.capture() as capture:
            console.print(live.table())
    assert stream.getvalue().splitlines()[-1] == "local-like-1: stopped, 3 of 40, 0 red, 5.0 s"
    assert all(part in capture.get() for part in ("stopped", "5 s"))


def test_a_cell_that_is_run_again_has_its_own_time_and_says_so() -> None:
    console, stream = a_console()
    clock = Clock()
    with Live(console, clock=clock) as live:
        live.watch(running(40, step="crashed"))
        clock.now += 100
        live.watch(running(0, collected=0, step="collecting"))
        clock.now += 7
        live.watch(running(40, step="finished"))
    assert stream.getvalue().splitlines()[-3:] == [
        "local-like-1: started",
        "local-like-1: collected 40",
        "local-like-1: finished, 40 of 40, 0 red, 7.0 s",
    ]
