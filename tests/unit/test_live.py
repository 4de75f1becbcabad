"""Progress while cells run: lines without a terminal, a table on one, nothing when quiet."""

from __future__ import annotations

import io

import msgspec
import pytest
from rich.console import Console

from paritygate.outcomes.cells import EnvironmentName, NodeId, TestId
from paritygate.outcomes.plans import CellPlan, Progress
from paritygate.reports.live import Live
from paritygate.reports.rows import Row, shown
from tests.support.plans import a_plan, an_environment

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


def screen_of(live: Live, console: Console) -> list[str]:
    with console.capture() as capture:
        console.print(live.screen())
    return [line.rstrip() for line in capture.get().splitlines()]


def test_a_step_of_which_nothing_is_seen_is_shown_with_its_time_on_a_terminal() -> None:
    console, _ = a_console()
    clock = Clock()
    live = Live(console, quiet=True, clock=clock)
    live.step("installing dependencies from `pyproject.toml`")
    clock.now += 1
    assert screen_of(live, console) == []
    clock.now += 8
    assert screen_of(live, console) == ["9 s: installing dependencies from `pyproject.toml`"]


def test_a_step_that_would_be_silent_for_a_minute_is_said_again() -> None:
    console, stream = a_console()
    clock = Clock()
    with Live(console, clock=clock) as live:
        live.step("installing dependencies")
        clock.now += 59
        live.tick()
        clock.now += 1
        live.tick()
        live.tick()
    assert stream.getvalue().splitlines() == ["installing dependencies", "still 60 s at: installing dependencies"]


def test_a_cell_without_events_is_said_to_go_on() -> None:
    console, stream = a_console()
    clock = Clock()
    with Live(console, clock=clock) as live:
        live.watch(running(1, running=(SLOW,)))
        clock.now += 60
        live.tick()
    assert stream.getvalue().splitlines()[-1].endswith("in tests/test_slow.py::test_all[bold] (60 s)")


def test_what_is_left_is_told_by_the_last_time_and_else_by_the_tests_so_far() -> None:
    console, _ = a_console()
    clock = Clock()
    live = Live(console, quiet=True, clock=clock)
    live.expect({"local-like-1": 30.0, "server-like-1": 12.0})
    live.watch(running(10))
    live.watch(running(0, collected=0, cell="other-1", step="collecting"))
    clock.now += 4
    live.watch(running(0, cell="other-1"))
    clock.now += 6
    first, second, below = screen_of(live, console)
    assert first.endswith("running, about 20 s left")
    assert second.endswith("running")
    assert below == "0 of 2 cells done, 0 red"
    live.watch(running(20, cell="other-1"))
    first, second, below = screen_of(live, console)
    assert second.endswith("running, about 6 s left")
    assert below == "0 of 2 cells done, 0 red, about 20 s left for these cells"


def test_cells_for_which_there_is_no_room_are_summed_up() -> None:
    console, _ = a_console()
    live = Live(console, quiet=True, clock=Clock())
    for number in range(60):
        live.watch(running(40, red=number % 2, cell=f"hybrid-{number}", step="finished"))
    live.watch(running(3, cell="hybrid-60"))
    *drawn, before, below = screen_of(live, console)
    assert len(drawn) == console.height - 6
    assert drawn[-1].startswith("hybrid-60")
    assert before == f"and {61 - len(drawn)} cells before, {(61 - len(drawn)) // 2} of them with red tests"
    assert below == "60 of 61 cells done, 30 red"


def plans(*names: str) -> list[CellPlan]:
    parts = [name.rpartition("-") for name in names]
    return [a_plan(an_environment(name=EnvironmentName(env)), attempt=int(attempt)) for env, _, attempt in parts]


FOUR = ("local-like-1", "server-like-1", "local-like-2", "server-like-2")


def test_a_step_is_over_when_cells_are_announced_and_never_named_again() -> None:
    console, _ = a_console()
    clock = Clock()
    live = Live(console, quiet=True, clock=clock)
    live.step("putting the clean tree into the image of `server-like`")
    clock.now += 9
    assert screen_of(live, console) == ["9 s: putting the clean tree into the image of `server-like`"]
    live.announce(plans(*FOUR))
    assert screen_of(live, console) == ["0 of 4 cells done, 0 red, starting local-like-1"]
    for name in FOUR:
        live.watch(running(40, 1, cell=name))
        live.watch(running(40, 1, cell=name, step="finished"))
        clock.now += 58
    assert screen_of(live, console)[-1] == "4 of 4 cells done, 4 red"


def test_a_step_is_over_when_it_ends_and_a_remark_is_none() -> None:
    console, stream = a_console()
    clock = Clock()
    with Live(console, clock=clock) as live:
        live.step("making the image of `a`")
        live.step("")
        live.say("warning: the disk is nearly full")
        clock.now += 60
        live.tick()
    assert stream.getvalue().splitlines() == ["making the image of `a`", "warning: the disk is nearly full"]
    assert screen_of(live, console) == []


