"""The axes: what a value of each may be, and what `auto` stands for.

It knows nothing of settings or cells, and never looks at a clock: the moment is handed in.
"""

from __future__ import annotations

import difflib
import math
import re
import zoneinfo
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from types import MappingProxyType
from typing import Literal

import msgspec

AUTO = "auto"
MARGIN_SECONDS = 120.0
LEAST_WORKERS = 2
NEAR = 0.66
"""How alike two names are, of 1, where one of them may be the other misspelt: of three letters two, of five four."""
LEAST_MEMORY = 6 << 20
"""What an engine accepts as the smallest limit."""

PREFERRED_ZONES = (
    "Asia/Shanghai",
    "Asia/Tokyo",
    "Australia/Sydney",
    "Pacific/Auckland",
    "America/Los_Angeles",
    "Pacific/Honolulu",
    "Pacific/Pago_Pago",
    "Etc/GMT+12",
    "Pacific/Tongatapu",
    "Pacific/Kiritimati",
)
"""Where `auto` looks, in this order: zones where many people work first. The two extremes, UTC-12 and UTC+14, are among
them, so where none of these has another date no zone has."""

TRUE = "true"
FIRST_YEAR, LAST_YEAR = 1971, 2200
"""Between which a clock can be moved: in every zone after the beginning of all clocks, and before they overflow."""

