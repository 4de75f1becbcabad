"""The moments to which clocks are moved are what is said of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from paritygate.axes import clock_moment
from paritygate.witnesses.moments import CHANGES, LONG_DAY, MOMENTS, SHORT_DAY, day_of_change

WHY = dict(MOMENTS)
MOVED = [moment for moment in WHY if moment != "true" and moment not in CHANGES]


def test_each_moment_is_there_once_and_with_a_reason_of_its_own() -> None:
    assert len(WHY) == len(MOMENTS) == len(set(WHY.values()))


def test_the_true_time_comes_first_so_that_all_others_have_something_to_part_from() -> None:
    assert MOMENTS[0][0] == "true"
    assert clock_moment("true") == ""


@pytest.mark.parametrize("moment", MOVED)
@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Europe/Berlin", "Asia/Shanghai", "Australia/Lord_Howe"])
def test_each_moment_is_one_that_a_clock_can_begin_at_in_every_zone(moment: str, zone: str) -> None:
    assert clock_moment(moment, zone) == moment


@pytest.mark.parametrize("moment", MOVED)
def test_no_run_of_a_few_minutes_comes_to_another_date(moment: str) -> None:
    begin = datetime.fromisoformat(moment)
    assert (begin + timedelta(minutes=14)).date() == begin.date()


@pytest.mark.parametrize(
    ("moment", "weekday"),
    [("2027-06-15T12:00:00", "Tuesday"), ("2027-06-13T12:00:00", "Sunday"), ("2027-06-14T12:00:00", "Monday")],
)
def test_days_of_the_week_are_right(moment: str, weekday: str) -> None:
    assert f"{datetime.fromisoformat(moment):%A}" == weekday
    assert f"a {weekday}" in WHY[moment]


def test_the_first_of_january_is_in_the_53rd_week_of_the_year_before() -> None:
    assert datetime.fromisoformat("2027-01-01T12:00:00").isocalendar()[:2] == (2026, 53)


@pytest.mark.parametrize(
    ("value", "zone", "hours"),
    [
        (SHORT_DAY, "America/New_York", 23),
        (LONG_DAY, "America/New_York", 25),
        (SHORT_DAY, "Europe/Berlin", 23),
        (LONG_DAY, "Europe/London", 25),
        (SHORT_DAY, "America/Santiago", 23),
        (LONG_DAY, "America/Santiago", 25),
        (LONG_DAY, "Australia/Lord_Howe", 24.5),
    ],
)
def test_days_on_which_clocks_change_have_that_many_hours(value: str, zone: str, hours: float) -> None:
    moment = day_of_change(zone, value)
    assert clock_moment(moment, zone) == moment
    begin = datetime.fromisoformat(moment).replace(hour=0, tzinfo=ZoneInfo(zone))
    length = (begin + timedelta(days=1)).astimezone(UTC) - begin.astimezone(UTC)
    assert length == timedelta(hours=hours)
    assert hours % 1 or f"{hours} hours" in WHY[value]
