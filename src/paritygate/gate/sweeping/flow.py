"""A sweep from a working tree to an artifact and an exit code; its steps are those of the gate, over other environments."""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec

from paritygate import archive
from paritygate.classifier import labels
from paritygate.config.settings import SERVER_LIKE, EnvironmentSettings
from paritygate.confirm.flow import confirm
from paritygate.environments import CLOCK_LIMITS, NOBODY_IS_TRUE, Facts, Resolution, gate_plans
from paritygate.errors import NoVerdictError
from paritygate.gate import locking, material, misuse, pins, result
from paritygate.gate.beginning import Begun, begin
from paritygate.gate.cells import Cells
from paritygate.gate.grounds import choosing
from paritygate.gate.grounds.choosing import Grounds
from paritygate.gate.material import Planned
from paritygate.gate.request import Report, Request, Stopwatch, World
from paritygate.gate.settled import Settled, settle
from paritygate.gate.sweeping import conclusion, rounds, values
from paritygate.gate.sweeping.conclusion import Conclusion
from paritygate.gate.sweeping.request import Wanted
from paritygate.gate.sweeping.rounds import Over, Ran
from paritygate.gate.sweeping.values import Breadth
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.words import Axis, RunnerName
from paritygate.runners.pool import Pool
from paritygate.witnesses.values import locale_of

HINT = "sweep another axis, other values, or on another engine; `paritygate doctor` says what this one offers"
ATTEMPTS = 2
"""Under values that part from the rest; all others have one."""


def run(request: Request, wanted: Wanted, world: World) -> Report:
    """Run a sweep and write its artifact; raises what a gate raises where it cannot begin."""
    watch = Stopwatch(world.monotonic)
    settled = held(settle(request, world), wanted)
    begun = begin(settled, request, world)
    watch.lap("snapshot")
    with choosing.found(settled, world) as grounds:
        return _judge(begun, grounds, wanted, world, watch)


def held(settled: Settled, wanted: Wanted) -> Settled:
    """Keep the first environment alone, and say what images need for values that no environment has."""
    name, first = next(iter(settled.settings.environments.items()))
    locales = tuple(locale_of(each.value) for each in wanted.witnesses(settled).get(Axis.LOCALE, ()))
    return msgspec.structs.replace(
        settled,
        settings=msgspec.structs.replace(settled.settings, environments={name: first}, attempts=ATTEMPTS),
        spare=spare(settled.settings.environments),
        locales=locales,
        own_filesystem=Axis.DIRECTORY_ORDER in wanted.axes,
        clocks=Axis.CLOCK in wanted.axes,
    )


def spare(environments: Mapping[str, EnvironmentSettings]) -> dict[str, EnvironmentSettings]:
    """Say what the first environment would be with the time zone and locale of another one, or with those that servers have.

    The last that can be had is taken, so the next environment comes last.
    """
    (_, first), *others = environments.items()
    last_resort = {"": msgspec.structs.replace(first, timezone=SERVER_LIKE.timezone, locale=SERVER_LIKE.locale)}
    return last_resort | {
        name: msgspec.structs.replace(first, timezone=each.timezone, locale=each.locale) for name, each in reversed(others)
    }


def _judge(begun: Begun, grounds: Grounds, wanted: Wanted, world: World, watch: Stopwatch) -> Report:
    request, settled, trees, asked = begun.request, begun.settled, begun.trees, begun.asked
    ready = grounds.prepare(settled, trees, world)
    check_movable(ready.runners, settled)
    watch.lap("images")

    base = material.plan(ready.settled, trees, asked, ready.machine, world)
    spread = values.spread(base.resolution.environments[0], wanted.witnesses(settled), ready.machine)
    facts = material.facts_of(trees, ready.machine, world, settled.estimate)
    planned = pins.respected(locking.with_locked(planned_over(spread, base, settled, facts), begun.locked, trees), request)
    cells = Cells(everywhere(ready.pool, base, world), planned.nothing, world)
    made = result.Made(ready=conclusion.for_all(ready, spread), trees=trees, asked=asked, planned=planned, changed=begun.changed)
    concluded = Conclusion(made=made, frozen=begun.frozen, spread=spread, cells=cells, watch=watch, world=world)
    with concluded.kept_if_interrupted():
        ran = rounds.run(spread, planned.plans, cells, world, until(wanted.seconds, world))
        check_proven(ran, spread)
        misuse.check(asked, ran.cells)
        watch.lap("cells")

        confirmation = confirm(labels.label(ran.cells), ran.cells, planned.plans, cells.confirm)
        watch.lap("confirm")

    artifact = concluded.artifact(ran, confirmation)
    unrecorded = archive.record(artifact, settled.report)
    grounds.tidy(world)
    return Report(artifact, settled.report, unrecorded)


def check_movable(runners: Mapping[EnvironmentName, RunnerName], settled: Settled) -> None:
    """Raise `NoVerdictError` where clocks are to be swept over and cells are none of an engine: nothing could move theirs."""
    for name, runner in runners.items():
        if settled.clocks and runner is not RunnerName.DOCKER:
            raise NoVerdictError(
                f"the clock cannot be swept over in `{name}`: what moves the clock of programs is in images alone",
                "use Docker, or sweep other axes",
            )


def everywhere(pool: Pool, base: Planned, world: World) -> Pool:
    """Let the places of the first environment take the cells of every value, which are all made of it."""
    members = (member for member in pool.members if member.takes(base.plans[0]))
    return Pool([msgspec.structs.replace(member, environments=None) for member in members], world.say)


def until(seconds: float | None, world: World) -> Over:
    """Begin to count the time that there is; without a limit there always is."""
    end = world.monotonic() + (math.inf if seconds is None else seconds)
    return lambda: world.monotonic() >= end


def planned_over(spread: Breadth, base: Planned, settled: Settled, facts: Facts) -> Planned:
    """Plan the cells of every value, for the selection that the first environment has."""
    chosen = base.plans[0].selection
    swept = {each.axis for each in spread.axes}
    plans = gate_plans(spread.environments, settled.settings, {each.name: chosen for each in spread.environments}, facts)
    resolution = Resolution(
        environments=spread.environments,
        reasons=base.resolution.reasons,
        notes=(*(() if Axis.TIMEZONE in swept else base.resolution.notes), *clock_notes(spread)),
    )
    return msgspec.structs.replace(base, plans=plans, resolution=resolution)


def clock_notes(spread: Breadth) -> tuple[str, ...]:
    """Say what a moved clock is not, where the clock is swept over."""
    if all(each.axis is not Axis.CLOCK for each in spread.axes):
        return ()
    return (CLOCK_LIMITS, *((NOBODY_IS_TRUE,) if all(each.clock for each in spread.environments) else ()))


def check_proven(ran: Ran, spread: Breadth) -> None:
    """Raise `NoVerdictError` where no value was proven: then there is nothing to compare, and one reason is enough."""
    if ran.cells or not ran.problems:
        return
    (axis, env), why = next(iter(ran.problems.items()))
    value = next(each.value for swept in spread.axes for each in swept.values if each.env == env and swept.axis is axis)
    raise NoVerdictError(f"no value can be proven here, `{value}` of {axis} first: {why}", HINT)
