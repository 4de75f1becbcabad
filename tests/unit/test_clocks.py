"""What follows from cells whose programs were told another time: what is compared, what is held back, what is said."""

from __future__ import annotations

from typing import Any

import pytest

from paritygate.classifier.clocks import by_file_times
from paritygate.classifier.evidence import same_calendar
from paritygate.classifier.labels import label
from paritygate.classifier.moved import has_moved_clock, passed_midnights
from paritygate.classifier.surroundings import dates_moved
from paritygate.events.ending import Ending
from paritygate.events.fold import Heard, fold
from paritygate.events.wire import End
from paritygate.outcomes.cells import Cell, ClockFacts, Dates, EnvironmentName
from paritygate.outcomes.words import CellStatus, Label, Purpose, RunnerName
from tests.support.builders import a_cell, a_probe
from tests.support.plans import a_plan, an_environment

TODAY = Dates("2026-11-30", "2026-11-30")
THEN = Dates("2028-02-29", "2028-02-29")
LATER = Dates("2028-03-01", "2028-02-29")


def moved(env: str, attempt: int = 1, outcome: str = "passed", *dates: Dates, by: float = 4e7) -> Cell:
    probe = a_probe(clock=ClockFacts(moved=by))
    return a_cell(env, attempt, {"t": outcome}, probe=probe, dates=dates or (THEN, THEN))


def true(env: str, attempt: int = 1, outcome: str = "passed", *dates: Dates) -> Cell:
    return moved(env, attempt, outcome, *(dates or (TODAY, TODAY)), by=0.0)


def test_a_clock_is_moved_where_the_probe_says_so() -> None:
    cells = (moved("a"), true("a"), a_cell("a"), a_cell("a", probe=a_probe()))
    assert [has_moved_clock(cell) for cell in cells] == [True, False, False, False]


def test_dates_under_a_moved_clock_make_nothing_run_again() -> None:
    cells = [true("now", 1), true("now", 2), moved("then", 1), moved("then", 2, "passed", THEN, LATER)]
    assert dates_moved(cells) == ()
    assert passed_midnights(cells) == (
        "the clock of `then` passed midnight while tests ran: which of them saw it depends on their pace",
    )


def test_the_calendar_of_a_moved_clock_is_the_same_every_time_and_no_measure_for_a_true_one() -> None:
    known = [moved("a", 1, "passed", LATER)]
    assert same_calendar(known, EnvironmentName("a"), moved("a", 2))
    assert same_calendar(known, EnvironmentName("a"), true("a", 2))
    assert not same_calendar([true("a")], EnvironmentName("a"), true("a", 2, "passed", Dates("2026-12-01", "2026-11-30")))


@pytest.mark.parametrize("outcome", ["timed_out", "crashed"])
def test_what_breaks_under_a_moved_clock_alone_is_not_called_coupled(outcome: str) -> None:
    cells = [true("now", 1), true("now", 2), moved("then", 1, outcome), moved("then", 2, outcome)]
    (finding,) = label(cells)
    assert finding.label is Label.UNDECIDED
    assert finding.note == (
        "it broke under the moved clock of `then`: whether by the date, or because the clock is moved, cannot be told apart"
    )


@pytest.mark.parametrize(
    ("here", "there"), [("passed", "failed"), ("timed_out", "failed"), ("timed_out", "passed"), ("crashed", "timed_out")]
)
def test_what_fails_under_a_moved_clock_or_breaks_under_the_true_one_is(here: str, there: str) -> None:
    cells = [true("now", 1, here), true("now", 2, here), moved("then", 1, there), moved("then", 2, there)]
    assert [finding.label for finding in label(cells)] == [Label.COUPLING]


def ended(why: str, **changes: Any) -> Cell:
    plan = a_plan(an_environment(**changes))
    end = End(n="", s=0, t=0.0, why=why, returncode=None, dates=("2028-02-29", "2028-02-29"), detail="it did")
    return fold(plan, Heard((end,), (), ""), Ending(runner=RunnerName.DOCKER, exit_code=0))


def test_a_cell_that_dies_under_a_moved_clock_says_so() -> None:
    cell = ended("crashed", clock="2028-02-29T12:00:00")
    assert cell.status is CellStatus.CRASHED
    assert cell.detail.startswith("it broke under the moved clock (2028-02-29T12:00:00): it did")
    assert ended("crashed").detail.startswith("it did")


def test_a_clock_that_could_not_be_moved_is_an_environment_that_is_not_what_it_claims() -> None:
    assert ended("clock").status is CellStatus.ENVIRONMENT_MISMATCH


def test_a_coupling_that_is_none_with_files_of_the_clocks_times_stays_undecided_when_cells_are_judged_again() -> None:
    cells = [true("now", 1), true("now", 2), moved("then", 1, "failed"), moved("then", 2, "failed")]
    (coupled,) = label(cells)
    with_files = a_probe(clock=ClockFacts(moved=4e7, files=True))
    other = a_cell("then", 3, {"t": "passed"}, probe=with_files, purpose=Purpose.HYBRID)
    same = a_cell("then", 3, {"t": "failed"}, probe=with_files, purpose=Purpose.HYBRID)
    replay = a_cell("then", 4, {"t": "passed"}, probe=a_probe(clock=ClockFacts(moved=4e7)), purpose=Purpose.HYBRID)
    assert by_file_times(coupled, [*cells, same, replay]) == coupled
    undecided = by_file_times(coupled, [*cells, other])
    assert undecided.label is Label.UNDECIDED
    assert undecided.note.startswith("where files have the times of the moved clock, too, it is `passed` in `then`: ")
