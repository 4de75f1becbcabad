"""One cell of the gate, exactly as a whole run would run it, for a job of its own; the verdict is left to who has them all."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import msgspec

from paritygate import archive, environments
from paritygate.archive import CellFile
from paritygate.axes import near_miss
from paritygate.config.settings import USUAL_REPORT, Settings
from paritygate.errors import UnrecordedError, UsageError
from paritygate.gate import locking, material, misuse, pins, result, sharding
from paritygate.gate.beginning import Begun, begin
from paritygate.gate.cells import Cells
from paritygate.gate.grounds import choosing
from paritygate.gate.grounds.choosing import Grounds
from paritygate.gate.grounds.parts import Trees
from paritygate.gate.material import Planned
from paritygate.gate.request import Request, World
from paritygate.gate.settled import Settled, settle
from paritygate.host import lacking
from paritygate.outcomes.artifact import SCHEMA
from paritygate.outcomes.cells import Cell, EnvironmentName, Shard
from paritygate.outcomes.plans import CellPlan, Selection
from paritygate.outcomes.words import RunnerChoice


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which cell is asked for, with what a whole run knows by itself.

    `at` is the moment for which zones are chosen, None for now: the jobs of one matrix do not begin together. `shard` is the part
    that is to run, split by what tests took in the report `durations`.
    """

    env: str
    attempt: int
    at: datetime | None = None
    shard: Shard | None = None
    durations: Path | None = None


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """The cell as it ended, and where it was written; `unrecorded` says why it could not be."""

    cell: Cell
    path: Path
    unrecorded: UnrecordedError | None = None


def run(request: Request, wanted: Wanted, world: World) -> Done:
    """Run one cell and write it to the request's report; raises what a whole run raises where it cannot begin."""
    gate = settle(request, world)
    settled = beside_ssh(with_attempts(gate, wanted), world)
    taken = {} if wanted.shard is None else _durations(wanted, settled)
    begun = begin(settled, request, world)
    part = _shared(begun.asked, wanted, begun.trees, taken)
    with choosing.found(settled, world, wanted.env) as grounds:
        file = _run_on(grounds, begun, part, wanted, world)
        file = msgspec.structs.replace(file, planned=planned_by(gate.settings))
        unrecorded = archive.record(file, settled.report)
        grounds.tidy(world)
    return Done(cell=file.cells[0], path=settled.report, unrecorded=unrecorded)


def beside_ssh(settled: Settled, world: World) -> Settled:
    """Vary no more of case than a whole run does where some environments are over ssh: this job need not be one of those."""
    every = settled.settings.environments
    if RunnerChoice.SSH not in {RunnerChoice(each.runner or settled.settings.runner) for each in every.values()}:
        return settled
    held = lacking.case(every, "no filesystem that folds case can be had over ssh")
    for axis, each in held.items():
        world.say(f"not varied: {axis}: {each.why}")
    settings = msgspec.structs.replace(settled.settings, environments=lacking.hold(every, held))
    return msgspec.structs.replace(settled, settings=settings)


def planned_by(settings: Settings) -> dict[EnvironmentName, int]:
    """Say how many attempts each environment of the gate is to have: whoever has fewer cells knows that some are missing."""
    return {EnvironmentName(name): settings.attempts for name in settings.environments}


def _run_on(grounds: Grounds, begun: Begun, part: Selection, wanted: Wanted, world: World) -> CellFile:
    settled, trees, asked = begun.settled, begun.trees, begun.asked
    ready = grounds.prepare(settled, trees, world)
    moment = world if wanted.at is None else msgspec.structs.replace(world, now=lambda: wanted.at)
    planned = material.plan(ready.settled, trees, part, ready.machine, moment)
    planned = locking.with_locked(pins.respected(planned, begun.request), begun.locked, trees)
    plan = _chosen(planned, wanted)
    cells = Cells(ready.pool, planned.nothing, world, ready.runners)
    ran = cells.run((plan,))
    misuse.check(asked, ran)
    cell = cells.again_without_killers((plan,), ran)[0]
    if part.share is not None:
        cell = msgspec.structs.replace(cell, shards=(sharding.described(part.share),))

    made = result.Made(ready=ready, trees=trees, asked=asked, planned=planned, changed=begun.changed)
    image = ready.images.get(plan.environment.name)
    record = environments.record(plan.environment, "" if image is None else image.name)
    return CellFile(
        schema=SCHEMA,
        paritygate=world.version,
        subject=result.subject(made),
        cells=(cell,),
        environments=(record,),
        seeds=tuple(each.seed for each in planned.plans if each.environment.name == wanted.env),
    )


def with_attempts(settled: Settled, wanted: Wanted) -> Settled:
    """Plan as many attempts as it takes to have the one that is asked for; raises `UsageError` for an unknown environment."""
    names = settled.settings.environments
    if wanted.env not in names:
        known = ", ".join(f"`{name}`" for name in names)
        raise UsageError(f"there is no environment `{wanted.env}`{near_miss(wanted.env, frozenset(names))}", f"there are {known}")
    attempts = max(settled.settings.attempts, wanted.attempt)
    return msgspec.structs.replace(settled, settings=msgspec.structs.replace(settled.settings, attempts=attempts))


def _durations(wanted: Wanted, settled: Settled) -> dict[str, float]:
    """Take what is named, else the report of the project's last run, if there is one."""
    if wanted.durations is not None:
        return sharding.durations(wanted.durations)
    last = settled.project / USUAL_REPORT
    return sharding.durations(last) if last.is_file() and last != settled.report else {}


def _shared(asked: Selection, wanted: Wanted, trees: Trees, taken: dict[str, float]) -> Selection:
    if wanted.shard is None:
        return asked
    return msgspec.structs.replace(asked, share=sharding.share(wanted.shard, asked, trees, taken))


def _chosen(planned: Planned, wanted: Wanted) -> CellPlan:
    return next(plan for plan in planned.plans if (plan.environment.name, plan.attempt) == (wanted.env, wanted.attempt))
