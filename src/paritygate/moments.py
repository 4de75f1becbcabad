"""The moments to which a clock is worth moving, each with the reason why it is there: witness values of the axis `clock`.

They are written out, so that a report of today can be run again in a year, and lie at noon where the hour is not what matters:
no run comes to another date by itself then. All are local times of the cell's zone.
"""

from __future__ import annotations

MOMENTS: tuple[tuple[str, str], ...] = (
    ("true", "the time as it is: what only a moved clock does, such as with files that have true times, shows beside it"),
    ("2027-06-15T12:00:00", "a Tuesday at noon: nothing about it is remarkable"),
    ("2027-06-16T00:00:10", "just after midnight: a minute ago was yesterday"),
    ("2027-06-15T23:45:00", "shortly before midnight: in an hour it is tomorrow"),
    ("2027-01-31T12:00:00", "the 31st: the next month has no such day"),
    ("2027-04-30T12:00:00", "the end of a short month: tomorrow is in another one"),
    ("2028-02-29T12:00:00", "29 February: neither the year before nor the year after has such a day"),
    ("2027-12-31T12:00:00", "31 December: tomorrow is in another year"),
    ("2027-01-01T12:00:00", "1 January in the 53rd week of the year before"),
    ("2027-03-14T12:00:00", "the day of 23 hours where clocks are put forward as in North America"),
    ("2027-11-07T12:00:00", "the day of 25 hours where clocks are put back as in North America"),
    ("2027-03-28T12:00:00", "the day of 23 hours where clocks are put forward as in Europe"),
    ("2027-10-31T12:00:00", "the day of 25 hours where clocks are put back as in Europe"),
    ("2027-06-13T12:00:00", "a Sunday: the first or the last day of a week, and no working day"),
    ("2027-06-14T12:00:00", "a Monday: yesterday was no working day"),
    ("2027-09-09T09:05:00", "numbers of one digit: day, month, hour and minute"),
    ("2028-11-30T12:00:00", "two years on: certificates, tokens and written dates have run out"),
    ("2046-06-15T12:00:00", "twenty years on: after 2038, seconds need more than 32 bits"),
)
