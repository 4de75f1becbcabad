"""What a run would do, said without running: cells, environments, axes, images to be made, and for how long by the last report.

An engine is asked what it is and has; nothing is made, started, sent or removed.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from pathlib import Path

import msgspec

from paritygate import environments, project_images
from paritygate.docker_engine.verbs import Engine
from paritygate.environments import EXPECTED, OFFERED
from paritygate.errors import EngineUnavailableError
from paritygate.gate import material
from paritygate.gate.beginning import begin
from paritygate.gate.grounds import engines
from paritygate.gate.grounds.parts import Machine, Trees
from paritygate.gate.grounds.ssh import target_of
from paritygate.gate.material import Planned
from paritygate.gate.request import Request, World
from paritygate.gate.settled import Settled, settle
from paritygate.host import lacking
from paritygate.host.lacking import Held, hold
from paritygate.images import foreseeing
from paritygate.images.foreseeing import Layer
from paritygate.images.layers import PrepareRequest
from paritygate.outcomes.artifact import EnvironmentRecord
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import Axis, RunnerChoice, RunnerName, Worktree
from paritygate.selection import words_of

SAME_TREE = "the working tree is what a fresh clone would hold"
UNKNOWN_THERE = "what `{target}` offers is not asked before a run"


class PlannedCell(msgspec.Struct, frozen=True, kw_only=True):
    """One cell: its seed and order, and how many seconds it took the last time, None where nobody knows."""

    name: str
    runner: str
    seed: int
    reversed: bool
    workers: int
    seconds: float | None = None


class ToVary(msgspec.Struct, frozen=True, kw_only=True):
    """Whether an axis is meant to vary, and why not; only cells can tell whether it does."""

    axis: Axis
    varied: bool
    why: str = ""


class Foreseen(msgspec.Struct, frozen=True, kw_only=True):
    """What would run. `trees` are the files of each state of the working tree, `images` those that cells would start from.

    `seconds` are those of the last report's steps, where that was like this one; `notes` what a run would remark beforehand.
    """

    project: str
    source: str
    selection: tuple[str, ...]
    places: tuple[str, ...]
    cells: tuple[PlannedCell, ...]
    environments: tuple[EnvironmentRecord, ...]
    axes: tuple[ToVary, ...]
    trees: dict[str, int]
    images: tuple[Layer, ...] = ()
    seconds: dict[str, float] = {}
    notes: tuple[str, ...] = ()
    report: str = ""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where cells would run: the engine, if there is one, what it is in a line, and what it has."""

    line: str
    machine: Machine
    engine: Engine | None = None


def foresee(request: Request, world: World) -> Foreseen:
    """Plan a run as `flow.run` does, up to its first step that changes anything; raises what that raises until there."""
    settled = settle(request, world)
    notes: list[str] = []
    quiet = msgspec.structs.replace(world, say=notes.append, sleep=lambda _seconds: None)
    begun = begin(settled, request, quiet)
    trees, asked = begun.trees, begun.asked
    places, runners = find_places(settled, world)
    held = _held(settled, runners, world)
    environments_then = hold(settled.settings.environments, held)
    settled = msgspec.structs.replace(settled, settings=msgspec.structs.replace(settled.settings, environments=environments_then))
    machine = next(iter(places.values())).machine
    planned = material.plan(settled, trees, asked, machine, quiet)
    records = tuple(environments.record(each) for each in planned.resolution.environments)
    selected = words_of(asked)
    known = settled.last.seconds_of(selected, runners)
    engine = next((place.engine for place in places.values() if place.engine is not None), None)
    return Foreseen(
        project=str(settled.project),
        source=settled.source,
        selection=selected,
        places=tuple(place.line for place in places.values()),
        cells=tuple(_cell(plan, runners, known) for plan in planned.plans),
        environments=records,
        axes=tuple(_axes(records, planned, trees, settled, {axis: each.why for axis, each in held.items()})),
        trees={state.value: len(one.entries) for state, one in trees.items()},
        images=() if engine is None else tuple(foreseeing.layers(engine, _images(settled, trees, world))),
        seconds=settled.last.timings if known else {},
        notes=tuple(dict.fromkeys((*settled.notes, *notes, *planned.resolution.notes))),
        report=str(settled.report),
    )


