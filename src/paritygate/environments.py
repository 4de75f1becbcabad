"""Settings made into environments with every axis resolved, and environments into the cells of a gate.

It starts nothing and measures nothing: what the engine and the moment are is handed in.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import msgspec

from paritygate.axes import (
    AUTO,
    Zone,
    choose_zone,
    clock_moment,
    count_workers,
    locale_name,
    memory_bytes,
    share_of_memory,
    umask_bits,
)
from paritygate.config.settings import EnvironmentSettings, Settings
from paritygate.outcomes.artifact import EnvironmentRecord, Varied
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.plans import CellPlan, Environment, Filesystem, Limits, Order, Selection
from paritygate.outcomes.words import Axis, OrderRule, Purpose, Worktree

NO_GIT = "git tracks nothing here, so nothing says what a fresh clone would lack"

CLOCK_LIMITS = (
    "the clock is moved for programs alone: files have their true times, and statically linked programs (as those in Go) and "
    "whatever asks the kernel by itself see the true time"
)

NOBODY_IS_TRUE = (
    "no environment has the true time: a test that compares the times of files, which are true, with the clock may be red in all"
)

OFFERED = tuple(axis for axis in Axis if axis.value in Environment.__struct_fields__)
"""The axes that an environment has a value for in this release."""

EXPECTED = frozenset({Axis.TIMEZONE, Axis.LOCALE, Axis.CASE_SENSITIVE, Axis.WORKERS, Axis.WORKTREE})
"""The axes that people expect to read of, whether they varied or not."""

SECRET = "***"  # noqa: S105 - what stands in place of one
_SECRET = re.compile(r"token|secret|passw|key|credential|auth", re.IGNORECASE)


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What settings do not say: the engine's processors and memory (bytes, 0 unknown), the moment, and the run's likely seconds.

    `subject` stands for what is tested, such as the digests of its trees: seeds that nobody gave follow from it. `shadowed` are
    the paths of each tree that where case does not count are those of others.
    """

    cpus: int
    memory: int
    now: datetime
    estimate_seconds: float
    in_git: bool = True
    subject: str = ""
    shadowed: dict[Worktree, tuple[str, ...]] = {}


class Resolution(msgspec.Struct, frozen=True, kw_only=True):
    """Environments as they will be; `reasons` says of an axis why it cannot vary, `zones` what `auto` came to, by environment."""

    environments: tuple[Environment, ...]
    reasons: dict[Axis, str] = {}
    zones: dict[EnvironmentName, Zone] = {}
    notes: tuple[str, ...] = ()


def resolve(settings: Settings, facts: Facts) -> Resolution:
    """Give every axis of every environment its value."""
    zones = _zones(settings.environments, facts)
    # Beside an environment that folds case, all are on one filesystem, which tells case apart where it need not fold.
    otherwise = True if folds_case(settings.environments.values()) else None
    environments = tuple(
        Environment(
            name=EnvironmentName(name),
            timezone=zones[name].name if name in zones else each.timezone,
            locale=locale_name(each.locale),
            case_sensitive=otherwise if each.case_sensitive == "any" else each.case_sensitive,
            workers=count_workers(each.workers, each.cpus, facts.cpus),
            worktree=each.worktree,
            umask=umask_bits(each.umask),
            directory_order=each.directory_order,
            cpus=each.cpus,
            memory=memory_bytes(each.memory),
            clock=clock_moment(each.clock),
            variables=dict(each.variables),
        )
        for name, each in settings.environments.items()
    )
    reasons = {}
    if not facts.in_git and len({each.worktree for each in environments}) > 1:
        reasons[Axis.WORKTREE] = NO_GIT
    return Resolution(
        environments=environments,
        reasons=reasons,
        zones={EnvironmentName(name): zone for name, zone in zones.items()},
        notes=tuple(note for name, zone in zones.items() for note in _zone_notes(name, zone, _fixed_zone(settings.environments)))
        + tuple(f"{each.name}: {CLOCK_LIMITS}" for each in environments if each.clock)
        + ((NOBODY_IS_TRUE,) if environments and all(each.clock for each in environments) else ())
        + tuple(_processor_note(each, facts.cpus) for each in environments if each.cpus > facts.cpus),
    )


def _zones(environments: Mapping[str, EnvironmentSettings], facts: Facts) -> dict[str, Zone]:
    other = _fixed_zone(environments)
    automatic = [name for name, each in environments.items() if each.timezone == AUTO]
    zones = {name: choose_zone(facts.now, facts.estimate_seconds, other) for name in automatic}
    if own_clocks(environments.values()):  # what the date is hangs on the clocks then, and no waiting changes it
        return {name: msgspec.structs.replace(zone, whole=True, wait=0.0) for name, zone in zones.items()}
    return zones


def _fixed_zone(environments: Mapping[str, EnvironmentSettings]) -> str:
    """Say which zone `auto` is to differ from: the first that is given, UTC where none is."""
    return next((each.timezone for each in environments.values() if each.timezone != AUTO), "UTC")


def _zone_notes(name: str, zone: Zone, other: str) -> tuple[str, ...]:
    if zone.whole:
        return ()
    until = f"until {zone.differs_until:%H:%M} UTC" if zone.sign else "not at all"
    note = f"no time zone has another date than `{other}` during the whole run: in {name} `{zone.name}` differs {until}"
    return (f"{note}; in {zone.wait / 60:.0f} min one would" if zone.wait else note,)


def _processor_note(environment: Environment, processors: int) -> str:
    return f"{environment.name} asks for {environment.cpus:g} processors, and the engine has {processors}"


