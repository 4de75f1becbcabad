"""What is so of the values of an axis, as their cells measured it: the words that rules are made of.

Nothing is known of a value beyond what its probe says, so a rule never rests on what a name promises.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Iterator, Mapping
from datetime import date, timedelta
from types import MappingProxyType

from paritygate.outcomes.cells import Probe
from paritygate.outcomes.words import Axis
from paritygate.sweeps.rules import Fact

HOUR = 3600
HALF = 1800
WHOLE_HOURS = "where the offset from UTC is not a whole number of hours"
HALF_HOURS = "where the offset from UTC is not a whole number of half hours"

Probes = Mapping[str, Probe]


def facts(axis: Axis, probes: Probes, workers: Mapping[str, int]) -> tuple[Fact, ...]:
    """List what is so of some values and not of others; `workers` are those that each value's cell really had."""
    named: Iterator[tuple[str, frozenset[str]]]
    if axis is Axis.WORKERS:
        named = _from("with {} or more workers", workers)
    elif axis in _AXES:
        named = _AXES[axis](probes)
    else:
        return ()
    everything = frozenset(probes)
    return tuple(Fact(words, holds) for words, holds in named if holds and holds != everything)


def _where(probes: Probes, holds: Callable[[Probe], bool]) -> frozenset[str]:
    return frozenset(value for value, probe in probes.items() if holds(probe))


