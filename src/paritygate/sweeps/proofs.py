"""Whether a value took effect in a cell, by what the cell measured: what is not proven is not swept, and that is said.

The launcher has refused by then what it can check itself: zone, locale, umask, hash seed, user, and the time that
threads, C code and other programs are told. This is the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

from paritygate.outcomes.cells import Cell, Probe
from paritygate.outcomes.plans import Environment
from paritygate.outcomes.words import Axis, CellStatus
from paritygate.witnesses.table import ROOT, UTF8_MODE
from paritygate.witnesses.values import NOBODYS_HOME

TOLERANCE = 0.01
DAY = timedelta(days=1)
EFFECTIVE = re.compile(r"CapEff=([0-9a-f]+)")
ALONE = "tmpfs"
"""What holds the home in which nobody can write, and nothing else."""
DAC_OVERRIDE = 1 << 1
OWNERS: Mapping[int, str] = MappingProxyType({0o400: "read", 0o200: "written", 0o100: "entered"})
"""What the bits of a umask take from whoever makes a file or a folder."""


def problem(axis: Axis, environment: Environment, cell: Cell) -> str:
    """Say why a value of an axis is not proven by a cell that was to have it; empty where it is."""
    if axis is Axis.UMASK and cell.probe is None and (said := _unusable(environment.umask)):
        return said
    if cell.status is CellStatus.ENVIRONMENT_MISMATCH or (cell.status is CellStatus.UNUSABLE and cell.probe is None):
        return cell.detail.strip().partition("\n")[0] or "the cell is not what it should be"
    if cell.probe is None:
        # A cell that died before it measured anything is no value's fault; that it died is said of the whole run.
        return ""
    if axis is Axis.WORKERS:
        return _workers(environment, cell)
    return _PROOFS[axis](environment, cell.probe) if axis in _PROOFS else ""


def _unusable(umask: int) -> str:
    """Say what a umask keeps a cell from doing with what it makes itself; empty where it leaves its owner everything."""
    kept = [verb for bit, verb in OWNERS.items() if umask & bit]
    return f"with this umask nothing that the cell makes can be {' or '.join(kept)}, even by itself" if kept else ""


def _workers(environment: Environment, cell: Cell) -> str:
    if cell.status is not CellStatus.FINISHED or not cell.tests or cell.workers == environment.workers:
        return ""
    return f"the tests had {cell.workers} workers instead of {environment.workers}"


def _locale(environment: Environment, probe: Probe) -> str:
    """Check the mode of Python that goes with a locale, and that a charset is what files are read in."""
    mode = environment.variables.get(UTF8_MODE)
    if mode is not None and probe.utf8_mode is not (mode == "1"):
        return f"UTF-8 mode is {'on' if probe.utf8_mode else 'off'} in spite of `{UTF8_MODE}={mode}`"
    charset = environment.locale.partition(".")[2].partition("@")[0]
    if charset and plain(charset) != plain(probe.encoding):
        return f"files are read as {probe.encoding} in spite of `{environment.locale}`"
    return ""


def plain(charset: str) -> str:
    """Spell a charset as any two programs do: without case and punctuation."""
    return "".join(letter for letter in charset.lower() if letter.isalnum())


def _order(environment: Environment, probe: Probe) -> str:
    seen = list(probe.listing)
    if not seen:
        return "nothing can be created in the workspace, so the order of its names is not known"
    tidy = {"sorted": sorted(seen), "reversed": sorted(seen, reverse=True)}
    wanted = environment.directory_order
    proven = seen == tidy[wanted] if wanted in tidy else seen not in tidy.values()
    return "" if proven else f"new names are listed as {' '.join(seen)}, which is not {wanted}"


def _clock(environment: Environment, probe: Probe) -> str:
    """Check the date that the tests' Python has; a clock that begins before midnight may have passed it by the measurement."""
    moved = 0.0 if probe.clock is None else probe.clock.moved
    if not environment.clock:
        return f"the clock is moved by {moved:.0f} s" if moved else ""
    if not moved:
        return "programs have the computer's own time"
    moment = datetime.fromisoformat(environment.clock)
    dates = {f"{day:%Y-%m-%d}" for day in (moment, moment + DAY)}
    return "" if probe.local_date in dates else f"the date is {probe.local_date} in spite of `{environment.clock}`"


def _cpus(environment: Environment, probe: Probe) -> str:
    if not environment.cpus or abs(probe.cpus - environment.cpus) <= TOLERANCE:
        return ""
    return f"the cell has {probe.cpus:g} processors instead of {environment.cpus:g}"


def _memory(environment: Environment, probe: Probe) -> str:
    if not environment.memory or probe.memory == environment.memory:
        return ""
    return f"the cell has {probe.memory or 'no limit of'} bytes of memory instead of {environment.memory}"


def _variables(environment: Environment, probe: Probe) -> str:
    if (home := environment.variables.get("HOME", probe.home)) != probe.home:
        return f"the tests' home is `{probe.home}` instead of `{home}`"
    if home == NOBODYS_HOME and probe.filesystems.get("home") != ALONE:
        return "a home in which nobody can write, not even root, is made for containers alone"
    if home == NOBODYS_HOME and probe.case.get("home"):
        return f"`{home}` can be written"
    absent = [name for name in environment.variables if name not in probe.variables]
    return f"the tests do not have {', '.join(f'`{name}`' for name in absent)}" if absent else ""


def _user(environment: Environment, probe: Probe) -> str:
    """Check whom the tests run as; root that modes of files keep out is no root."""
    if environment.user != ROOT:
        return "" if probe.uid else "the tests run as root"
    if probe.uid:
        return f"the tests run as user {probe.uid}"
    held = EFFECTIVE.search(probe.capabilities)
    overrides = held is not None and bool(int(held[1], 16) & DAC_OVERRIDE)
    return "" if overrides else "modes of files keep root out here as they do everybody"


_PROOFS: Mapping[Axis, Callable[[Environment, Probe], str]] = MappingProxyType(
    {
        Axis.LOCALE: _locale,
        Axis.CLOCK: _clock,
        Axis.DIRECTORY_ORDER: _order,
        Axis.CPUS: _cpus,
        Axis.MEMORY: _memory,
        Axis.VARIABLES: _variables,
        Axis.USER: _user,
    }
)
