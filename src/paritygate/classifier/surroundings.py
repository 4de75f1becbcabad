"""Compares what cells measured about themselves: which axes varied, what else differed, whether the calendar moved.

Trusts the probes, not the configuration, and draws no conclusion about any test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date

import msgspec

from paritygate.classifier import told
from paritygate.classifier.moved import has_moved_clock
from paritygate.outcomes.artifact import EnvironmentRecord, Varied
from paritygate.outcomes.cells import Cell, Dates, Distribution, EnvironmentName, Probe
from paritygate.outcomes.words import Axis, Purpose, RunnerName

Named = Mapping[str, object]
NOT_PROVIDED = "any"
SHOWN = 6


class Differences(msgspec.Struct, frozen=True):
    """What differs between cells though nobody declared it: `blocking` leaves no verdict, `notes` are only said."""

    blocking: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Attempt(msgspec.Struct, frozen=True, order=True):
    """Names a cell of the gate."""

    env: EnvironmentName
    attempt: int


def varied(environments: Sequence[EnvironmentRecord], cells: Iterable[Cell], trees: Mapping[str, str]) -> tuple[Varied, ...]:
    """Say of each axis that an environment has a value for whether it really varied.

    `trees` are the digests of the working tree by state: `dirty` that equals `clean` is no difference. Time zones vary also
    while the dates in them are the same; `why` then says so. What was asked for and nobody measured is not said to have varied.
    """
    gate = [cell for cell in cells if cell.purpose is Purpose.GATE]
    probes = {cell.env: cell.probe for cell in gate if cell.probe is not None}
    pasted = told.pasted(gate, probes)
    axes = [axis for axis in Axis if any(axis in each.axes for each in environments)]
    rows = [_varied(axis, environments, probes, trees) for axis in axes]
    rows = [told.known(row, probes, pasted) if row.axis in EFFECTS else row for row in rows]
    if silent := told.unprobed(gate):
        rows = [told.unmeasured(row, silent) if row.varied else row for row in rows]
    return tuple(_with_dates(row, gate) if row.varied and row.axis is Axis.TIMEZONE else row for row in rows)


def _with_dates(row: Varied, gate: Iterable[Cell]) -> Varied:
    """Say of time zones that differ where the dates in them did not: what depends on the date was not put to the test."""
    ahead: dict[EnvironmentName, set[int]] = {}
    for cell in gate:
        ahead.setdefault(cell.env, set()).update(days_ahead(moment) for moment in cell.dates)
    shared = set.intersection(*ahead.values()) if ahead else set()
    if not shared:
        return row
    throughout = all(len(days) == 1 for days in ahead.values())
    return msgspec.structs.replace(row, why="dates equal" if throughout else "dates equal for a part of the run")


def days_ahead(moment: Dates) -> int:
    """Say how many days the local date is ahead of the UTC date."""
    return (date.fromisoformat(moment.local) - date.fromisoformat(moment.utc)).days


def _varied(
    axis: Axis, environments: Sequence[EnvironmentRecord], probes: Mapping[EnvironmentName, Probe], trees: Mapping[str, str]
) -> Varied:
    values = {each.axes.get(axis, "") for each in environments}
    unknown = [each.name for each in environments if axis not in each.axes]
    if len(environments) == 1 or unknown:
        return Varied(axis=axis, varied=False, why=f"nobody knows it of {_listed(unknown)}" if unknown else "one environment")
    if len(values) == 1:
        value = values.pop()
        return Varied(axis=axis, varied=False, why="not provided" if value == NOT_PROVIDED else f"`{value}` everywhere")
    if axis is Axis.CASE_SENSITIVE and NOT_PROVIDED in values and len(values - {NOT_PROVIDED}) < 2:  # noqa: PLR2004 - two make a pair
        return Varied(axis=axis, varied=False, why="not provided")
    if axis is Axis.WORKTREE and len({trees.get(value, value) for value in values}) == 1:
        return Varied(axis=axis, varied=False, why=f"the trees {_listed(values)} are equal")
    effect = EFFECTS.get(axis)
    seen = [effect(probes[each.name]) for each in environments if each.name in probes] if effect else []
    if len(seen) == len(environments) and len(set(seen)) == 1:
        return Varied(axis=axis, varied=False, why=f"{_listed(values)} come to the same in the cells")
    return Varied(axis=axis, varied=True)


def _listed(values: Iterable[str]) -> str:
    return ", ".join(f"`{value}`" for value in sorted(values))


def _zone(probe: Probe) -> tuple[object, ...]:
    return probe.utcoffset_january, probe.utcoffset_july


def _language(probe: Probe) -> tuple[object, ...]:
    return probe.locale, probe.encoding, probe.collation, probe.decimal_point


def _case(probe: Probe) -> tuple[object, ...]:
    return probe.case_sensitive


def _mask(probe: Probe) -> tuple[object, ...]:
    return (probe.umask,)


EFFECTS: dict[Axis, Callable[[Probe], tuple[object, ...]]] = {
    Axis.TIMEZONE: _zone,
    Axis.LOCALE: _language,
    Axis.CASE_SENSITIVE: _case,
    Axis.UMASK: _mask,
}


def observed(cells: Iterable[Cell]) -> tuple[EnvironmentRecord, ...]:
    """Describe environments by what their cells measured, where nobody wrote down what was asked for."""
    records: dict[EnvironmentName, EnvironmentRecord] = {}
    for cell in cells:
        axes = {Axis.WORKERS: str(cell.workers)}
        if cell.probe is not None:
            axes |= {
                Axis.TIMEZONE: cell.probe.timezone,
                Axis.LOCALE: cell.probe.locale,
                Axis.CASE_SENSITIVE: str(all(cell.probe.case_sensitive)).lower(),
                Axis.UMASK: f"{cell.probe.umask:03o}",
            }
        if cell.env not in records or len(axes) > len(records[cell.env].axes):
            records[cell.env] = EnvironmentRecord(name=cell.env, axes=axes)
    return tuple(records.values())


def undeclared_differences(cells: Iterable[Cell], declared: frozenset[Axis] = frozenset()) -> Differences:
    """Compare every probe with the first; `declared` are the axes that may differ.

    Packages, interpreter, C library and tzdata have to be equal, unless the image itself is an axis.
    """
    gate = [cell for cell in cells if cell.purpose is Purpose.GATE]
    probed = [(cell, cell.probe) for cell in gate if cell.probe is not None]
    heavy: dict[str, None] = {}
    light: dict[str, None] = {}
    for cell, probe in probed[1:]:
        first, reference = probed[0]
        pair = f"`{first.env}` attempt {first.attempt} and `{cell.env}` attempt {cell.attempt}"
        heavy.update((f"{said} between {pair}", None) for said in grave(reference, probe))
        apart = NAMED_ANEW if {first.runner, cell.runner} != {RunnerName.DOCKER} else frozenset[str]()
        light.update((f"{said} between {pair}", None) for said in _light(reference, probe, declared, apart))
    light.update(
        (f"`{cell.env}` attempt {cell.attempt} has no probe", None) for cell in gate if cell.probe is None and cell.told is None
    )
    if Axis.IMAGE in declared:
        return Differences((), (*heavy, *light))
    return Differences(tuple(heavy), tuple(light))


def grave(one: Probe, other: Probe) -> Iterable[str]:
    """Say what has to be equal in all cells, and is not."""
    for name in ("python", "implementation", "libc", "tzdata"):
        if getattr(one, name) != getattr(other, name):
            yield f"{name} differs (`{getattr(one, name)}`, `{getattr(other, name)}`)"
    if one.distributions != other.distributions:
        packages = _packages(one.distributions, other.distributions)
        if packages:
            yield f"packages differ ({packages})"


def _packages(one: Iterable[Distribution], other: Iterable[Distribution]) -> str:
    here, there = {each.name: each.version for each in one}, {each.name: each.version for each in other}
    names = sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))
    some = ", ".join(f"{name} {here.get(name, 'absent')} / {there.get(name, 'absent')}" for name in names[:SHOWN])
    return some + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


AXIS_OF = {
    "cpus": Axis.CPUS,
    "memory": Axis.MEMORY,
    "umask": Axis.UMASK,
    "variables": Axis.VARIABLES,
    "uid": Axis.USER,
    "gid": Axis.USER,
    "capabilities": Axis.USER,
    "home": Axis.VARIABLES,
}
PLAIN = (
    "platform",
    "uid",
    "gid",
    "home",
    "hostname",
    "capabilities",
    "no_new_privileges",
    "cpus",
    "memory",
    "umask",
)
PLACES = ("workspace", "tmp", "home")
"""The folders of which a probe tells, in the order of `case_sensitive`."""


NAMED_ANEW = frozenset({"home"})
"""What has another name in each cell on a computer that cells share."""


def _light(one: Probe, other: Probe, declared: frozenset[Axis], apart: frozenset[str]) -> Iterable[str]:
    for name in PLAIN:
        if name not in apart and AXIS_OF.get(name) not in declared and getattr(one, name) != getattr(other, name):
            yield f"{name} differs (`{getattr(one, name)}`, `{getattr(other, name)}`)"
    # In a home that is another one by a variable, what can be written and on what it lies is that variable's doing.
    aside = {"home"} if Axis.VARIABLES in declared and one.home != other.home else set[str]()
    pairs: dict[str, tuple[Named, Named]] = {
        "limits differ": (one.limits, other.limits),
        "filesystems differ": (one.filesystems, other.filesystems),
    }
    if Axis.CASE_SENSITIVE not in declared:
        pairs["case_sensitive differs"] = (_case_by_place(one), _case_by_place(other))
    for name, (here, there) in pairs.items():
        if said := _apart(here, there, aside):
            yield f"{name} ({said})"
    names = sorted(set(one.variables) ^ set(other.variables))
    if names and Axis.VARIABLES not in declared:
        yield f"variables differ ({', '.join(f'`{name}`' for name in names[:SHOWN])})"


def _case_by_place(probe: Probe) -> Named:
    return {place: str(value).lower() for place, value in zip(PLACES, probe.case_sensitive, strict=False)}


def _apart(here: Named, there: Named, aside: AbstractSet[str]) -> str:
    keys = sorted(key for key in (here.keys() | there.keys()) - aside if here.get(key) != there.get(key))
    return ", ".join(f"{key}: {here.get(key)} / {there.get(key)}" for key in keys[:SHOWN])


def dates_moved(cells: Iterable[Cell]) -> tuple[Attempt, ...]:
    """Find the gate cells that saw another date, local or UTC, than the last cell of their environment saw at its end.

    A divergence may come from that, so these are to be run again before anything is labelled. A cell with a moved clock begins
    at the same moment every time, and would see the same again.
    """
    gate = [cell for cell in cells if cell.purpose is Purpose.GATE and cell.dates and not has_moved_clock(cell)]
    if not gate:
        return ()
    utc = max(moment.utc for cell in gate for moment in cell.dates)
    local: dict[EnvironmentName, str] = {}
    for cell in gate:
        local[cell.env] = max(local.get(cell.env, ""), *(moment.local for moment in cell.dates))
    moved = [cell for cell in gate if any(moment != Dates(local[cell.env], utc) for moment in cell.dates)]
    return tuple(Attempt(cell.env, cell.attempt) for cell in moved)


def chance_seen(probability: float, runs: int) -> float:
    """Say how probable it was that a test that fails with this probability failed at least once."""
    return 1.0 - (1.0 - probability) ** runs


def power(runs: int, probability: float = 0.05) -> str:
    """Say in a sentence how far green can be trusted."""
    seen = chance_seen(probability, runs)
    these = f"these {runs} runs" if runs != 1 else "this run"
    line = f"a test that fails {probability:.0%} of the time had a chance of {seen:.0%} to be seen in {these}"
    return line.replace("%", " %")


def idle_workers(cells: Iterable[Cell]) -> tuple[str, ...]:
    """Remark environments with several workers in which only one had tests: what would collide had no chance to."""
    busiest: dict[EnvironmentName, tuple[int, int]] = {}
    for cell in cells:
        if cell.workers > 1 and len(cell.tests) > 1:
            busy = sum(1 for tests in cell.order.values() if tests)
            busiest[cell.env] = max(busiest.get(cell.env, (0, cell.workers)), (busy, cell.workers))
    return tuple(
        f"one of the {workers} workers of `{env}` ran all tests, as those of one file stay together: nothing ran at the same time"
        for env, (busy, workers) in busiest.items()
        if busy == 1
    )
