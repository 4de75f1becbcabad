"""What a value of an axis, as people write it, is to an environment.

Whether it took effect is for the cell's own probe to say.
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
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.plans import Environment
from paritygate.outcomes.words import Axis, Worktree
from paritygate.witnesses.moments import CHANGES, day_of_change
from paritygate.witnesses.table import ALL, HOMELESS, NONE, ORDERS, ROOT, TESTS, UTF8_MODE, WITNESSES

MOST_WORKERS, WORKERS_A_PROCESSOR = 64, 4
"""Whichever is more: beyond it a cell would be about nothing but starting interpreters."""
LARGEST_SEED = 2**32 - 1
MANY = 1 << 16
NOBODYS_HOME = "/home/read-only"
"""An empty folder that containers are given for it, in which nobody can make a file, not even root."""

_ANY = Environment(name=EnvironmentName(""), timezone="UTC", locale="C", case_sensitive=None, workers=0, worktree=Worktree.CLEAN)


def locales() -> tuple[str, ...]:
    """Name the locales of the table, as the C library has them."""
    return tuple(dict.fromkeys(locale_of(each.value) for each in WITNESSES[Axis.LOCALE]))


def locale_of(value: str) -> str:
    """Take the locale out of a value such as `C+PYTHONUTF8=0`; raises ValueError."""
    name, plus, rest = value.partition("+")
    if plus and rest not in {f"{UTF8_MODE}=0", f"{UTF8_MODE}=1"}:
        raise ValueError(f"`{value}` is not a locale: after `+` comes `{UTF8_MODE}=0` or `{UTF8_MODE}=1`")
    return locale_name(name)


def with_value(axis: Axis, base: Environment, value: str, processors: int) -> Environment:
    """Give an environment another value of an axis, as people write it; raises ValueError for what is no value of it."""
    return msgspec.structs.replace(base, **_FIELDS[axis](base, value, processors))


def written(axis: Axis, base: Environment, value: str) -> str:
    """Write a value out that hangs on the environment, as the days on which clocks change do; empty where it has none."""
    return day_of_change(base.timezone, value) if axis is Axis.CLOCK and value in CHANGES else value


def check(axis: Axis, value: str) -> None:
    """Make sure that a text is a value of an axis, whatever the engine has; raises ValueError."""
    with_value(axis, _ANY, value, MANY)


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
    if value != AUTO and int(value) > (most := max(MOST_WORKERS, WORKERS_A_PROCESSOR * processors)):
        raise ValueError(
            f"`{value}` workers are more than {processors} processors can keep busy: write up to {most}, or `{AUTO}`"
        )
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
    if value != ALL and not 0 < number < math.inf:
        raise ValueError(f"`{value}` is no number of processors: write one above 0, such as `0.5`, or `{ALL}`")
    if number > max(1, processors):
        raise ValueError(f"`{value}` is more than the processors that are there: write up to {processors}, or `{ALL}`")
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