def explain(rows: Sequence[Varied], reasons: Mapping[Axis, str]) -> tuple[Varied, ...]:
    """Let what is known of an axis beforehand go over what comparing values, trees and probes has found."""
    return tuple(Varied(axis=row.axis, varied=False, why=reasons[row.axis]) if row.axis in reasons else row for row in rows)


def record(environment: Environment, image: str = "") -> EnvironmentRecord:
    """Say an environment for the artifact; the values of variables that sound secret are not in it."""
    shown = without_secrets(environment)
    return EnvironmentRecord(name=environment.name, axes={axis: shown.value(axis) for axis in OFFERED}, image=image)


def without_secrets(environment: Environment) -> Environment:
    """Put stars in place of the values of variables that sound secret."""
    names = secret_variables(environment)
    shown = {name: SECRET if name in names else value for name, value in environment.variables.items()}
    return msgspec.structs.replace(environment, variables=shown)


def secret_variables(environment: Environment) -> tuple[str, ...]:
    """Name the variables that sound secret."""
    return tuple(name for name in environment.variables if _SECRET.search(name))


def hybrid(first: Environment, second: Environment, from_second: Sequence[Axis], name: str) -> Environment:
    """Make an environment of two: the axes named from the second, all others from the first."""
    for axis in from_second:
        if axis not in OFFERED:
            raise ValueError(f"`{axis}` is not an axis that an environment has a value for")
    taken = {axis.value: getattr(second, axis.value) for axis in from_second}
    return msgspec.structs.replace(first, name=EnvironmentName(name), **taken)


def folds_case(environments: Iterable[Environment | EnvironmentSettings]) -> bool:
    """Say whether case does not count in one of them."""
    return any(each.case_sensitive is False for each in environments)


def own_filesystem(environments: Iterable[Environment | EnvironmentSettings]) -> bool:
    """Say whether cells need a filesystem of their own: one of them for all, so that nothing differs but what is to differ."""
    return any(each.case_sensitive is False or each.directory_order for each in environments)


def own_clocks(environments: Iterable[Environment | EnvironmentSettings]) -> bool:
    """Say whether cells need a clock of their own: all of them, so that nothing differs but what it shows."""
    return any(each.clock for each in environments)


def filesystem_of(
    environment: Environment, environments: Iterable[Environment], shadowed: Mapping[Worktree, tuple[str, ...]], seed: int
) -> Filesystem | None:
    """Say what filesystem a cell has; all attempts have the same order of names, or it would look like chance."""
    if not own_filesystem(environments):
        return None
    fold = environment.case_sensitive is False
    return Filesystem(
        fold=fold,
        order=environment.directory_order,
        seed=seed if environment.directory_order else 0,
        shadowed=shadowed.get(environment.worktree, ()) if fold else (),
    )


def seed_of(settings: Settings, subject: str, attempt: int) -> int:
    """Say an attempt's seed: as it is given, else derived from the last one given, or from what is tested.

    So the same tree is judged by the same seeds, and a red gate cannot be run again until it is green; another tree has others.
    """
    if attempt <= len(settings.seeds):
        return settings.seeds[attempt - 1]
    origin = f"seed {settings.seeds[-1]}" if settings.seeds else f"subject {subject}"
    digest = hashlib.blake2b(f"{origin}\n{attempt}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big")


def order_of(settings: Settings, subject: str, attempt: int) -> Order:
    """Say an attempt's order: attempts 2k-1 and 2k share a seed, the second reversed, unless each is to have its own."""
    if settings.order is OrderRule.SEEDED:
        return Order(seed=seed_of(settings, subject, attempt))
    first_of_pair = attempt - (attempt + 1) % 2
    return Order(seed=seed_of(settings, subject, first_of_pair), reversed=attempt % 2 == 0)


def weight(plan: CellPlan) -> int:
    """Say how many processors a cell keeps busy."""
    return max(1, plan.environment.workers)


def slots(plans: Sequence[CellPlan], cpus: int) -> int:
    """Say how many of these cells may run side by side at most.

    Together they keep no more processors busy than there are, or than the heaviest does alone.
    """
    weights = sorted(weight(plan) for plan in plans)
    room = max([cpus, *weights])
    return sum(1 for total in itertools.accumulate(weights) if total <= room)


def limits_of(settings: Settings, environment: Environment, share: int) -> Limits:
    """Say what bounds a cell; its memory is its own, else that of the settings, else its share of the engine's, in bytes."""
    return Limits(
        cell_seconds=settings.cell_timeout,
        test_seconds=settings.test_timeout,
        idle_seconds=settings.idle_timeout,
        processes=settings.processes,
        memory=environment.memory or memory_bytes(settings.memory) or share,
        shared_memory=memory_bytes(settings.shared_memory),
        open_files=settings.open_files,
    )


def gate_plans(
    environments: Sequence[Environment],
    settings: Settings,
    selections: Mapping[EnvironmentName, Selection],
    facts: Facts,
) -> tuple[CellPlan, ...]:
    """Plan the cells of a gate, environment by environment; attempt k has the same seed and order in each."""
    plans = tuple(
        CellPlan(
            environment=each,
            attempt=attempt,
            seed=seed_of(settings, facts.subject, attempt),
            order=order_of(settings, facts.subject, attempt),
            purpose=Purpose.GATE,
            selection=selections.get(each.name, Selection()),
            limits=limits_of(settings, each, 0),
            network=settings.network,
            filesystem=filesystem_of(each, environments, facts.shadowed, seed_of(settings, facts.subject, 1)),
            clocks=own_clocks(environments),
        )
        for each in environments
        for attempt in range(1, settings.attempts + 1)
    )
    share = share_of_memory(facts.memory, slots(plans, facts.cpus))
    return tuple(msgspec.structs.replace(plan, limits=limits_of(settings, plan.environment, share)) for plan in plans)
