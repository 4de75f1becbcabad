"""Which axes cannot vary on this computer itself, and what environments have of them instead, said before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from paritygate.axes import locale_name
from paritygate.config.settings import EnvironmentSettings
from paritygate.outcomes.words import Axis

Environments = Mapping[str, EnvironmentSettings]


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


def locale(mine: Environments, every: Environments, known: tuple[str, ...]) -> dict[Axis, Held]:
    """Hold the locale where some are not here, and others are; where none is, the cells themselves say so.

    `mine` are the environments that are here, `known` the locales of `every` environment that can be used here.
    """
    absent = [name for name in locales(mine) if name not in known]
    here = [name for name in locales(every) if name in known]
    if not absent or not here:
        return {}
    return {Axis.LOCALE: Held(here[-1], no_locale(absent))}


def no_locale(absent: Iterable[str]) -> str:
    """Say that there are no such locales, and what to do."""
    names = ", ".join(f"`{name}`" for name in absent)
    return f"this computer has no locale {names}: generate it (`locale-gen`, on Debian from the package `locales`), or use Docker"


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
