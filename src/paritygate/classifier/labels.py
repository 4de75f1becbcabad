"""Says of each test what its outcomes mean together: the table of labels.

Looks at nothing but cells; does not know why they were run or what follows for a merge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby

import msgspec

from paritygate.classifier import clocks, memory
from paritygate.classifier.drifting import drifting
from paritygate.classifier.evidence import noted
from paritygate.classifier.grid import Row, observe, stands_for_many
from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.cells import Cell, EnvironmentName, NodeId, TestId, TestRun
from paritygate.outcomes.words import CellStatus, Label, Outcome, Purpose

FAILURES_DIFFER = "the failures differ"
UNSTABLE = frozenset({Label.NONDETERMINISM, Label.NONDETERMINISM_EVERYWHERE})
DRIFTS = "the id changes at every collection: give the parameters ids"


class Columns(msgspec.Struct, frozen=True):
    """Which cells, from `start` to before `stop`, belong to an environment."""

    env: EnvironmentName
    start: int
    stop: int


class Pattern(msgspec.Struct, frozen=True):
    """A label with the outcomes that it follows from; a large suite has few, and all findings of one share it."""

    label: Label
    outcomes: dict[EnvironmentName, tuple[Outcome, ...]]


def label_of(outcomes: Iterable[Sequence[Outcome]]) -> Label:
    """Label a test by its outcomes, given for each environment attempt by attempt.

    An environment is *stable* when all attempts whose outcome is known agree, and outcomes agree only when they are the same
    word: `passed` and `skipped` do not, nor do `failed` and `timed_out`. The first line that fits counts:

    | | label |
    |---|---|
    | unstable in each of two or more environments | `nondeterminism-everywhere` |
    | unstable in one (or in the only one) | `nondeterminism`, whatever is unknown elsewhere: a contradiction stays one |
    | unknown in any attempt, or collected in none | `undecided` |
    | environments differ | `coupling` |
    | one outcome everywhere | `consistent-green` or `consistent-red` |
    """
    environments = [frozenset(attempts) for attempts in outcomes]
    unstable = sum(len(seen - {Outcome.NOT_RUN}) > 1 for seen in environments)
    if unstable:
        return Label.NONDETERMINISM_EVERYWHERE if unstable == len(environments) > 1 else Label.NONDETERMINISM
    seen = frozenset[Outcome]().union(*environments)
    if Outcome.NOT_RUN in seen or seen <= {Outcome.NOT_COLLECTED}:
        return Label.UNDECIDED
    if len(seen) > 1:
        return Label.COUPLING
    return Label.CONSISTENT_GREEN if all(outcome.green for outcome in seen) else Label.CONSISTENT_RED


def label(cells: Iterable[Cell], purpose: Purpose = Purpose.GATE) -> tuple[Finding, ...]:
    """Label every test that the cells of one purpose know, in the order of node ids; excluded tests are not among them.

    What looks coupled and only broke under a moved clock is `undecided`, and so is what was killed for lack of memory.
    """
    chosen = _by_environment(cell for cell in cells if cell.purpose is purpose)
    columns = _columns(chosen)
    patterns: dict[tuple[Outcome, ...], Pattern] = {}
    findings = []
    rows = observe(chosen)
    adrift = drifting(chosen) if any(Outcome.NOT_COLLECTED in row.outcomes for row in rows) else frozenset[TestId]()
    for row in rows:
        pattern = patterns.get(row.outcomes)
        if pattern is None:
            pattern = patterns[row.outcomes] = _pattern(row.outcomes, columns)
        findings.append(
            Finding(
                nodeid=row.test.nodeid,
                occurrence=row.test.occurrence,
                label=pattern.label,
                outcomes=pattern.outcomes,
                note=row.note if pattern.label is Label.CONSISTENT_GREEN else _note(row, pattern.label, chosen, adrift),
            )
        )
    died = memory.deaths(chosen)
    told = clocks.held_back(findings, chosen)
    return tuple(_without_answer(each, died.get(TestId(each.nodeid, each.occurrence), {})) for each in told) if died else told


def _without_answer(finding: Finding, died: Mapping[EnvironmentName, AbstractSet[int]]) -> Finding:
    """Label a test anew by what it did where it was not killed for lack of memory: there nobody knows."""
    if not died or finding.label is Label.UNDECIDED:
        return finding
    known = (
        tuple(Outcome.NOT_RUN if place in died.get(env, ()) else outcome for place, outcome in enumerate(outcomes))
        for env, outcomes in finding.outcomes.items()
    )
    names = ", ".join(f"`{env}`" for env in died)
    note = f"it died with its cell, which ran out of memory, in {names}: what it does there is not known"
    return msgspec.structs.replace(finding, label=label_of(known), note=noted(finding, note))


def _pattern(outcomes: tuple[Outcome, ...], columns: Sequence[Columns]) -> Pattern:
    by_environment = {part.env: outcomes[part.start : part.stop] for part in columns}
    return Pattern(label_of(by_environment.values()), by_environment)


def excluded(cells: Iterable[Cell], purpose: Purpose = Purpose.GATE) -> dict[NodeId, str]:
    """List what the project itself keeps out, with its reasons: excluded in some cell and run in none."""
    chosen = tuple(cell for cell in cells if cell.purpose is purpose)
    reasons = {nodeid: reason for cell in chosen for nodeid, reason in cell.excluded.items()}
    ran = {run.nodeid for cell in chosen for run in cell.tests} if reasons else set()
    reasons = {nodeid: reason for nodeid, reason in reasons.items() if nodeid not in ran}
    return dict(sorted(reasons.items()))


def counts(findings: Iterable[Finding], left_out: dict[NodeId, str]) -> dict[Label, int]:
    """Count every label, those that nobody has included."""
    found = Counter(finding.label for finding in findings)
    return {each: found[each] for each in Label} | {Label.EXCLUDED: len(left_out)}


def skipped_everywhere(findings: Iterable[Finding]) -> int:
    """Count the stable skips: green, and yet nothing was tested."""
    return sum(all(seen == Outcome.SKIPPED for attempts in each.outcomes.values() for seen in attempts) for each in findings)


def _by_environment(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Sort by attempt within environments, environments in the order of their first cell."""
    chosen = tuple(cells)
    place = {env: number for number, env in enumerate(dict.fromkeys(cell.env for cell in chosen))}
    return tuple(sorted(chosen, key=lambda cell: (place[cell.env], cell.attempt)))


