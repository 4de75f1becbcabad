"""Settings that have the right types and still cannot be: every such value, with its path.

It repairs nothing; what is questionable but possible is left to the run to show.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from paritygate.axes import clock_moment, locale_name, memory_bytes, umask_bits, variable_name, zone_name
from paritygate.config.settings import EnvironmentSettings, ImageSettings, Settings, SweepSettings
from paritygate.config.tables import join
from paritygate.outcomes.words import RunnerChoice
from paritygate.witnesses.table import WITNESSES
from paritygate.witnesses.values import check

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}")

CONTEXT = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.+-]*")
"""What Docker takes for the name of a context."""

OLDEST = 8
"""The minor version of the oldest CPython that what runs in a cell is written for."""

_PYTHON = re.compile(r"(python-?)?3\.(?P<minor>\d+)([.a-z0-9]*)")


def is_supported(python: str) -> bool:
    """Say whether tests can be run on a version of Python, such as `3.12` or `3.12.4`."""
    found = _PYTHON.fullmatch(python.strip())
    return found is not None and int(found["minor"]) >= OLDEST


def impossible(settings: Settings) -> tuple[str, ...]:
    """List what cannot be, in the order of the settings."""
    return (
        *_of_all(settings),
        *_of_markers(settings.exclude),
        *(
            problem
            for name, each in settings.environments.items()
            for problem in _of_environment(join("environments", name), name, each, settings.runner)
        ),
        *_of_sweeps(settings.sweeps),
    )


def _of_sweeps(settings: SweepSettings) -> Iterator[str]:
    for axis in WITNESSES:
        values, path = settings.of(axis), join("sweeps", axis)
        wrong = [said for value in values for said in _checked(path, value, partial(check, axis))]
        yield from wrong
        if len(set(values)) == 1 and not wrong:
            yield f"`{path}`: `{values[0]}` alone is nothing to compare: name two values or more"


def _of_all(settings: Settings) -> Iterator[str]:
    yield from _checked("memory", settings.memory, memory_bytes)
    yield from _checked("shared-memory", settings.shared_memory, memory_bytes)
    if not settings.shared_memory:
        yield "`shared-memory`: expected an amount such as `1g`, got nothing"
    for path, value in (
        ("cell-timeout", settings.cell_timeout),
        ("test-timeout", settings.test_timeout),
        ("idle-timeout", settings.idle_timeout),
    ):
        if not math.isfinite(value):
            yield f"`{path}`: expected a number of seconds, got `{value}`"
    for path in ("report", "lock", "freezes"):
        if not getattr(settings, path):
            yield f"`{path}`: expected the path of a file, got nothing"
    yield from _checked("pins.timezone", settings.pins.timezone, zone_name)
    yield from _checked("pins.locale", settings.pins.locale, locale_name)
    yield from _of_image(settings.image)
    yield from _of_engines(settings.engines)
    if not settings.environments:
        yield "`environments`: there are none; name at least one, or leave the table out to have `local-like` and `server-like`"


def _of_engines(names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        yield from _of_engine("engines", name)
    if len(set(names)) < len(names):
        yield "`engines`: each can be named once"


def _of_engine(path: str, name: str) -> Iterator[str]:
    if not (CONTEXT.fullmatch(name) or ("://" in name and name.isprintable() and " " not in name)):
        yield f"`{path}`: expected a Docker context, or an address such as `tcp://HOST:2376`, got `{name}`"


def _of_image(settings: ImageSettings) -> Iterator[str]:
    if settings.python and not is_supported(settings.python):
        yield f"`image.python`: expected a version of CPython from 3.{OLDEST} up, such as `3.12`, got `{settings.python}`"
    if settings.install_project == "":
        yield "`image.install-project`: expected a command, got nothing; `false` leaves the project as it lies"


def _of_markers(exclude: Mapping[str, str]) -> Iterator[str]:
    for marker, reason in exclude.items():
        if not marker.isidentifier():
            yield f"`{join('exclude', marker)}`: a marker is a name as Python has them, without `pytest.mark.`"
        if not reason.strip():
            yield f"`{join('exclude', marker)}`: say why; tests that are left out are listed with the reason"


def _of_environment(path: str, name: str, settings: EnvironmentSettings, runner: RunnerChoice) -> Iterator[str]:
    if NAME.fullmatch(name) is None:
        yield f"`{path}`: a name has up to 40 letters, digits, `-`, `_` and `.`, the first a letter or a digit"
    yield from _checked(f"{path}.timezone", settings.timezone, zone_name)
    yield from _checked(f"{path}.locale", settings.locale, locale_name)
    yield from _checked(f"{path}.memory", settings.memory, memory_bytes)
    yield from _checked(f"{path}.umask", settings.umask, umask_bits)
    yield from _checked(f"{path}.clock", settings.clock, partial(clock_moment, zone=settings.timezone))
    if settings.engine:
        yield from _of_engine(f"{path}.engine", settings.engine)
    has = settings.runner or runner
    if settings.engine and has in {RunnerChoice.HOST, RunnerChoice.SSH}:
        yield f'`{path}.engine`: cells run on an engine with `runner = "docker"` alone, and this has `{has}`'
    if not math.isfinite(settings.cpus):
        yield f"`{path}.cpus`: expected a number of processors, got `{settings.cpus}`"
    for variable, value in settings.variables.items():
        place = join(f"{path}.variables", variable)
        yield from _checked(place, variable, variable_name)
        if "\0" in value:
            yield f"`{place}`: a variable cannot hold a null character"


def _checked(path: str, value: str, check: Callable[[str], object]) -> Iterator[str]:
    """Yield what a check of one text finds."""
    try:
        check(value)
    except ValueError as found:
        yield f"`{path}`: {found}"