_QUARTER = timedelta(minutes=15)
_DAY = timedelta(days=1)
_LOCALE = re.compile(r"C|POSIX|C\.(utf-?8|UTF-?8)|[a-z]{2,3}_[A-Z]{2}\.[A-Za-z0-9-]+(@[a-z]+)?")
_MEMORY = re.compile(r"(\d+(?:\.\d+)?)\s*([bkmgt]?)(?:i?b)?", re.IGNORECASE)
_UNITS = MappingProxyType({"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40})
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPOKEN_FOR: Mapping[str, str] = MappingProxyType(
    {
        "TZ": "the `timezone` axis sets it",
        "LANG": "the `locale` axis sets it",
        "LANGUAGE": "the `locale` axis sets it",
        "PYTHONHASHSEED": "each attempt's seed sets it; `seeds` is the way",
        "PYTEST_XDIST_AUTO_NUM_WORKERS": "the `workers` axis sets it",
        "PATH": "the image sets it; without it no cell starts",
        "HOME": "the cell sets it",
        "PWD": "the cell sets it",
        "PYTHONHOME": "no interpreter would start",
    }
)


class Zone(msgspec.Struct, frozen=True, kw_only=True):
    """What `auto` came to.

    `sign` is 1 where its date is ahead of the other zone's, -1 where it is behind, 0 where they are the same. `differs_until` is
    the first moment, in UTC, at which the dates are the same again (at most a day after the run). `whole` says whether that
    is after the run's end; where it is not, `wait` is after how many seconds a zone could be had for the whole run, 0 if never.
    """

    name: str
    sign: Literal[-1, 0, 1]
    differs_until: datetime
    whole: bool
    wait: float = 0.0


class _Span(msgspec.Struct, frozen=True):
    name: str
    sign: Literal[-1, 0, 1]
    begin: datetime
    end: datetime


def choose_zone(now: datetime, seconds: float, other: str = "UTC") -> Zone:
    """Choose a zone whose calendar date differs from the other zone's for a run that starts now, and a margin after it.

    The first of `PREFERRED_ZONES` that does is taken; where none does, the one that differs longest.
    """
    length = timedelta(seconds=seconds + MARGIN_SECONDS)
    moments = tuple(_moments(now.astimezone(UTC), length + _DAY))
    theirs = _dates(other, moments)
    current: list[_Span] = []
    spans: list[_Span] = []
    for name in PREFERRED_ZONES:
        found = tuple(_spans(name, moments, theirs))
        spans.extend(found)
        current.extend(span for span in found if span.begin == moments[0])
        if current and current[-1].end > moments[0] + length:
            return Zone(name=name, sign=current[-1].sign, differs_until=current[-1].end, whole=True)
    best = max(current, key=lambda span: span.end, default=_Span(PREFERRED_ZONES[0], 0, moments[0], moments[0]))
    starts = [span.begin for span in spans if span.end - span.begin > length]
    wait = (min(starts) - moments[0]).total_seconds() if starts else 0.0
    return Zone(name=best.name, sign=best.sign, differs_until=best.end, whole=False, wait=wait)


def _moments(now: datetime, length: timedelta) -> Iterator[datetime]:
    """Yield now and every quarter of an hour after it: offsets are multiples of that, so a date changes at no other moment."""
    yield now
    moment = now.replace(minute=now.minute // 15 * 15, second=0, microsecond=0) + _QUARTER
    while moment <= now + length + _QUARTER:
        yield moment
        moment += _QUARTER


def _dates(name: str, moments: tuple[datetime, ...]) -> tuple[date, ...]:
    zone = zoneinfo.ZoneInfo(name)
    return tuple(moment.astimezone(zone).date() for moment in moments)


def _spans(name: str, moments: tuple[datetime, ...], theirs: tuple[date, ...]) -> Iterator[_Span]:
    """Yield the stretches of time in which a zone's dates differ from the other's."""
    signs = zip(moments, map(_sign, _dates(name, moments), theirs), strict=True)
    stretches = [(sign, next(group)[0]) for sign, group in groupby(signs, key=lambda pair: pair[1])]
    ends = [begin for _, begin in stretches[1:]] + [moments[-1]]
    for (sign, begin), end in zip(stretches, ends, strict=True):
        if sign:
            yield _Span(name, sign, begin, end)


def _sign(ours: date, theirs: date) -> Literal[-1, 0, 1]:
    return 1 if ours > theirs else -1 if ours < theirs else 0


def date_sign(zone: str, other: str, now: datetime) -> Literal[-1, 0, 1]:
    """Say whether a zone's date is ahead of the other's (1), behind it (-1) or the same (0)."""
    return _sign(now.astimezone(zoneinfo.ZoneInfo(zone)).date(), now.astimezone(zoneinfo.ZoneInfo(other)).date())


def count_workers(setting: int | Literal["auto"], limit: float, processors: int) -> int:
    """Say how many workers a cell has; `limit` is its `cpus`, 0 for none."""
    if setting != AUTO:
        return int(setting)
    usable = min(limit, processors) if limit else processors
    return max(LEAST_WORKERS, math.ceil(usable))


def share_of_memory(engine: int, cells: int) -> int:
    """Divide the engine's memory, in bytes, between the cells that run at once; 0, no limit, where the engine does not say."""
    return engine // max(1, cells)


def zone_name(text: str) -> str:
    """Check a time zone; raises ValueError with a near miss."""
    if text in {AUTO, "UTC"}:
        return text
    known = zoneinfo.available_timezones() - {"localtime", "Factory"}
    if text in known or not known:
        return text
    raise ValueError(f"`{text}` is not a zone of the tz database{near_miss(text, known)}")


def locale_name(text: str) -> str:
    """Check a locale and spell its character set as Debian does; raises ValueError."""
    if _LOCALE.fullmatch(text) is None:
        territory = re.match(r"[a-z]{2,3}_[A-Z]{2}\b", text)
        guess = (
            f"; did you mean `{territory[0]}.UTF-8`?" if territory else near_miss(text, {"C", "POSIX", "C.UTF-8", "en_US.UTF-8"})
        )
        raise ValueError(f"`{text}` is not a locale: write `C`, `POSIX`, `C.UTF-8` or a name such as `de_DE.UTF-8`{guess}")
    return re.sub(r"\.utf-?8\b", ".UTF-8", text, flags=re.IGNORECASE)


def memory_bytes(text: str) -> int:
    """Read an amount of memory, such as `512m`, `2g` or bytes; 0 for the empty text; raises ValueError."""
    if not text:
        return 0
    found = _MEMORY.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"`{text}` is not an amount of memory: write `512m`, `2g` or a number of bytes")
    amount = int(float(found[1]) * _UNITS[found[2].lower()])
    if amount < LEAST_MEMORY:
        raise ValueError(f"`{text}` is less than the `6m` that an engine accepts")
    return amount


def umask_bits(text: str) -> int:
    """Read a umask; raises ValueError."""
    if re.fullmatch(r"(0o)?0?[0-7]{1,3}", text) is None:
        raise ValueError(f'`{text}` is not a umask: write three octal digits as text, such as `"022"`')
    return int(text, 8)


def clock_moment(text: str, zone: str = AUTO) -> str:
    """Check a local time at which a clock is to begin, and write it as ISO 8601 does; raises ValueError.

    The true time, `true` or nothing, is the empty text. A moment that the zone leaves out, as where clocks are put forward, is
    none; of `auto` that is not known beforehand.
    """
    if text in {"", TRUE}:
        return ""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is not None or moment.microsecond or not re.match(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d", text):
        raise ValueError(f"`{text}` is not a local time: write it as `2028-02-29T23:59:30`")
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise ValueError(f"`{text}` is not between {FIRST_YEAR} and {LAST_YEAR}, where a clock can be moved to")
    if zone != AUTO and zone in zoneinfo.available_timezones() and _left_out(moment, zone):
        raise ValueError(f"`{text}` does not exist in `{zone}`: clocks are put forward then")
    return moment.isoformat()


def _left_out(moment: datetime, zone: str) -> bool:
    there = moment.replace(tzinfo=zoneinfo.ZoneInfo(zone))
    return there.astimezone(UTC).astimezone(there.tzinfo).replace(tzinfo=None) != moment


def variable_name(text: str) -> str:
    """Check the name of a variable that tests are to see; raises ValueError where it would break the cell."""
    if _VARIABLE.fullmatch(text) is None:
        raise ValueError(f"`{text}` is not the name of a variable")
    why = _SPOKEN_FOR.get(text, "")
    if text.startswith("LC_"):
        why = "the `locale` axis sets it"
    if text.startswith(("LD_", "PARITYGATE_")):
        why = "it would change the cell itself, not only the tests"
    if why:
        raise ValueError(f"`{text}` cannot be set here: {why}")
    return text


def _folded(name: str) -> str:
    return name.removeprefix("--").casefold().replace("-", "_").replace(" ", "_")


def near_miss(text: str, known: set[str] | frozenset[str]) -> str:
    """Say what was probably meant, as the end of a message; empty where nothing is near.

    The dashes before an option's name are the same for all, and make no two of them alike.
    """
    folded = {_folded(name): name for name in sorted(known)}
    guesses = difflib.get_close_matches(_folded(text), folded, n=1, cutoff=NEAR)
    return f"; did you mean `{folded[guesses[0]]}`?" if guesses else ""