def test_between_two_cells_the_next_one_is_said_to_start() -> None:
    console, stream = a_console()
    clock = Clock()
    with Live(console, clock=clock) as live:
        live.announce(plans(*FOUR))
        for name in FOUR[:3]:
            live.watch(running(40, cell=name))
            live.watch(running(40, cell=name, step="finished"))
        assert screen_of(live, console)[-1] == "3 of 4 cells done, 0 red, starting server-like-2"
        live.say("warning: the disk is nearly full")
        clock.now += 60
        assert screen_of(live, console)[-1] == "3 of 4 cells done, 0 red, starting server-like-2 (60 s)"
        live.tick()
        live.watch(running(0, collected=0, cell=FOUR[3], step="collecting"))
        assert screen_of(live, console)[-1] == "3 of 4 cells done, 0 red"
    assert "still 60 s at: starting server-like-2" in stream.getvalue().splitlines()


def test_cells_that_start_while_no_other_runs_are_all_named() -> None:
    console, _ = a_console()
    clock = Clock()
    live = Live(console, quiet=True, clock=clock)
    live.announce(plans(*FOUR))
    live.watch(running(40, cell="local-like-1", step="finished"))
    live.watch(running(0, collected=0, cell="local-like-2", step="starting"))
    clock.now += 4
    live.watch(running(0, collected=0, cell="server-like-1", step="starting"))
    assert screen_of(live, console)[-1] == "1 of 4 cells done, 0 red, starting local-like-2 and server-like-1 (4 s)"
    live.watch(running(0, collected=0, cell="server-like-1", step="collecting"))
    assert screen_of(live, console)[-1] == "1 of 4 cells done, 0 red"


@pytest.mark.parametrize("why", ["confirming", "looking for causes"])
def test_further_cells_are_counted_against_what_was_announced_and_nobody_says_how_long_they_take(why: str) -> None:
    console, _ = a_console()
    clock = Clock()
    live = Live(console, quiet=True, clock=clock)
    live.expect({"local-like-1": 30.0})
    live.announce(plans("local-like-1"))
    live.watch(running(40, 2, step="finished"))
    live.announce(plans("local-like-3", "server-like-3"), why)
    live.watch(running(20, cell="local-like-3"))
    clock.now += 10
    first, second, below = screen_of(live, console)
    assert "local-like-1" in first
    assert "local-like-3" in second
    assert below == f"{why}: 0 of 2 cells done, 0 red"
    live.watch(running(40, 1, cell="local-like-3", step="finished"))
    assert screen_of(live, console)[-1] == f"{why}: 1 of 2 cells done, 1 red, starting server-like-3"
    with live:
        pass
    assert screen_of(live, console)[-1] == "2 of 3 cells done, 3 red"


def test_cells_that_run_again_are_counted_anew() -> None:
    console, _ = a_console()
    live = Live(console, quiet=True, clock=Clock())
    for _ in range(2):
        live.announce(plans("local-like-1", "local-like-2"))
        live.watch(running(40, cell="local-like-1", step="finished"))
        assert screen_of(live, console)[-1] == "1 of 2 cells done, 0 red, starting local-like-2"
        live.watch(running(40, cell="local-like-2", step="finished"))
        assert screen_of(live, console)[-1] == "2 of 2 cells done, 0 red"


def test_no_time_is_said_where_it_is_none_or_unknown_of_a_cell_to_come() -> None:
    console, _ = a_console()
    clock = Clock()
    live = Live(console, quiet=True, clock=clock)
    live.announce(plans("local-like-1", "server-like-1"))
    live.watch(running(0))
    clock.now += 10
    live.watch(running(20))
    assert screen_of(live, console)[-1] == "0 of 2 cells done, 0 red"
    live.expect({"server-like-1": 30.0})
    assert screen_of(live, console)[-1] == "0 of 2 cells done, 0 red, about 40 s left for these cells"
    live.watch(running(40, step="finished"))
    live.announce(plans("other-1"))
    live.watch(running(0, cell="other-1"))
    clock.now += 10
    live.watch(running(40, cell="other-1"))
    assert screen_of(live, console)[-1] == "0 of 1 cell done, 0 red"


@pytest.mark.parametrize(
    ("red", "said"),
    [
        ([1], "and 1 cell before, with red tests"),
        ([0], "and 1 cell before, without red tests"),
        ([0, 0], "and 2 cells before, none of them with red tests"),
        ([1, 0, 3], "and 3 cells before, 2 of them with red tests"),
    ],
)
def test_how_many_cells_are_hidden_is_said_in_words_that_fit_their_number(red: list[int], said: str) -> None:
    every = [Row(running(40, each, cell=f"a-{number}"), 0.0) for number, each in enumerate(red)]
    for row in every:
        row.move(msgspec.structs.replace(row.progress, step="finished"), 1.0)
    assert shown([*every, Row(running(cell="b-1"), 1.0)], 1)[1] == said