def _columns(cells: Sequence[Cell]) -> tuple[Columns, ...]:
    parts = []
    start = 0
    for env, group in groupby(cells, key=lambda cell: cell.env):
        stop = start + len(tuple(group))
        parts.append(Columns(env, start, stop))
        start = stop
    return tuple(parts)


def _note(row: Row, answer: Label, cells: Sequence[Cell], adrift: Container[TestId]) -> str:
    notes = [row.note] if row.note else []
    if answer is Label.CONSISTENT_RED and len(set(_fingerprints(row.runs))) > 1:
        notes.append(FAILURES_DIFFER)
    if answer in UNSTABLE and row.test in adrift:
        notes.append(DRIFTS)
    if answer in {Label.COUPLING, Label.NONDETERMINISM, Label.NONDETERMINISM_EVERYWHERE}:
        notes += _missing(row, cells)
    return "; ".join(notes)


def _fingerprints(runs: Iterable[TestRun | None]) -> Iterable[str]:
    """Yield what two failures compare by. The stack of a hang or a crash is where it happened to be, and says nothing."""
    comparable = {Outcome.FAILED, Outcome.ERROR}
    for run in runs:
        if run is not None and run.failure is not None and run.failure.fingerprint and run.outcome in comparable:
            yield run.failure.fingerprint


def _missing(row: Row, cells: Sequence[Cell]) -> list[str]:
    """Say why there is no record of the test where that is not simply that its cell does not have it."""
    notes: dict[str, None] = {}
    for cell, run in zip(cells, row.runs, strict=True):
        if run is None and row.test.nodeid in cell.excluded:
            notes[f"excluded in `{cell.env}`"] = None
        elif run is None and cell.status is CellStatus.UNUSABLE:
            notes[f"pytest could not work in `{cell.env}`{f': {cell.detail}' if cell.detail else ''}"] = None
        elif run is not None and run.nodeid != row.test.nodeid and stands_for_many(run):
            what = "could not be collected" if run.outcome is Outcome.ERROR else "skips itself as a whole"
            notes[f"`{run.nodeid}` {what} in `{cell.env}`"] = None
    return list(notes)
