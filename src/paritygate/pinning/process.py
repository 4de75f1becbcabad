"""The process that this runs in, pinned: variables, zone, locale, bytecode and random numbers; and put back as it was.

It changes what it runs in, which nothing else of paritygate does: only a project's own pytest asks for that.
"""

from __future__ import annotations

import locale
import os
import random
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from paritygate.config.settings import PinSettings

HASH_SEED = "PYTHONHASHSEED"
_MOMENTS = (datetime(2024, 1, 15, tzinfo=UTC), datetime(2024, 7, 15, tzinfo=UTC))


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """What the process was: None for a variable that was not set, and for numpy where it was not loaded."""

    variables: Mapping[str, str | None]
    locale: str
    bytecode: bool
    random: Any
    numpy: Any


def variables(pins: PinSettings) -> dict[str, str | None]:
    """Say the pins that are variables, None for one not to be set; who starts with them is pinned, but for random numbers."""
    return {
        "TZ": pins.timezone,
        "LC_ALL": pins.locale,
        "LANG": pins.locale,
        HASH_SEED: str(pins.hash_seed),
        "PYTHONDONTWRITEBYTECODE": None if pins.bytecode else "1",
    }


def pin(pins: PinSettings, *leaving: str) -> Before:
    """Put pins in force, but those variables that are to be left; give what is needed to put back what was."""
    wanted = {name: value for name, value in variables(pins).items() if name not in leaving}
    numpy = _numpy()
    before = Before(
        variables={name: os.environ.get(name) for name in wanted},
        locale=locale.setlocale(locale.LC_ALL),
        bytecode=sys.dont_write_bytecode,
        random=random.getstate(),
        numpy=None if numpy is None else numpy.get_state(),
    )
    _set_variables(wanted)
    sys.dont_write_bytecode = not pins.bytecode
    _start_locale()
    seed(pins)
    return before


def restore(before: Before) -> None:
    """Put back what was before."""
    _set_variables(before.variables)
    locale.setlocale(locale.LC_ALL, before.locale)
    sys.dont_write_bytecode = before.bytecode
    random.setstate(before.random)
    numpy = _numpy()
    if numpy is not None and before.numpy is not None:
        numpy.set_state(before.numpy)


def seed(pins: PinSettings) -> None:
    """Seed random numbers, numpy's once it is loaded."""
    random.seed(pins.random_seed)
    numpy = _numpy()
    if numpy is not None:
        numpy.seed(pins.random_seed)


def amiss(pins: PinSettings) -> Iterator[str]:
    """Say which pins this machine does not follow though they are set: what a library does not know it takes for another."""
    if not hasattr(time, "tzset"):
        yield f"TZ={pins.timezone}: this system takes no zone from a variable"
    elif any(time.localtime(each.timestamp()).tm_gmtoff != _offset(pins.timezone, each) for each in _MOMENTS):
        yield f"TZ={pins.timezone}: this machine does not know the zone"
    if not _knows_locale():
        yield f"LC_ALL={pins.locale} and LANG={pins.locale}: this machine does not have the locale"


def _offset(zone: str, moment: datetime) -> int:
    offset = moment.astimezone(ZoneInfo(zone)).utcoffset()
    return 0 if offset is None else int(offset.total_seconds())


def _set_variables(wanted: Mapping[str, str | None]) -> None:
    """Set variables; one that is None is taken away."""
    for name, value in wanted.items():
        if value is not None:
            os.environ[name] = value
        else:
            os.environ.pop(name, None)
    if "TZ" in wanted and hasattr(time, "tzset"):
        time.tzset()


def _start_locale() -> None:
    """Set the locale as an interpreter does when it starts: that of characters from the variables, all else `C`."""
    locale.setlocale(locale.LC_ALL, "C")
    if _knows_locale():
        locale.setlocale(locale.LC_CTYPE, "")


def _knows_locale() -> bool:
    """Try the locale that the variables name."""
    before = locale.setlocale(locale.LC_CTYPE)
    try:
        locale.setlocale(locale.LC_CTYPE, "")
    except locale.Error:
        return False
    locale.setlocale(locale.LC_CTYPE, before)
    return True


def _numpy() -> Any:
    """Find numpy's random numbers; None where nothing has loaded numpy, which is not loaded for their sake.

    Numpy itself loads them late, when they are first asked for: in the middle of a test that is too late to be seeded, so it is
    done here.
    """
    return getattr(sys.modules.get("numpy"), "random", None)
