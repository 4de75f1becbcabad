"""The witness values of each axis: one table, each value with the reason why it is there, and what a value is to a cell.

It runs nothing. Whether a value took effect is for the cell's own probe to say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec

from paritygate.axes import (
    AUTO,
    TRUE,
    clock_moment,
    count_workers,
    locale_name,
    memory_bytes,
    umask_bits,
    variable_name,
    zone_name,
)
from paritygate.moments import CHANGES, MOMENTS, day_of_change
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.plans import Environment
from paritygate.outcomes.words import Axis, Worktree

CONFIDENCE = 0.95
SEEDS_ONE_IN = 10
"""Hash seeds are tried until a fault that shows under one seed of so many would have been seen, with that confidence."""
SAMPLED = frozenset({Axis.HASH_SEED})
"""Axes whose values are a sample of many, so that what can still hide is a matter of their number."""
LARGEST_SEED = 2**32 - 1
MANY = 1 << 16
UTF8_MODE = "PYTHONUTF8"
ALL = "all"
NONE = "none"
TESTS = "tests"
ROOT = "root"
HOMELESS = "HOME=read-only"
NOBODYS_HOME = "/sys"
"""A folder that is there and in which nobody can make a file, not even root on the computer itself."""
ORDERS = ("sorted", "reversed", "shuffled")


class Witness(msgspec.Struct, frozen=True):
    """A value as people write it, and why it is tried."""

    value: str
    why: str = ""


def seeds_needed(one_in: int) -> int:
    """Say how many seeds it takes until a fault that shows under one of so many would have been seen."""
    return math.ceil(math.log(1 - CONFIDENCE) / math.log(1 - 1 / one_in)) if one_in > 1 else 1


def hidden(tried: int) -> int:
    """Say of how many seeds a fault may show under one and would still have been seen, after so many without it; 0: of none."""
    one_in = 0
    while tried and seeds_needed(one_in + 1) <= tried:
        one_in += 1
    return one_in


def _table(*rows: tuple[str, str]) -> tuple[Witness, ...]:
    return tuple(Witness(*row) for row in rows)


_ANY = Environment(name=EnvironmentName(""), timezone="UTC", locale="C", case_sensitive=None, workers=0, worktree=Worktree.CLEAN)

WITNESSES: Mapping[Axis, tuple[Witness, ...]] = MappingProxyType(
    {
        Axis.TIMEZONE: _table(
            ("UTC", "most servers have it, and it hides whatever takes local time for UTC"),
            ("Etc/GMT+12", "UTC-12: the last place where a date is over"),
            ("Pacific/Pago_Pago", "UTC-11: west of the date line, where people live"),
            ("Pacific/Honolulu", "UTC-10, far west, without daylight saving time"),
            ("America/Los_Angeles", "west, with the northern daylight saving time"),
            ("America/New_York", "west, and nearer to UTC"),
            ("America/St_Johns", "west, by half an hour: a minus before hours and minutes"),
            ("America/Santiago", "west, with the southern daylight saving time"),
            ("Atlantic/Azores", "at UTC-1 in winter and at UTC in summer"),
            ("Europe/London", "at UTC in winter, and an hour off in summer: what was written in one fails in the other"),
            ("Europe/Dublin", "its winter is the exception by law, so daylight saving time is negative"),
            ("Europe/Berlin", "east, with the northern daylight saving time"),
            ("Africa/Casablanca", "changed its rules in 2018, and goes back an hour for Ramadan"),
            ("Europe/Moscow", "changed its rules in 2011 and 2014: dates of the past have other offsets"),
            ("Asia/Kolkata", "east, by half an hour"),
            ("Asia/Kathmandu", "east, by three quarters of an hour"),
            ("Asia/Shanghai", "east, by whole hours, without daylight saving time"),
            ("Australia/Sydney", "east, with the southern daylight saving time"),
            ("Australia/Lord_Howe", "daylight saving time of half an hour"),
            ("Pacific/Chatham", "three quarters of an hour and daylight saving time together"),
            ("Pacific/Apia", "left out 30 December 2011, and gave up daylight saving time in 2021"),
            ("Pacific/Kiritimati", "UTC+14: the first place where a date begins"),
        ),
        Axis.LOCALE: _table(
            ("C.UTF-8", "what images have, and servers"),
            ("C", "nothing beyond ASCII in the C library; Python turns its UTF-8 mode on"),
            (f"C+{UTF8_MODE}=0", "UTF-8 mode off: files, names and arguments are ASCII"),
            ("en_US.UTF-8", "what most desktops have: words sorted without regard to case"),
            ("de_DE.UTF-8", "a decimal comma, and other names of days"),
            ("fr_FR.UTF-8", "a decimal comma, and a space within thousands that is not ASCII"),
            ("tr_TR.UTF-8", "the dotless i, in whatever the C library turns into capitals"),
            ("sv_SE.UTF-8", "another collation: letters with accents after z"),
            ("cs_CZ.UTF-8", "another collation: ch is a letter"),
            ("ja_JP.UTF-8", "names of days and months in other characters than Latin ones"),
            ("de_DE.ISO-8859-1", "a Latin-1 charset: UTF-8 files are read as something else, without an error"),
        ),
        Axis.HASH_SEED: tuple(
            Witness(str(seed), "no randomisation at all" if seed == 0 else "") for seed in range(seeds_needed(SEEDS_ONE_IN))
        ),
        Axis.WORKERS: _table(
            ("0", "one process, without pytest-xdist"),
            ("1", "pytest-xdist, and nothing at the same time"),
            ("2", "the least that can collide"),
            ("4", "more than two that share something, and other neighbours"),
            (AUTO, "what `-n auto` gives"),
        ),
        Axis.CLOCK: _table(*MOMENTS),
        Axis.DIRECTORY_ORDER: _table(
            ("sorted", "what hides that nobody sorts"),
            ("reversed", "the other way round"),
            ("shuffled", "as ordinary filesystems do it, in an order that nobody meant"),
        ),
        Axis.UMASK: _table(
            ("022", "what most systems have: others may read"),
            ("002", "the group may write, as where each user has a group"),
            ("027", "others may nothing"),
            ("077", "nobody else may anything"),
            ("000", "everybody may write"),
        ),
        Axis.CPUS: _table(
            (ALL, "every processor of the engine"),
            ("1", "nothing at the same time"),
            ("0.5", "half a processor, as small runners have: everything takes longer"),
        ),
        Axis.MEMORY: _table(
            (ALL, "the cell's share of the engine's"),
            ("1g", "a small runner"),
            ("512m", "a smaller one"),
            ("256m", "hardly more than Python and a few libraries"),
        ),
        Axis.VARIABLES: _table(
            (NONE, "nothing but what a cell takes"),
            ("CI=true", "what every CI service sets"),
            ("COLUMNS=40", "a narrow terminal: help texts and tables wrap"),
            ("COLUMNS=200", "a wide one"),
            ("NO_COLOR=1", "no colours"),
            ("FORCE_COLOR=1", "colours though nobody looks"),
            ("TERM=dumb", "a terminal that can do nothing"),
            (HOMELESS, "a home in which nothing can be written, as services have"),
        ),
        Axis.USER: _table(
            (TESTS, "without privileges, as cells run"),
            (ROOT, "as in many containers: modes of files keep nobody out"),
        ),
    }
)
"""What is swept over where nobody says otherwise; axes that are not in it cannot be swept."""


def locales() -> tuple[str, ...]:
    """Name the locales of the table, as the C library has them."""
    return tuple(dict.fromkeys(locale_of(each.value) for each in WITNESSES[Axis.LOCALE]))


def locale_of(value: str) -> str:
    """Take the locale out of a value such as `C+PYTHONUTF8=0`; raises ValueError."""
    name, plus, rest = value.partition("+")
    if plus and rest not in {f"{UTF8_MODE}=0", f"{UTF8_MODE}=1"}:
        raise ValueError(f"`{value}` is not a locale: after `+` comes `{UTF8_MODE}=0` or `{UTF8_MODE}=1`")
    return locale_name(name)


def given(axis: Axis, base: Environment, value: str, processors: int) -> Environment:
    """Give an environment another value of an axis, as people write it; raises ValueError for what is no value of it."""
    return msgspec.structs.replace(base, **_FIELDS[axis](base, value, processors))


def written(axis: Axis, base: Environment, value: str) -> str:
    """Write a value out that hangs on the environment, as the days on which clocks change do; empty where it has none."""
    return day_of_change(base.timezone, value) if axis is Axis.CLOCK and value in CHANGES else value


def check(axis: Axis, value: str) -> None:
    """Make sure that a text is a value of an axis, whatever the engine has; raises ValueError."""
    given(axis, _ANY, value, MANY)


def _zone(_base: Environment, value: str, _processors: int) -> dict[str, object]:
    if value == AUTO:
        raise ValueError("`auto` is no zone of its own: name one")
    return {"timezone": zone_name(value)}


def _locale(base: Environment, value: str, _processors: int) -> dict[str, object]:
    others = {name: text for name, text in base.variables.items() if name != UTF8_MODE}
    mode = value.partition("+")[2].partition("=")[2]
    return {"locale": locale_of(value), "variables": others | ({UTF8_MODE: mode} if mode else {})}


def _hash_seed(_base: Environment, value: str, _processors: int) -> dict[str, object]:
    if not (value.isascii() and value.isdecimal() and int(value) <= LARGEST_SEED):
        raise ValueError(f"`{value}` is not a hash seed: write a number from 0 to {LARGEST_SEED}")
    return {"hash_seed": int(value)}


def _workers(base: Environment, value: str, processors: int) -> dict[str, object]:
    if value != AUTO and not (value.isascii() and value.isdecimal()):
        raise ValueError(f"`{value}` is not a number of workers: write a number, or `{AUTO}`")
    return {"workers": count_workers("auto", base.cpus, processors) if value == AUTO else int(value)}


def _clock(base: Environment, value: str, _processors: int) -> dict[str, object]:
    return {"clock": clock_moment(written(Axis.CLOCK, base, value) or TRUE, base.timezone)}


def _directory_order(_base: Environment, value: str, _processors: int) -> dict[str, object]:
    if value not in ORDERS:
        raise ValueError(f"`{value}` is not an order of names: write {', '.join(f'`{each}`' for each in ORDERS)}")
    return {"directory_order": value}


def _umask(_base: Environment, value: str, _processors: int) -> dict[str, object]:
    return {"umask": umask_bits(value)}


def _cpus(_base: Environment, value: str, processors: int) -> dict[str, object]:
    try:
        number = 0.0 if value == ALL else float(value)
    except ValueError:
        number = -1.0
    if value != ALL and not 0 < number <= max(1, processors):
        raise ValueError(f"`{value}` is no number of processors that the engine has: write up to {processors}, or `{ALL}`")
    return {"cpus": number}


def _memory(_base: Environment, value: str, _processors: int) -> dict[str, object]:
    return {"memory": 0 if value == ALL else memory_bytes(value)}


def _variables(base: Environment, value: str, _processors: int) -> dict[str, object]:
    if value == NONE:
        return {}
    if value == HOMELESS:
        return {"variables": {**base.variables, "HOME": NOBODYS_HOME}}
    name, equals, text = value.partition("=")
    if not equals:
        raise ValueError(f"`{value}` is not a variable with a value: write `NAME=VALUE`, or `{NONE}`")
    return {"variables": {**base.variables, variable_name(name): text}}


def _user(_base: Environment, value: str, _processors: int) -> dict[str, object]:
    if value not in {TESTS, ROOT}:
        raise ValueError(f"`{value}` is not a user that a cell has: write `{TESTS}` or `{ROOT}`")
    return {"user": ROOT if value == ROOT else ""}


_FIELDS: Mapping[Axis, Callable[[Environment, str, int], dict[str, object]]] = MappingProxyType(
    {
        Axis.TIMEZONE: _zone,
        Axis.LOCALE: _locale,
        Axis.HASH_SEED: _hash_seed,
        Axis.WORKERS: _workers,
        Axis.CLOCK: _clock,
        Axis.DIRECTORY_ORDER: _directory_order,
        Axis.UMASK: _umask,
        Axis.CPUS: _cpus,
        Axis.MEMORY: _memory,
        Axis.VARIABLES: _variables,
        Axis.USER: _user,
    }
)
