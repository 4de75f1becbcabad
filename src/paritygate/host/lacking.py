"""Which axes cannot vary on a computer itself, and what environments have of them instead, said before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from paritygate.axes import AUTO, PREFERRED_ZONES, locale_name
from paritygate.config.settings import EnvironmentSettings
from paritygate.errors import RunnerError
from paritygate.host.interpreters import Survey
from paritygate.outcomes.words import Axis

Environments = Mapping[str, EnvironmentSettings]
HERE = "this computer"
NO_FOLDING = "no filesystem that folds case can be had on `{target}` over ssh"
NO_LOCALE = (
    "generate it there (`locale-gen`), name one that it has, such as `C.UTF-8`, with `locale` of the environment, or take that "
    "of the last environment with `--without-axis locale`"
)


class Held(msgspec.Struct, frozen=True):
    """The value that all environments have of an axis that cannot vary, and why it cannot."""

    value: bool | int | float | str
    why: str


def hold(environments: Environments, held: Mapping[Axis, Held]) -> dict[str, EnvironmentSettings]:
    """Give every environment those values."""
    values = {axis.value: each.value for axis, each in held.items()}
    return {name: msgspec.structs.replace(each, **values) for name, each in environments.items()}


def locales(environments: Environments) -> tuple[str, ...]:
    """List the locales that are asked for."""
    return tuple(dict.fromkeys(locale_name(each.locale) for each in environments.values()))


def zones(environments: Environments) -> tuple[str, ...]:
    """List the zones that are asked for, for `auto` all that it may come to."""
    asked = (PREFERRED_ZONES if each.timezone == AUTO else (each.timezone,) for each in environments.values())
    return tuple(dict.fromkeys(zone for some in asked for zone in some))


def locale(mine: Environments, every: Environments, known: tuple[str, ...], where: str = HERE) -> dict[Axis, Held]:
    """Hold the locale where some are not there, and others are; where none is, the cells themselves say so.

    `mine` are the environments that are there, `known` the locales of `every` environment that can be used there.
    """
    absent = [name for name in locales(mine) if name not in known]
    there = [name for name in locales(every) if name in known]
    if not absent or not there:
        return {}
    return {Axis.LOCALE: Held(there[-1], no_locale(absent, where))}


def zone(mine: Environments, every: Environments, known: tuple[str, ...], where: str = HERE) -> dict[Axis, Held]:
    """Hold the time zone where some are not there, and one that an environment names is; as `locale` does."""
    absent = [name for name in zones(mine) if name not in known]
    there = [each.timezone for each in every.values() if each.timezone in known]
    if not absent or not there:
        return {}
    names = ", ".join(f"`{name}`" for name in absent)
    return {Axis.TIMEZONE: Held(there[-1], f"{where} has no time zone {names}: install `tzdata` there, or use Docker")}


def no_locale(absent: Iterable[str], where: str = HERE) -> str:
    """Say that there are no such locales, and what to do."""
    names = ", ".join(f"`{name}`" for name in absent)
    return f"{where} has no locale {names}: generate it (`locale-gen`, on Debian from the package `locales`), or use Docker"


def workers(environments: Environments, installed: tuple[str, ...], python: str) -> dict[Axis, Held]:
    """Hold the number of workers where there can be none."""
    if "xdist" in installed or not any(each.workers for each in environments.values()):
        return {}
    return {Axis.WORKERS: Held(0, f"pytest-xdist is not installed for `{python}`: install it there, or use Docker")}


def resources(environments: Environments) -> dict[Axis, Held]:
    """Hold what an ordinary process cannot bound: memory, and parts of processors."""
    held: dict[Axis, Held] = {}
    if any(each.memory for each in environments.values()):
        held[Axis.MEMORY] = Held("", "a process of this computer cannot be given a memory of its own")
    if any(each.cpus != int(each.cpus) for each in environments.values()):
        held[Axis.CPUS] = Held(0.0, "a process of this computer can be given whole processors only")
    return held


def clock(environments: Environments) -> dict[Axis, Held]:
    """Hold the clock: what moves it is a part of images."""
    if not any(each.clock for each in environments.values()):
        return {}
    return {Axis.CLOCK: Held("", "what moves the clock of programs is in images alone: use Docker")}


def case(environments: Environments, obstacle: str) -> dict[Axis, Held]:
    """Hold case, and the order of folders, where no filesystem can be made; `obstacle` says why not."""
    held: dict[Axis, Held] = {}
    if any(each.case_sensitive is False for each in environments.values()):
        held[Axis.CASE_SENSITIVE] = Held("any", obstacle)
    if any(each.directory_order for each in environments.values()):
        held[Axis.DIRECTORY_ORDER] = Held("", obstacle)
    return held


def elsewhere(mine: Environments, every: Environments, known: Survey, target: str) -> dict[Axis, Held]:
    """Say what another computer, of which this is known, cannot vary; raises `RunnerError` where it has no locale at all."""
    where = f"`{target}`"
    held = locale(mine, every, known.locales, where) | zone(mine, every, known.zones, where)
    absent = [name for name in locales(mine) if name not in known.locales]
    if absent and Axis.LOCALE not in held:
        names = ", ".join(f"`{name}`" for name in absent)
        raise RunnerError(f"{where} has no locale {names}", NO_LOCALE)
    held |= resources(mine)
    held |= clock(every)
    if any(each.cpus for each in mine.values()):
        held[Axis.CPUS] = Held(0.0, f"cells on {where} have all of its processors")
    # Beside a filesystem that is made for the cells here, none there would be a difference that nobody has asked for.
    return held | case(every, NO_FOLDING.format(target=target))
