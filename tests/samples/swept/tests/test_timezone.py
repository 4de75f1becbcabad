"""Each test goes wrong in the zones that one witness value, or several of a kind, are in the set for."""

import time
from datetime import date, datetime, timedelta, timezone

import pytest

NOON_IN_WINTER = 1704110400  # 1 January 2024, 12:00 UTC
NOON_IN_SUMMER = 1719835200  # 1 July 2024, 12:00 UTC


def offset(moment):
    return datetime.fromtimestamp(moment).astimezone().utcoffset()


def hours(moment):
    return offset(moment).total_seconds() / 3600


def test_control():
    assert datetime.fromtimestamp(NOON_IN_WINTER, timezone.utc) == datetime(2024, 1, 1, 12, tzinfo=timezone.utc)


def test_takes_local_time_for_utc_in_winter():
    assert datetime.fromtimestamp(NOON_IN_WINTER).hour == 12


def test_hours_fit_into_twelve():
    assert abs(hours(NOON_IN_WINTER)) <= 12 or hours(NOON_IN_WINTER) == 13.75


def test_the_date_of_noon_is_the_same_everywhere():
    assert datetime.fromtimestamp(NOON_IN_WINTER).date() == date(2024, 1, 1)


def test_midnight_at_the_end_of_the_earth():
    assert datetime.fromtimestamp(NOON_IN_WINTER).hour != 0 or offset(NOON_IN_WINTER) > timedelta(0)


def test_an_offset_is_written_with_whole_hours_and_the_rest():
    written = offset(NOON_IN_WINTER).total_seconds() / 60
    sign, rest = ("-" if written < 0 else "+"), int(written) % 60
    assert f"{sign}{abs(int(written // 60)):02}{rest:02}" == time.strftime("%z", time.localtime(NOON_IN_WINTER))


def test_offsets_are_whole_hours():
    assert hours(NOON_IN_WINTER) == int(hours(NOON_IN_WINTER))


def test_offsets_are_half_hours():
    assert 2 * hours(NOON_IN_WINTER) == int(2 * hours(NOON_IN_WINTER))


def test_summer_time_is_an_hour():
    assert abs(hours(NOON_IN_SUMMER) - hours(NOON_IN_WINTER)) in {0, 1}


def test_summer_is_in_july():
    assert hours(NOON_IN_SUMMER) >= hours(NOON_IN_WINTER)


def test_winter_is_not_daylight_saving_time():
    moment = time.localtime(NOON_IN_WINTER)
    assert not (moment.tm_isdst and hours(NOON_IN_SUMMER) > hours(NOON_IN_WINTER))


def test_moscow_was_always_where_it_is():
    assert offset(1404216000) == offset(1420111200) or hours(NOON_IN_WINTER) != 3  # July 2014, January 2015


def test_every_day_exists():
    assert datetime(2011, 12, 30, 12).astimezone().astimezone(timezone.utc).astimezone().day == 30


def test_in_ramadan_it_is_as_late_as_before():
    assert offset(1711886400) == offset(1709294400) or hours(NOON_IN_SUMMER) != 1 or hours(NOON_IN_WINTER) != 1  # March 2024


def test_winter_is_utc_and_summer_is_not():
    assert not (hours(NOON_IN_WINTER) == 0 and hours(NOON_IN_SUMMER))


def test_local_time_is_not_utc():
    assert hours(NOON_IN_WINTER) or hours(NOON_IN_SUMMER)


def test_bst_is_the_time_of_bangladesh():
    assert time.strftime("%Z", time.localtime(NOON_IN_SUMMER)) != "BST"


@pytest.mark.parametrize("before", [-11, -10, -8, -5, -3, -1, 5.5, 5.75, 8, 14])
def test_the_year_does_not_begin_hours_before_that_of_utc(before):
    assert datetime.fromtimestamp(NOON_IN_WINTER - (12 + before) * 3600) != datetime(2024, 1, 1)


@pytest.mark.parametrize("before", [2, 10])
def test_july_does_not_begin_hours_before_that_of_utc(before):
    assert datetime.fromtimestamp(NOON_IN_SUMMER - (12 + before) * 3600) != datetime(2024, 7, 1)
