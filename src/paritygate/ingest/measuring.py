"""What a machine without any access measures of itself: the pasted command writes it, and it is found again in what came."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from paritygate.outcomes.cells import Measured

SUITE = "paritygate"
"""How the name of a suite begins that is ours."""
SAID = "paritygate measured"
# No quotation mark of either kind is in it but the single ones, and nothing in it raises where a locale or zone is not known.
CODE = (
    "import calendar,locale,sys,time;"
    "z=[time.localtime(calendar.timegm((time.gmtime()[0],m,15,12,0,0))).tm_gmtoff for m in (1,7)];"
    "m='offsets=%d,%d;locale=%s;encoding=%s'%(*z,locale.setlocale(locale.LC_CTYPE),locale.getpreferredencoding(False));"
    f"print('{SAID}','CELL;'+m,file=sys.stderr);print(m)"
)
CELL = "CELL"
"""What stands in the code for the name of the cell."""
SETTING = ("TZ", "LANG", "LC_ALL")
_SEED = re.compile(rf"{SUITE}:[^;]*;seed=(\d{{1,20}});")
_MEASURED = re.compile(r"offsets=(?P<january>-?\d+),(?P<july>-?\d+);locale=(?P<locale>[^;\s]+);encoding=(?P<encoding>[\w-]+)")


def name_with_measurement(suite: str, variables: Mapping[str, str]) -> str:
    """Write the option that names a JUnit suite, as a POSIX shell takes it: what is measured is put behind the name.

    The same is written to a terminal. `suite` has letters, digits, and what no shell takes for anything in `'`.
    """
    setting = shlex.join(("env", *(f"{name}={variables[name]}" for name in SETTING)))
    return f'-o {shlex.quote(f"junit_suite_name={suite};")}"$({setting} python -c "{CODE.replace(CELL, suite)}")"'


def in_suite(name: str) -> Measured | None:
    """Find it behind the name of a JUnit suite."""
    return _read(name.partition(";")[2])


def seed_in_suite(name: str) -> int | None:
    """Find the seed behind the name of a JUnit suite; the first commands that were printed did not write it."""
    match = _SEED.match(name)
    return None if match is None else int(match[1])


def suite_in_lines(lines: Iterable[str]) -> str:
    """Find in the lines before those of pytest what its JUnit suite would be called, empty where nothing is said of it."""
    said = (line.partition(SAID)[2].strip() for line in lines if SAID in line)
    return next((text for text in said if _read(text) is not None), "")


def in_lines(lines: Iterable[str]) -> Measured | None:
    """Find it in the lines before those of pytest."""
    return _read(suite_in_lines(lines))


def is_zone(name: str, measured: Measured) -> bool:
    """Say whether what was measured is so in a zone this year."""
    try:
        zone = ZoneInfo(name)
    except (ValueError, LookupError, OSError):
        return False
    noons = (datetime(datetime.now(UTC).year, month, 15, 12, tzinfo=UTC).astimezone(zone) for month in (1, 7))
    offsets = [int((noon.utcoffset() or timedelta()).total_seconds()) for noon in noons]
    return offsets == [measured.utcoffset_january, measured.utcoffset_july]


def _read(text: str) -> Measured | None:
    match = _MEASURED.search(text)
    if match is None:
        return None
    return Measured(
        utcoffset_january=int(match["january"]),
        utcoffset_july=int(match["july"]),
        locale=match["locale"],
        encoding=match["encoding"],
    )
