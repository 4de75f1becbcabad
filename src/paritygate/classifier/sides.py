"""What a test that diverges did in one environment, beside what it did in the others: the failing line and both sides' values.

It says only what the gate's cells have recorded; of a test that passed nobody recorded any values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from paritygate.outcomes.artifact import Finding, Side
from paritygate.outcomes.cells import Cell, EnvironmentName, TestId, TestRun
from paritygate.outcomes.words import Label, Outcome, Purpose

DIVERGENT = frozenset({Label.COUPLING, Label.NONDETERMINISM, Label.NONDETERMINISM_EVERYWHERE})

Runs = dict[EnvironmentName, dict[int, TestRun | None]]


def laid_side_by_side(findings: Sequence[Finding], cells: Iterable[Cell]) -> tuple[Finding, ...]:
    """Give every finding that diverges its sides, environment by environment as the outcomes have them.

    Attempts that failed in the same way, by exception and place, are one side, with the values of the first of them.
    """
    wanted = {TestId(each.nodeid, each.occurrence) for each in findings if each.label in DIVERGENT}
    if not wanted:
        return tuple(findings)
    runs: dict[TestId, Runs] = {test: {} for test in wanted}
    for cell in sorted(cells, key=lambda cell: cell.attempt):
        if cell.purpose is Purpose.GATE:
            for told in runs.values():
                told.setdefault(cell.env, {})[cell.attempt] = None
            for run in cell.tests:
                if run.test in wanted:
                    runs[run.test][cell.env][cell.attempt] = run
    return tuple(
        msgspec.structs.replace(each, sides=_sides(each, runs[test])) if test in wanted else each
        for each, test in ((each, TestId(each.nodeid, each.occurrence)) for each in findings)
    )


def _sides(finding: Finding, runs: Runs) -> tuple[Side, ...]:
    found: dict[tuple[object, ...], Side] = {}
    for env, outcomes in finding.outcomes.items():
        for (attempt, run), outcome in zip(runs.get(env, {}).items(), outcomes, strict=False):
            # What a file's own record says of all its tests, or none at all, is in the outcome alone.
            one = _side(env, attempt, run) if run is not None and run.outcome is outcome else _bare(env, attempt, outcome)
            kind = (env, outcome, run.failure.fingerprint if run is not None and run.failure is not None else "", one.reason)
            known = found.setdefault(kind, one)
            if known is not one:
                found[kind] = msgspec.structs.replace(known, attempts=(*known.attempts, attempt))
    return tuple(found.values())


def _bare(env: EnvironmentName, attempt: int, outcome: Outcome) -> Side:
    return Side(env=env, attempts=(attempt,), outcome=outcome)


def _side(env: EnvironmentName, attempt: int, run: TestRun) -> Side:
    failure = run.failure
    if failure is None:
        return Side(env=env, attempts=(attempt,), outcome=run.outcome, reason=run.reason)
    return Side(
        env=env,
        attempts=(attempt,),
        outcome=run.outcome,
        file=failure.file,
        line=failure.line,
        source=failure.source,
        exception=failure.exception,
        message=failure.message,
        reason=run.reason,
    )
