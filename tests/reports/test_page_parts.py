"""The parts of the page: what is marked, when what ran, and what stands beside what."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paritygate.outcomes.artifact import Artifact, Cause
from paritygate.outcomes.words import Axis, CauseKind, CellStatus, Label
from paritygate.reports.html import page
from paritygate.reports.html.cards import MOST_CARDS
from paritygate.reports.html.grid import in_a_script
from paritygate.reports.html.marking import Part, marked
from paritygate.reports.html.surroundings import surroundings
from paritygate.reports.html.timeline import spoken, timeline
from paritygate.reports.text import in_a_block
from paritygate.reports.varied import names, with_values
from tests.support.builders import a_cell, a_finding, a_record, a_run, an_artifact
from tests.support.rich_artifact import LOCAL, SERVER


def differing(message: tuple[Part, ...]) -> list[str]:
    return [part.text for part in message if part.differs]


def test_two_failures_have_marked_what_the_other_has_not() -> None:
    one, other = marked(["assert 3 == 4", "assert 5 == 4"])
    assert (differing(one), differing(other)) == (["3"], ["5"])


@pytest.mark.parametrize(
    ("message", "marks"),
    [
        ("AssertionError: assert date(2026, 11, 29) == date(2026, 11, 30)", ["29", "30"]),
        ("assert 'USD' == 'EUR'\n  - EUR", ["USD", "EUR"]),
        ("assert 0.0098 >= 0.01", ["0.0098", "0.01"]),
        ("FileNotFoundError: no such file", []),
        ("", []),
    ],
)
def test_one_failure_has_marked_the_two_sides_of_its_comparison(message: str, marks: list[str]) -> None:
    assert differing(marked([message, ""])[0]) == marks


@given(st.lists(st.text(max_size=40), max_size=4))
def test_marking_changes_no_text(messages: list[str]) -> None:
    assert ["".join(part.text for part in message) for message in marked(messages)] == messages


def test_huge_messages_are_not_compared() -> None:
    assert marked(["a " * 5000, "b " * 5000]) == ((Part("a " * 5000, differs=False),), (Part("b " * 5000, differs=False),))


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5))
def test_data_in_a_script_reads_as_it_was_and_cannot_end_it(value: object) -> None:
    text = in_a_script(value)
    assert text.isascii()
    assert not set("<>&") & set(text)
    assert json.loads(text) == value


def test_differing_values_come_first_and_are_those_that_differ(rich: Artifact) -> None:
    around = surroundings(rich)
    assert around.names == (LOCAL, SERVER)
    rows = {row.name: row for row in around.measured}
    assert rows["time zone"].values == ("America/Los_Angeles", "UTC")
    assert rows["offset in January"].values == ("UTC-08:00", "UTC+00:00")
    assert rows["hash seed"].values == ("101 and 202", "101 and 202")
    flags = [row.differs for row in around.measured]
    assert flags == sorted(flags, reverse=True)
    assert [row.name for row in around.measured if row.differs] == [
        "time zone",
        "offset in January",
        "offset in July",
        "local date",
        "locale",
        "collation",
        "case counts (workspace, temporary folder, home)",
        "tree",
        "filesystem /parity/workspace",
    ]


def test_cells_without_a_probe_differ_in_nothing() -> None:
    around = surroundings(an_artifact(environments=()))
    assert around.names == ("a", "b")
    assert not any(row.differs for row in (*around.measured, *around.packages))


def test_engines_are_laid_side_by_side_where_a_run_had_several(rich: Artifact) -> None:
    assert "engine" not in {row.name for row in surroundings(rich).measured}
    on = {(LOCAL, 1): "a", (LOCAL, 2): "b", (SERVER, 1): "b", (SERVER, 2): "b"}
    cells = tuple(msgspec.structs.replace(cell, engine=on.get((cell.env, cell.attempt), "c")) for cell in rich.cells)
    row = next(row for row in surroundings(msgspec.structs.replace(rich, cells=cells)).measured if row.name == "engine")
    assert (row.values, row.differs) == (("a and b", "b"), True)


def test_the_timeline_has_every_cell_and_worker_and_says_what_overlapped(rich: Artifact) -> None:
    drawn = timeline(rich.cells)
    assert drawn is not None
    assert len(drawn.lanes) == len(rich.cells)
    assert drawn.most == 8
    lane = next(each for each in drawn.lanes if each.name == "server-like-1")
    assert (lane.workers, lane.height, lane.begin, lane.red) == (2, 24.0, 3.0, 6)
    assert {bar.kind for bar in lane.bars} == {"green", "red", "quiet"}
    assert all(drawn.names <= bar.x <= drawn.width for each in drawn.lanes for bar in each.bars)


def test_a_cell_that_began_within_the_second_in_which_another_ended_did_not_overlap_it() -> None:
    first = a_cell("a", 1, started="2026-11-30T04:09:00+00:00", seconds=27.7)
    second = a_cell("b", 1, started="2026-11-30T04:09:27+00:00", seconds=5.0)
    drawn = timeline([first, second])
    assert drawn is not None
    assert drawn.most == 1


@pytest.mark.parametrize("started", ["", "yesterday", "2026-13-45", "\ud800"])
def test_cells_that_do_not_say_when_they_began_are_not_drawn(started: str) -> None:
    assert timeline([a_cell(started=started)]) is None


def test_twenty_thousand_tests_are_a_few_hundred_rectangles(large: Artifact) -> None:
    drawn = timeline(large.cells)
    assert drawn is not None
    assert sum(len(lane.bars) for lane in drawn.lanes) < 2500


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (0.25, "0.2 s"), (59, "59 s"), (60, "1 min"), (75, "1 min 15 s"), (3600, "60 min")]
)
def test_times_are_said_as_people_say_them(seconds: float, words: str) -> None:
    assert spoken(seconds) == words


def test_a_page_has_so_many_findings_and_lists_the_rest() -> None:
    count = MOST_CARDS + 30
    findings = tuple(a_finding(f"t.py::test_{number}", "consistent-red", {"a": "failed"}) for number in range(count))
    runs = [a_run(finding.nodeid, "failed") for finding in findings]
    shown = page.render(an_artifact(tests=findings, labels={Label.CONSISTENT_RED: count}, cells=(a_cell("a", 1, runs=runs),)))
    assert shown.count('<details class="card') == MOST_CARDS
    assert "; 30 more are in the table below and in the artifact" in shown


def test_a_run_without_anything_has_a_page_all_the_same() -> None:
    dead = a_cell("a", 1, status=CellStatus.CRASHED, detail="`it` died", stderr_tail="no\x1b[0m memory\n", passed=False)
    artifact = an_artifact(tests=(), cells=(dead,), labels={}, environments=())
    artifact = msgspec.structs.replace(artifact, verdict=msgspec.structs.replace(artifact.verdict, reasons=("nothing ran",)))
    shown = page.render(artifact)
    assert "Cells that did not finish" in shown
    assert "<code>it</code> died" in shown
    assert "no memory" in shown
    assert "paritygate repro" not in shown


def test_a_block_keeps_its_ends_and_says_what_is_missing() -> None:
    shown = in_a_block("a" * 50 + "b" * 50, 30)
    assert shown == f"{'a' * 10}\n[... 70 characters are in the report ...]\n{'b' * 20}"
    assert in_a_block("a\tb\x1b[1mc\x00\n", 100) == "a    bc\\x00\n"


def test_a_line_at_the_top_counts_the_most_frequent_causes_and_sums_up_the_others() -> None:
    kinds = [*[Axis.TIMEZONE] * 3, *[Axis.LOCALE] * 2, Axis.UMASK, Axis.USER, Axis.CPUS, Axis.WORKERS, Axis.MEMORY]
    found = [
        a_finding(f"t.py::{number}", "coupling", cause=Cause(kind=CauseKind.AXIS, axes=(axis,)))
        for number, axis in enumerate(kinds)
    ]
    several = [*found, a_finding("t.py::other", "coupling"), a_finding("t.py::green")]
    told = page.render(an_artifact(tests=tuple(several), labels={Label.COUPLING: 11, Label.CONSISTENT_GREEN: 1}))
    assert "causes: 3 timezone, 2 locale, 1 cpus, 1 memory, 1 umask, 2 of other causes, 1 not known<" in told
    bare = page.render(an_artifact(tests=(a_finding("t.py::other", "coupling"),), labels={Label.COUPLING: 1}))
    assert "by-cause" not in bare.partition("</style>")[2]


@pytest.mark.parametrize(("count", "said"), [(2, "z0 | none"), (4, "z0 | none | z2 | z3"), (6, "z0 | none | z2 | z3 and 2 more")])
def test_the_values_of_an_axis_stand_in_the_order_of_the_environments(count: int, said: str) -> None:
    values = ["z0", "", "z2", "z3", "z4", "z5"][:count]
    records = tuple(a_record(f"e{number}", {"timezone": value} if value else {}) for number, value in enumerate(values))
    artifact = an_artifact(environments=records)
    assert list(with_values(artifact, (Axis.TIMEZONE,))) == [(Axis.TIMEZONE, said)]
    assert names(artifact) == (" | ".join(f"e{number}" for number in range(count)) if count <= 4 else "")
