"""Tries in a container whether cells can have a filesystem that folds case: runs one that has it and no tests.

It judges nothing: which way there is, what that does and what is in the way are said in lines.
"""

from __future__ import annotations

import msgspec

from paritygate.case_folding import explain, failure_in
from paritygate.docker_engine.requests import EngineInfo
from paritygate.docker_engine.verbs import Engine
from paritygate.outcomes.cells import Cell, EnvironmentName
from paritygate.outcomes.plans import CellPlan, Environment, Filesystem, Limits, Order, Selection
from paritygate.outcomes.words import CellStatus, Purpose, Worktree
from paritygate.runners.docker import CellImage, DockerRunner

SECONDS = 60.0
WAYS = {"casefs": "the daemon casefs", "kernel": "the kernel itself"}
_UNFIT = frozenset({CellStatus.UNUSABLE, CellStatus.ENVIRONMENT_MISMATCH})
HABITS = {"folds": "folds", "keeps": "keeps", "fresh": "fresh", "renames_case": "renames case"}


class Shown(msgspec.Struct, frozen=True):
    """What a trial has shown, as lines, and whether case can vary."""

    lines: tuple[str, ...]
    varies: bool


def run(engine: Engine, image: str) -> Shown:
    """Run a cell without tests on an environment's image that holds the daemon, and say what that shows."""
    cell = DockerRunner(engine, lambda _plan: CellImage(image)).run(a_plan(), lambda _progress: None)
    return shown_by(cell, engine.info)


def a_plan() -> CellPlan:
    """Plan a cell that is to fold case, and has no tests."""
    environment = Environment(
        name=EnvironmentName("trial"),
        timezone="UTC",
        locale="C.UTF-8",
        case_sensitive=False,
        workers=0,
        worktree=Worktree.CLEAN,
    )
    return CellPlan(
        environment=environment,
        attempt=1,
        seed=0,
        order=Order(seed=0),
        purpose=Purpose.GATE,
        selection=Selection(),
        limits=Limits(cell_seconds=SECONDS, test_seconds=SECONDS, idle_seconds=SECONDS),
        filesystem=Filesystem(fold=True),
    )


def shown_by(cell: Cell, info: EngineInfo) -> Shown:
    """Say what a cell that was to fold case shows of the engine that it ran on.

    | the cell | what is said |
    |---|---|
    | has the daemon's filesystem | that case can vary, and the habits that the probe found in all three folders |
    | has the kernel's | the same, what it cannot do, and why it is not the daemon's |
    | has none, or one that is not as it should be | why, and what to do |
    """
    found, probe = cell.filesystem, cell.probe
    if found is None or probe is None or cell.status in _UNFIT:
        advice = explain(failure_in(cell.detail), rootless=info.rootless, security=info.security)
        said = cell.detail or cell.status.value
        return Shown((f"cannot vary: {advice.what}", f"it said: {said}", f"hint: {advice.hint}"), varies=False)
    habits = [word for name, word in HABITS.items() if all(each.get(name) for each in probe.case.values())]
    first = f"can vary, by {WAYS[found.way]} (Unicode {found.unicode}; probe: {', '.join(habits)})"
    if found.case_rename:
        return Shown((first,), varies=True)
    advice = explain(failure_in(found.instead_of), rootless=info.rootless, security=info.security)
    lacking = "a rename that changes case alone does nothing there; the daemon casefs, which can do it, cannot run"
    return Shown((first, f"{lacking}: {advice.what}", *([f"hint: {advice.now}"] if advice.now else [])), varies=True)
