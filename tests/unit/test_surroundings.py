"""Time zones that vary while the dates in them do not: the report has to say so."""

from __future__ import annotations

import pytest

from paritygate.classifier.surroundings import idle_workers, varied
from paritygate.outcomes.cells import Cell, Dates, NodeId, TestId
from paritygate.outcomes.words import CellStatus, Purpose
from tests.support.builders import a_cell, a_far_probe, a_probe, a_record

ZONES = [a_record("a", {"timezone": "Asia/Shanghai"}), a_record("b", {"timezone": "UTC"})]
AHEAD, SAME, NEXT = Dates("2024-05-02", "2024-05-01"), Dates("2024-05-01", "2024-05-01"), Dates("2024-05-02", "2024-05-02")
BEHIND = Dates("2024-04-30", "2024-05-01")


def cells(*dates: Dates, last: Dates = SAME) -> list[Cell]:
    return [a_cell("a", dates=dates, probe=a_far_probe()), a_cell("b", dates=(SAME, last), probe=a_probe(collation=("a", "B")))]


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (cells(AHEAD, AHEAD), ""),
        (cells(BEHIND, BEHIND), ""),
        (cells(AHEAD, NEXT, last=NEXT), "dates equal for a part of the run"),
        (cells(BEHIND, SAME), "dates equal for a part of the run"),
        (cells(SAME, SAME), "dates equal"),
        (cells(NEXT, last=NEXT), "dates equal"),
        (cells(), ""),
        ([], ""),
    ],
)
def test_time_zones_whose_dates_are_equal_vary_with_a_remark(seen: list[Cell], why: str) -> None:
    (row,) = varied(ZONES, seen, {})
    assert (row.varied, row.why) == (True, why)


def test_dates_in_confirming_cells_say_nothing_of_the_gate() -> None:
    further = [a_cell(env, 3, dates=(SAME,), purpose=Purpose.CONFIRM) for env in "ab"]
    assert varied(ZONES, [*cells(AHEAD, AHEAD), *further], {})[0].why == ""


def test_another_axis_gets_no_remark_about_dates() -> None:
    records = [a_record("a", {"locale": "C.UTF-8"}), a_record("b", {"locale": "en_US.UTF-8"})]
    assert varied(records, cells(SAME), {})[0].why == ""


@pytest.mark.parametrize("axis", ["timezone", "locale", "workers", "worktree", "umask"])
def test_what_no_probe_bears_out_did_not_vary(axis: str) -> None:
    records = [a_record("a", {axis: "one"}), a_record("b", {axis: "other"})]
    measured = [a_cell("a", 1, probe=a_far_probe(umask=0)), a_cell("b", 1, probe=a_probe(locale="C"))]
    assert varied(records, measured, {})[0].varied
    for silent in (a_cell("a", 2), a_cell("b", 2)):
        (row,) = varied(records, [*measured, silent], {})
        assert (row.varied, row.measured, row.why) == (False, False, f"of `{silent.env}` as asked for, not measured")
    dead = a_cell("b", 2, status=CellStatus.CRASHED)
    assert varied(records, [*measured, dead], {})[0].varied


def test_it_is_remarked_where_one_of_several_workers_ran_everything() -> None:
    one, two = (TestId(NodeId("a.py::t")), TestId(NodeId("a.py::u")))
    results = {"a.py::t": "passed", "a.py::u": "passed"}
    alone = a_cell("a", 1, results)
    together = a_cell("b", 1, results, workers=2, order={"gw0": (one, two), "gw1": ()})
    apart = a_cell("b", 2, results, workers=2, order={"gw0": (one,), "gw1": (two,)})
    single = a_cell("b", 1, {"a.py::t": "passed"}, workers=2, order={"gw0": (one,)})
    assert idle_workers((alone, together)) == (
        "one of the 2 workers of `b` ran all tests, as those of one file stay together: nothing ran at the same time",
    )
    assert idle_workers((alone, together, apart)) == ()
    assert idle_workers((alone, single)) == ()
