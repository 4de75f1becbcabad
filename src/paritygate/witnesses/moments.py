"""The moments to which a clock is worth moving, each with the reason why it is there: witness values of the axis `clock`.

They are written out, so that a report of today can be run again in a year, and lie at noon where the hour is not what matters:
no run comes to another date by itself then. All are local times of the cell's zone. Only the days on which clocks change are
names, since each zone has its own.
"""

from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime, timedelta

SHORT_DAY = "short-day"
LONG_DAY = "long-day"
CHANGES = frozenset({SHORT_DAY, LONG_DAY})
_FIRST = datetime(2027, 1, 1)  # noqa: DTZ001 - a local time, of whatever zone it is looked at in
_DAY = timedelta(days=1)
_DAYS = 365

MOMENTS: tuple[tuple[str, str], ...] = (
    ("true", "the time as it is: what only a moved clock does, such as with files that have true times, shows beside it"),
    ("2027-06-15T12:00:00", "a Tuesday at noon: nothing about it is remarkable"),
    ("2027-06-16T00:00:10", "just after midnight: a minute ago was yesterday"),
    ("2027-06-15T23:45:00", "shortly before midnight: in an hour it is tomorrow"),
    ("2027-01-31T12:00:00", "the 31st: the next month has no such day"),
    ("2027-04-30T12:00:00", "the end of a short month: tomorrow is in another one"),
    ("2028-02-29T12:00:00", "29 February: neither the year before nor the year after has such a day"),
    ("2027-03-01T12:00:00", "1 March before a leap year: a year less a day from now is 29 February"),
    ("2027-12-31T12:00:00", "31 December: tomorrow is in another year"),
    ("2027-01-01T12:00:00", "1 January in the 53rd week of the year before"),
    (SHORT_DAY, "the day on which the zone's clocks are put forward: it is shorter than others, mostly 23 hours"),
    (LONG_DAY, "the day on which the zone's clocks are put back: it is longer than others, mostly 25 hours"),
    ("2027-06-13T12:00:00", "a Sunday: the first or the last day of a week, and no working day"),
    ("2027-06-14T12:00:00", "a Monday: yesterday was no working day"),
    ("2027-09-09T09:05:00", "numbers of one digit: day, month, hour and minute"),
    ("2028-11-15T12:00:00", "two years on: certificates, tokens and written dates have run out"),
    ("2046-06-15T12:00:00", "twenty years on: after 2038, seconds need more than 32 bits"),
)


def day_of_change(zone: str, value: str) -> str:
    """Say noon of the first `short-day` or `long-day` from 2027 on in a zone; empty where none is known."""
    try:
        there = zoneinfo.ZoneInfo(zone)
    except zoneinfo.ZoneInfoNotFoundError:
        return ""
    begins = [(_FIRST + number * _DAY).replace(tzinfo=there).astimezone(UTC) for number in range(_DAYS + 1)]
    for number in range(_DAYS):
        length = begins[number + 1] - begins[number]
        if length < _DAY if value == SHORT_DAY else length > _DAY:
            return (_FIRST + number * _DAY).replace(hour=12).isoformat()
    return ""