def find_places(settled: Settled, world: World) -> tuple[dict[RunnerName, Place], dict[EnvironmentName, RunnerName]]:
    """Find where the cells of each environment would run; raises `NoVerdictError` where no engine answers that has to."""
    found: dict[RunnerChoice, tuple[RunnerName, Place]] = {}
    runners: dict[EnvironmentName, RunnerName] = {}
    for name, each in settled.settings.environments.items():
        choice = RunnerChoice(each.runner or settled.settings.runner)
        if choice not in found:
            found[choice] = _place(choice, settled, world)
        runners[EnvironmentName(name)] = found[choice][0]
    return dict(found.values()), runners


def _place(choice: RunnerChoice, settled: Settled, world: World) -> tuple[RunnerName, Place]:
    match choice:
        case RunnerChoice.DOCKER:
            return RunnerName.DOCKER, _engines(settled, world)
        case RunnerChoice.HOST:
            return RunnerName.HOST, _host("")
        case RunnerChoice.SSH:
            target = target_of(settled, world.variables)
            here = _host("").machine
            return RunnerName.SSH, Place(line=f"ssh {target}: {UNKNOWN_THERE.format(target=target)}", machine=here)
        case RunnerChoice.AUTO:
            try:
                return RunnerName.DOCKER, _engines(settled, world)
            except EngineUnavailableError as error:
                if error.named or world.variables.get("CI"):
                    raise
                return RunnerName.HOST, _host(", since no engine answers")


def _engines(settled: Settled, world: World) -> Place:
    """Find the engines of a run; images are asked of the first, which makes them."""
    served = engines.find(settled, world, "", greet=lambda _engine: None).served
    lines = (f"{each.record.version} at {each.record.url}, {each.record.cpus} processors" for each in served)
    machine = engines.machine([each.engine.info for each in served])
    return Place(line="; ".join(lines), machine=machine, engine=served[0].engine)


def _host(why: str) -> Place:
    processors = os.cpu_count() or 1
    machine = Machine(name="host", version=platform.release(), platform=platform.machine(), cpus=processors, memory=0)
    return Place(line=f"this computer itself{why}, {processors} processors", machine=machine)


def _images(settled: Settled, trees: Trees, world: World) -> PrepareRequest:
    some = next(iter(trees.values()))
    return project_images.wanted(settled.project, Path(some.root), some.directory, settled.settings, world.variables)


def _cell(plan: CellPlan, runners: dict[EnvironmentName, RunnerName], known: dict[str, float]) -> PlannedCell:
    return PlannedCell(
        name=plan.name,
        runner=runners[plan.environment.name],
        seed=plan.seed,
        reversed=plan.order.reversed,
        workers=plan.environment.workers,
        seconds=known.get(plan.name),
    )


def _held(settled: Settled, runners: dict[EnvironmentName, RunnerName], world: World) -> dict[Axis, Held]:
    """Say which axes cannot vary because of where cells run, as far as that is known without asking there."""
    every = settled.settings.environments
    held = lacking.clock(every) if set(runners.values()) - {RunnerName.DOCKER} else {}
    if RunnerName.SSH in runners.values():
        held |= lacking.case(every, lacking.NO_FOLDING.format(target=target_of(settled, world.variables)))
    return held


def _axes(
    records: tuple[EnvironmentRecord, ...], planned: Planned, trees: Trees, settled: Settled, held: dict[Axis, str]
) -> Iterator[ToVary]:
    """Say which axes are to vary, as far as that is known before the cells have measured themselves."""
    alike = len({one.digest for one in trees.values()}) == 1
    for axis in OFFERED:
        differs = len({record.axes[axis] for record in records}) > 1
        why = held.get(axis, "") or planned.resolution.reasons.get(axis, "")
        if axis is Axis.WORKTREE and differs and not why and alike and Worktree.CLEAN in trees:
            why = SAME_TREE
        if differs and not why:
            yield ToVary(axis=axis, varied=True)
        elif axis in EXPECTED or why or axis in settled.left_out:
            left_out = (
                f"left out by `--without-axis {axis}`" if axis in settled.left_out else "every environment has the same value"
            )
            yield ToVary(axis=axis, varied=False, why=why or left_out)
