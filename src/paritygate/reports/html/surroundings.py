"""What the cells measured about themselves, environment beside environment, and what of it differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.cells import Cell, EnvironmentName, Probe
from paritygate.outcomes.words import Purpose

HOUR = 3600
DAY = 24 * HOUR
NO_PROBE = "not known"
BETWEEN = " and "


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A property with its value in each environment, and whether it differs between them; `why` is what is to be known of it."""

    name: str
    values: tuple[str, ...]
    differs: bool
    why: str = ""


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """Environments by name; what was set for their axes, what was measured, and the packages that each has."""

    names: tuple[str, ...]
    axes: tuple[Row, ...]
    measured: tuple[Row, ...]
    packages: tuple[Row, ...]


def surroundings(artifact: Artifact) -> Surroundings:
    """Lay environments side by side, what differs first."""
    probes: dict[EnvironmentName, list[Probe]] = {}
    for cell in artifact.cells:
        if cell.purpose is Purpose.GATE:
            probes.setdefault(cell.env, []).extend(_probe_of(cell))
    names = [each.name for each in artifact.environments if each.name in probes] or list(probes)
    measured = list(_engines(artifact, names))
    measured += [_row(name, [_values(probes[env], read) for env in names]) for name, read in _READ.items()]
    for field in ("limits", "filesystems"):
        measured += list(_mapped(field, [probes[env] for env in names]))
    packages = _rows_of([_packages(probes[env]) for env in names])
    return Surroundings(
        names=tuple(names),
        axes=tuple(_axes(artifact, names)),
        measured=tuple(_differing_first(measured)),
        packages=tuple(_differing_first(packages)),
    )


def _probe_of(cell: Cell) -> list[Probe]:
    return [cell.probe] if cell.probe is not None else []


def _engines(artifact: Artifact, names: Sequence[EnvironmentName]) -> Iterator[Row]:
    """Say on which engines the cells of each environment ran, where there were several."""
    gate = [cell for cell in artifact.cells if cell.purpose is Purpose.GATE and cell.engine]
    if gate:
        yield _row("engine", [BETWEEN.join(dict.fromkeys(cell.engine for cell in gate if cell.env == name)) for name in names])


def _axes(artifact: Artifact, names: Sequence[EnvironmentName]) -> Iterator[Row]:
    values = {record.name: record.axes for record in artifact.environments}
    for each in sorted(artifact.axes, key=lambda each: not each.varied):
        said = tuple(values.get(name, {}).get(each.axis, "") for name in names)
        yield Row(name=each.axis, values=said, differs=each.varied, why=each.why)


def _row(name: str, values: Sequence[str]) -> Row:
    known = {value for value in values if value != NO_PROBE}
    return Row(name=name, values=tuple(values), differs=len(known) > 1)


def _differing_first(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: not row.differs)


def _values(probes: Sequence[Probe], read: Callable[[Probe], str]) -> str:
    """Say what the attempts of an environment measured, once where it is the same."""
    return BETWEEN.join(dict.fromkeys(read(probe) for probe in probes)) or NO_PROBE


def _mapped(field: str, environments: Sequence[Sequence[Probe]]) -> Iterator[Row]:
    """Give a property that is a table itself a row for each of its lines."""
    found: list[dict[str, str]] = []
    for probes in environments:
        tables: list[Mapping[str, object]] = [getattr(probe, field) for probe in probes]
        keys = dict.fromkeys(key for table in tables for key in table)
        found.append({key: BETWEEN.join(dict.fromkeys(_plain(table.get(key, "none")) for table in tables)) for key in keys})
    for row in _rows_of(found):
        yield msgspec.structs.replace(row, name=f"{field.removesuffix('s')} {row.name}")


def _rows_of(found: Sequence[Mapping[str, str]]) -> list[Row]:
    return [_row(key, [each.get(key, "none") for each in found]) for key in sorted({key for each in found for key in each})]


def _packages(probes: Sequence[Probe]) -> dict[str, str]:
    return {each.name: each.version for probe in probes for each in probe.distributions}


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return " / ".join(map(_plain, value))
    return "unlimited" if value == -1 else str(value)


def _offset(seconds: int) -> str:
    sign = "-" if seconds < 0 else "+"
    return f"UTC{sign}{abs(seconds) // HOUR:02}:{abs(seconds) % HOUR // 60:02}"


def _yes(value: bool) -> str:  # noqa: FBT001  # the value is what is told
    return "yes" if value else "no"


def _clock(probe: Probe) -> str:
    moved = 0 if probe.clock is None else probe.clock.moved
    return f"moved by {moved / DAY:+.1f} days" if moved else "true"


def _case(probe: Probe) -> str:
    return ", ".join(_yes(each) for each in probe.case_sensitive)


_READ: dict[str, Callable[[Probe], str]] = {
    "time zone": lambda probe: probe.timezone,
    "offset in January": lambda probe: _offset(probe.utcoffset_january),
    "offset in July": lambda probe: _offset(probe.utcoffset_july),
    "local date": lambda probe: probe.local_date,
    "date in UTC": lambda probe: probe.utc_date,
    "clock": _clock,
    "locale": lambda probe: probe.locale,
    "encoding": lambda probe: probe.encoding,
    "UTF-8 mode": lambda probe: _yes(probe.utf8_mode),
    "collation": lambda probe: " ".join(probe.collation),
    "decimal point": lambda probe: probe.decimal_point,
    "case counts (workspace, temporary folder, home)": _case,
    "processors": lambda probe: f"{probe.cpus:g}",
    "memory": lambda probe: f"{probe.memory >> 20} MiB" if probe.memory else "unlimited",
    "hash seed": lambda probe: probe.hash_seed,
    "umask": lambda probe: f"{probe.umask:03o}",
    "user and group": lambda probe: f"{probe.uid}:{probe.gid}",
    "home": lambda probe: probe.home,
    "host name": lambda probe: probe.hostname,
    "capabilities": lambda probe: probe.capabilities,
    "no new privileges": lambda probe: _yes(probe.no_new_privileges),
    "Python": lambda probe: f"{probe.implementation} {probe.python}",
    "platform": lambda probe: probe.platform,
    "C library": lambda probe: probe.libc,
    "tzdata": lambda probe: probe.tzdata,
    "tree": lambda probe: probe.sentinel,
    "variables": lambda probe: " ".join(probe.variables),
}
