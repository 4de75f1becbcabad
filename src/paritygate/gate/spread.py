"""What is said of a run that had several engines: where its cells ran, which engine was lost, what goes with the engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from paritygate.classifier.sides import DIVERGENT
from paritygate.outcomes.artifact import EngineRecord, Finding
from paritygate.outcomes.cells import Cell, TestId
from paritygate.outcomes.words import Outcome
from paritygate.runners.pool import Loss


def with_losses(engines: Sequence[EngineRecord], lost: Mapping[str, Loss]) -> tuple[EngineRecord, ...]:
    """Say of each engine whether it was lost, since when, and which cells it did not end."""
    return tuple(
        each
        if (loss := lost.get(each.name)) is None
        else msgspec.structs.replace(each, lost=loss.since.isoformat(timespec="seconds"), moved=loss.cells)
        for each in engines
    )


def remarks(engines: Sequence[EngineRecord], cells: Iterable[Cell]) -> Iterator[str]:
    """Say how the cells were spread, and what became of the engines that were lost."""
    if not engines:
        return
    ran: dict[str, int] = {}
    where: dict[str, str] = {}
    for cell in cells:
        ran[cell.engine] = ran.get(cell.engine, 0) + 1
        where[f"{cell.env}-{cell.attempt}"] = cell.engine
    spread = ", ".join(f"{ran.get(each.name, 0)} on `{each.name}` ({each.platform}, {each.version})" for each in engines)
    yield f"cells ran on {len(engines)} engines: {spread}"
    for each in engines:
        if each.lost:
            yield f"the engine `{each.name}` was lost at {each.lost}: {_moved(each, where)}"


def _moved(engine: EngineRecord, where: Mapping[str, str]) -> str:
    """Say of the cells that an engine did not end where they ran in the end."""
    anew = [f"{name} (on `{where[name]}`)" for name in engine.moved if where.get(name) not in {None, "", engine.name}]
    never = [name for name in engine.moved if where.get(name) in {"", engine.name}]
    said = [f"{', '.join(anew)} started anew"] if anew else []
    said += [f"{', '.join(never)} did not come to an end"] if never else []
    return "; ".join(said) or "nothing else ran on it"


def going_with_engines(findings: Iterable[Finding], cells: Iterable[Cell]) -> Iterator[str]:
    """Remark tests that diverge and did one thing on each engine, whatever the environment: the engines may be why."""
    divergent = {TestId(each.nodeid, each.occurrence) for each in findings if each.label in DIVERGENT}
    did: dict[TestId, dict[str, set[Outcome]]] = {}
    for cell in cells:
        for run in cell.tests:
            if cell.engine and run.test in divergent:
                did.setdefault(run.test, {}).setdefault(cell.engine, set()).add(run.outcome)
    for test, on in did.items():
        sole = {engine: next(iter(outcomes)) for engine, outcomes in on.items() if len(outcomes) == 1}
        if len(sole) == len(on) and len(set(sole.values())) > 1:
            said = " and ".join(f"always {outcome} on `{engine}`" for engine, outcome in sorted(sole.items()))
            yield f"`{test.nodeid}` {said}: it may depend on the computer rather than on chance or an axis"
