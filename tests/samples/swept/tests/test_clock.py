"""Each test goes wrong at the moments that one witness value, or several of a kind, are in the set for."""

import ast
import struct
import time
from datetime import date, datetime, timedelta

DAY = timedelta(days=1)


def hours_between(then, now):
    return (now.timestamp() - then.timestamp()) / 3600


def hours_since_monday():
    monday = date.today() - date.today().weekday() * DAY
    return hours_between(datetime(monday.year, monday.month, monday.day), datetime.now())


def test_control():
    assert date.today() < date.today() + DAY


def test_a_minute_ago_was_today():
    assert (datetime.now() - timedelta(minutes=1)).date() == date.today()


def test_in_an_hour_it_is_still_today():
    assert (datetime.now() + timedelta(hours=1)).date() == date.today()


def test_the_next_month_has_such_a_day():
    today = date.today()
    assert today.replace(year=today.year + today.month // 12, month=today.month % 12 + 1)


def test_the_next_month_has_thirty_days():
    today = date.today()
    next_month = today.month % 12 + 1
    last = 30 if next_month in {4, 6, 9, 11} else 31
    assert today.replace(year=today.year + today.month // 12, month=next_month, day=min(today.day, last))


def test_months_end_on_the_31st():
    assert date.today().month == 2 or date.today().day == 31 or (date.today() + DAY).month == date.today().month


def test_the_next_year_has_such_a_day():
    assert date.today().replace(year=date.today().year + 1)


def test_a_year_ends_on_the_day_of_yesterday():
    today = date.today()
    last = date(today.year + 1, today.month, min(today.day, 28)) - DAY
    assert today.day > 28 or last.strftime("%m-%d") == (today - DAY).strftime("%m-%d")


def test_tomorrow_is_in_this_year():
    assert (date.today() + DAY).year == date.today().year


def test_weeks_are_of_the_year_of_their_days():
    assert time.strftime("%G") == time.strftime("%Y")


def test_a_day_has_at_least_24_hours():
    assert hours_between(datetime.now() - DAY, datetime.now()) >= 23.9


def test_a_day_has_at_most_24_hours():
    assert hours_between(datetime.now() - DAY, datetime.now()) <= 24.1


def test_nobody_works_on_a_sunday():
    assert date.today().isoweekday() in range(1, 7)


def test_tomorrow_is_in_this_week_or_in_another_month():
    tomorrow = date.today() + DAY
    assert tomorrow.isocalendar()[1] == date.today().isocalendar()[1] or tomorrow.month != date.today().month


def test_no_week_is_six_days_and_a_half_old():
    assert round(hours_since_monday()) != 6.5 * 24


def test_yesterday_was_the_day_before_in_the_week():
    assert (date.today() - DAY).weekday() == date.today().weekday() - 1


def test_the_last_figures_of_this_month_are_of_yesterday():
    today = date.today()
    last = today - (3 if today.weekday() == 0 else 1) * DAY
    assert last == today - DAY or last.month != today.month


def test_numbers_have_two_digits():
    assert ast.literal_eval(time.strftime("(%H, %M)"))


def test_the_certificate_has_not_run_out():
    assert date.today() < date(2028, 6, 1)


def test_the_token_of_31_bits_has_not_run_out():
    assert int(time.time()) % 2**31 < datetime(2028, 6, 1).timestamp()


def test_seconds_fit_into_32_bits():
    assert struct.pack("<i", int(time.time()))