def _from(words: str, numbers: Mapping[str, int]) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield every threshold of numbers."""
    for least in sorted(set(numbers.values())):
        yield words.format(least), frozenset(value for value, number in numbers.items() if number >= least)


def _of_zones(probes: Probes) -> Iterator[tuple[str, frozenset[str]]]:
    """Say what time zones have in common: where they lie now, then how their offset is made, then how far they lie."""
    yield "west of UTC", _where(probes, lambda probe: probe.utcoffset_now < 0)
    yield "east of UTC", _where(probes, lambda probe: probe.utcoffset_now > 0)
    yield "off UTC", _where(probes, lambda probe: probe.utcoffset_now != 0)
    yield "at UTC's own time", _where(probes, lambda probe: probe.utcoffset_now == 0)
    yield "where the date is ahead of UTC's", _where(probes, lambda probe: probe.local_date > probe.utc_date)
    yield "where the date is behind UTC's", _where(probes, lambda probe: probe.local_date < probe.utc_date)
    yield "where the date is not UTC's", _where(probes, lambda probe: probe.local_date != probe.utc_date)
    yield "where clocks change within the year", _where(probes, _changes)
    yield "where clocks stay all year", _where(probes, lambda probe: not _changes(probe))
    yield "where daylight saving time is in force", _where(probes, _is_summer)
    yield "where summer is in January", _where(probes, lambda probe: probe.utcoffset_january > probe.utcoffset_july)
    yield "where clocks are ahead in July", _where(probes, lambda probe: probe.utcoffset_january < probe.utcoffset_july)
    yield WHOLE_HOURS, _where(probes, lambda probe: probe.utcoffset_now % HOUR != 0)
    yield HALF_HOURS, _where(probes, lambda probe: probe.utcoffset_now % HALF != 0)
    offsets = sorted({probe.utcoffset_now for probe in probes.values()})
    for least in offsets:
        yield (
            f"at {offset(least)} and east of it",
            frozenset(value for value, probe in probes.items() if probe.utcoffset_now >= least),
        )
    for most in reversed(offsets):
        yield (
            f"at {offset(most)} and west of it",
            frozenset(value for value, probe in probes.items() if probe.utcoffset_now <= most),
        )


def _changes(probe: Probe) -> bool:
    return probe.utcoffset_january != probe.utcoffset_july


def _most(probe: Probe) -> int:
    return max(probe.utcoffset_january, probe.utcoffset_july)


def offset(seconds: int) -> str:
    """Write an offset, in seconds east of UTC, as `UTC+5:45`."""
    sign = "-" if seconds < 0 else "+"
    hours, minutes = divmod(abs(seconds) // 60, 60)
    return f"UTC{sign}{hours}{f':{minutes:02}' if minutes else ''}"


def _of_locales(probes: Probes) -> Iterator[tuple[str, frozenset[str]]]:
    yield "with a decimal comma", _where(probes, lambda probe: probe.decimal_point == ",")
    yield "with a decimal point", _where(probes, lambda probe: probe.decimal_point == ".")
    yield "where UTF-8 is not the encoding", _where(probes, lambda probe: not is_utf8(probe))
    yield "where UTF-8 is the encoding", _where(probes, is_utf8)
    yield "where words are sorted by code point", _where(probes, sorts_by_code_point)
    yield "where words are not sorted by code point", _where(probes, lambda probe: not sorts_by_code_point(probe))
    yield "with UTF-8 mode", _where(probes, lambda probe: probe.utf8_mode)
    for language in sorted({_language(probe) for probe in probes.values()}):
        yield (
            f"with the language `{language}`",
            frozenset(value for value, probe in probes.items() if _language(probe) == language),
        )


def is_utf8(probe: Probe) -> bool:
    """Say whether files are read as UTF-8 where nobody names an encoding."""
    return probe.encoding.lower().replace("_", "-") in {"utf-8", "utf8"}


def sorts_by_code_point(probe: Probe) -> bool:
    """Say whether the C library sorts as Python does by itself."""
    return list(probe.collation) == sorted(probe.collation)


def _language(probe: Probe) -> str:
    return probe.locale.partition(".")[0]


READABLE, GROUP_WRITES, OTHERS_WRITE, GROUP_READS = 0o004, 0o020, 0o002, 0o040


def _of_umasks(probes: Probes) -> Iterator[tuple[str, frozenset[str]]]:
    for words, bit in (
        ("where others may read", READABLE),
        ("where the group may read", GROUP_READS),
        ("where the group may write", GROUP_WRITES),
        ("where others may write", OTHERS_WRITE),
    ):
        yield words, frozenset(value for value, probe in probes.items() if not probe.umask & bit)
        yield words.replace("may", "may not"), frozenset(value for value, probe in probes.items() if probe.umask & bit)


DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
WORKING_DAYS = 5
IN_EVERY_MONTH = 28
LONGEST_MONTH = 31
LAST_OF_32_BITS = "2038-01-19"
"""The day on which the seconds since 1970 come to more than 31 bits and a sign hold: in every zone they have, on the next."""


def _of_moments(probes: Probes) -> Iterator[tuple[str, frozenset[str]]]:
    """Say what moments have in common: which day it is, then which hour, then how late they are."""
    days = {value: date.fromisoformat(probe.local_date) for value, probe in probes.items()}

    def on(holds: Callable[[date], bool]) -> frozenset[str]:
        return frozenset(value for value, day in days.items() if holds(day))

    for number in sorted({day.weekday() for day in days.values()}):
        yield f"on a {DAYS[number]}", frozenset(value for value, day in days.items() if day.weekday() == number)
    yield "at a weekend", on(lambda day: day.weekday() >= WORKING_DAYS)
    yield "on the first day of a month", on(lambda day: day.day == 1)
    yield "on the last day of a month", on(_is_last)
    yield "on the 31st", on(lambda day: day.day == LONGEST_MONTH)
    yield "on a day that not every month has", on(lambda day: day.day > IN_EVERY_MONTH)
    yield "in a leap year", on(lambda day: calendar.isleap(day.year))
    for month in sorted({day.month for day in days.values()}):
        yield f"in {MONTHS[month - 1]}", frozenset(value for value, day in days.items() if day.month == month)
    yield from _of_hours(probes)
    yield "after 19 January 2038", _where(probes, lambda probe: probe.local_date > LAST_OF_32_BITS)
    for first in sorted({probe.local_date for probe in probes.values()}):
        yield f"from {first} on", frozenset(value for value, probe in probes.items() if probe.local_date >= first)
    for last in sorted({probe.local_date for probe in probes.values()}, reverse=True):
        yield f"until {last}", frozenset(value for value, probe in probes.items() if probe.local_date <= last)
    yield "where the clock is moved", _where(probes, lambda probe: probe.clock is not None and probe.clock.moved != 0)


def _of_hours(probes: Probes) -> Iterator[tuple[str, frozenset[str]]]:
    yield "before one in the morning", _where(probes, lambda probe: "" < probe.local_time < "01:00")
    yield "before noon", _where(probes, lambda probe: "" < probe.local_time < "12:00")
    yield "after eleven in the evening", _where(probes, lambda probe: probe.local_time >= "23:00")
    yield "where the date is ahead of UTC's", _where(probes, lambda probe: probe.local_date > probe.utc_date)
    yield "where the date is behind UTC's", _where(probes, lambda probe: probe.local_date < probe.utc_date)
    yield "while daylight saving time is in force", _where(probes, _is_summer)
    yield "outside of daylight saving time", _where(probes, lambda probe: _changes(probe) and not _is_summer(probe))


def _is_last(day: date) -> bool:
    return (day + timedelta(days=1)).day == 1


def _is_summer(probe: Probe) -> bool:
    return _changes(probe) and probe.utcoffset_now == _most(probe)


_AXES: Mapping[Axis, Callable[[Probes], Iterator[tuple[str, frozenset[str]]]]] = MappingProxyType(
    {Axis.TIMEZONE: _of_zones, Axis.LOCALE: _of_locales, Axis.UMASK: _of_umasks, Axis.CLOCK: _of_moments}
)
