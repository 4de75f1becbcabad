"""What is known of axes in cells that only somebody told of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paritygate.classifier import told
from paritygate.ingest import measuring
from paritygate.outcomes.artifact import Varied
from paritygate.outcomes.cells import Cell, EnvironmentName, Measured, Told
from paritygate.outcomes.words import Axis, Certainty, ResultFormat
from tests.support.builders import a_cell, a_probe

SERVER = EnvironmentName("server-like")
HERE = {EnvironmentName("local-like"): a_probe(utcoffset_january=28800, utcoffset_july=28800)}
UTC = Measured(utcoffset_january=0, utcoffset_july=0, locale="C.UTF-8", encoding="UTF-8")


def pasted(attempt: int, measured: Measured | None) -> Cell:
    how = Told(format=ResultFormat.JUNIT, certainty=Certainty.REPORTED, measured=measured)
    return a_cell("server-like", attempt, {"t.py::t": "passed"}, told=how)


@pytest.mark.parametrize("order", [(UTC, None), (None, UTC), (None, None)])
def test_one_attempt_that_measured_nothing_leaves_the_environment_unmeasured(order: tuple[Measured | None, ...]) -> None:
    cells = [pasted(attempt, measured) for attempt, measured in enumerate(order, 1)]
    found = told.pasted(cells, HERE)
    assert found == {SERVER: None}
    row = told.known(Varied(axis=Axis.TIMEZONE, varied=True), HERE, found)
    assert (row.varied, row.measured, row.why) == (False, False, "of `server-like` as asked for, not measured")


def test_what_a_command_cannot_measure_stays_unmeasured() -> None:
    row = told.known(Varied(axis=Axis.UMASK, varied=True), HERE, {SERVER: UTC})
    assert (row.varied, row.measured) == (False, False)


def test_what_was_equal_stays_as_it_is() -> None:
    row = Varied(axis=Axis.TIMEZONE, varied=False, why="`UTC` everywhere")
    assert told.known(row, HERE, {SERVER: None}) is row


@given(st.integers(-86400, 86400), st.integers(-86400, 86400), st.sampled_from(["C", "C.UTF-8", "de_DE@euro"]))
def test_what_is_said_is_read_again(january: int, july: int, locale: str) -> None:
    text = f"offsets={january},{july};locale={locale};encoding=ISO-8859-15"
    found = Measured(utcoffset_january=january, utcoffset_july=july, locale=locale, encoding="ISO-8859-15")
    assert measuring.in_suite(f"paritygate:a:1;{text}") == found
    assert measuring.in_lines(["$ env TZ=UTC", f"12:00 {measuring.SAID} {text} "]) == found


@given(st.text())
def test_anything_else_is_no_measurement(text: str) -> None:
    assert measuring.in_suite(text.replace("offsets", "")) is None
    assert measuring.in_lines(text.replace("offsets", "").splitlines()) is None


def test_a_zone_is_told_by_its_offsets() -> None:
    assert measuring.is_zone("UTC", UTC)
    assert not measuring.is_zone("Asia/Shanghai", UTC)
    assert not measuring.is_zone("no/such/zone", UTC)
