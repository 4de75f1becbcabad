"""What tests did on each side, those included that do not diverge and of which the artifact has it in its cells alone."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from paritygate.outcomes.artifact import Artifact, Finding, Side
from paritygate.outcomes.cells import Cell, TestId, TestRun
from paritygate.outcomes.words import Purpose

Sides = dict[TestId, tuple[Side, ...]]


def sides_of(artifact: Artifact, findings: Iterable[Finding]) -> Sides:
    """Give the sides of tests: attempts of an environment that ended in the same way are one side, with the first one's words."""
    found = {TestId(each.nodeid, each.occurrence): each.sides for each in findings}
    wanted = {test for test, sides in found.items() if not sides}
    gathered: dict[TestId, dict[tuple[object, ...], Side]] = {}
    for cell in sorted(artifact.cells, key=lambda cell: cell.attempt) if wanted else ():
        for run in cell.tests if cell.purpose is Purpose.GATE else ():
            if run.test in wanted:
                _add(gathered.setdefault(run.test, {}), cell, run)
    places = {record.name: number for number, record in enumerate(artifact.environments)}
    for test, sides in gathered.items():
        found[test] = tuple(sorted(sides.values(), key=lambda side: places.get(side.env, len(places))))
    return found


def words_of(side: Side) -> str:
    """Say what a failure says, with the exception's name where its message does not begin with it; empty for no failure."""
    if side.message.strip().startswith(side.exception):
        return side.message
    return f"{side.exception}: {side.message}".removesuffix(": ")


def _add(sides: dict[tuple[object, ...], Side], cell: Cell, run: TestRun) -> None:
    failure = run.failure
    way = (cell.env, run.outcome, failure.fingerprint if failure is not None else "", run.reason)
    known = sides.get(way)
    attempts = (*(known.attempts if known is not None else ()), cell.attempt)
    sides[way] = msgspec.structs.replace(known or _side(cell, run), attempts=attempts)


def _side(cell: Cell, run: TestRun) -> Side:
    side = Side(env=cell.env, attempts=(), outcome=run.outcome, reason=run.reason)
    failure = run.failure
    if failure is None:
        return side
    return msgspec.structs.replace(
        side,
        file=failure.file,
        line=failure.line,
        source=failure.source,
        exception=failure.exception,
        message=failure.message,
    )
