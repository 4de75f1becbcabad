"""What a run says of the frozen tests: let through only where they diverge in the kind and the way that was frozen.

Pure: it labels nothing anew and weighs no verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from paritygate.axes import near_miss
from paritygate.freezes.ledger import Entry
from paritygate.freezes.ways import runs_of, told, way_of
from paritygate.outcomes.artifact import Finding, Freeze
from paritygate.outcomes.cells import Cell, NodeId, TestId
from paritygate.outcomes.plans import Selection
from paritygate.outcomes.words import CellStatus, FreezeState, Label, Outcome, Purpose

WHOLE = frozenset({CellStatus.FINISHED, CellStatus.NO_TESTS})
UNBOUND = "the entry has no fingerprint, so that any failure would do; `paritygate freeze add` records one"
GREEN = frozenset(outcome.value for outcome in Outcome if outcome.green)
TURNED_TO_IT = (
    f"it turned out after the run to be `{Label.NONDETERMINISM}`; the next run says whether it is the one that was frozen"
)
WORST_FIRST = (FreezeState.UNKNOWN, FreezeState.DRIFTED, FreezeState.LET_THROUGH, FreezeState.STABLE, FreezeState.NOT_RUN)

Seen = tuple[FreezeState, str]


def judge(
    entries: Mapping[str, Entry], findings: Iterable[Finding], cells: Sequence[Cell], selection: Selection
) -> dict[NodeId, Freeze]:
    """Say for every entry what became of its test, in the order of the ledger."""
    by_id: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.nodeid in entries:
            by_id.setdefault(finding.nodeid, []).append(finding)
    judged = {}
    for nodeid, entry in entries.items():
        seen = [_seen(entry, finding, cells) for finding in by_id.get(nodeid, ())] or [_absent(nodeid, cells, selection)]
        state, why = min(seen, key=lambda each: WORST_FIRST.index(each[0]))
        judged[NodeId(nodeid)] = Freeze(
            owner=entry.owner,
            expires=entry.expires.isoformat(),
            reason=entry.reason,
            extended=len(entry.extended),
            state=state,
            why=why,
        )
    return judged


def let_through(entries: Mapping[str, Entry], findings: Iterable[Finding], cells: Sequence[Cell]) -> frozenset[TestId]:
    """List the tests whose divergence is the one that was frozen, and stops nothing."""
    return frozenset(
        TestId(finding.nodeid, finding.occurrence)
        for finding in findings
        if finding.nodeid in entries and _seen(entries[finding.nodeid], finding, cells)[0] is FreezeState.LET_THROUGH
    )


def still_let_through(freezes: Mapping[NodeId, Freeze], findings: Iterable[Finding]) -> frozenset[TestId]:
    """List the tests that a run has let through and whose kind has not turned out to be another one since."""
    through = {nodeid for nodeid, freeze in freezes.items() if freeze.state is FreezeState.LET_THROUGH}
    return frozenset(
        TestId(finding.nodeid, finding.occurrence)
        for finding in findings
        if finding.nodeid in through and finding.label is Label.NONDETERMINISM
    )


def since(freezes: Mapping[NodeId, Freeze], before: Iterable[Finding], now: Iterable[Finding]) -> dict[NodeId, Freeze]:
    """Say of the frozen tests of a run what has turned out since, where one has got another label; none is let through anew."""
    labels = {TestId(finding.nodeid, finding.occurrence): finding.label for finding in before}
    said = dict(freezes)
    for finding in now:
        freeze, label = said.get(finding.nodeid), labels.get(TestId(finding.nodeid, finding.occurrence))
        if freeze is not None and label is not finding.label:
            why = TURNED_TO_IT if finding.label is Label.NONDETERMINISM else _of_another_kind(finding)
            said[finding.nodeid] = msgspec.structs.replace(freeze, state=FreezeState.DRIFTED, why=why)
    return said


def _of_another_kind(finding: Finding) -> str:
    return f"frozen as `{Label.NONDETERMINISM}`, and now it is `{finding.label}`"


def _seen(entry: Entry, finding: Finding, cells: Sequence[Cell]) -> Seen:
    """Hold what a test did against what was frozen.

    | label | |
    |---|---|
    | `consistent-green` | stable, so it may be thawed one day |
    | `nondeterminism`, and nothing that the entry does not know | let through |
    | `nondeterminism`, and another failure or outcome | drifted: blocks |
    | any other | drifted: blocks |
    """
    if finding.label is Label.CONSISTENT_GREEN:
        return FreezeState.STABLE, ""
    if finding.label is not Label.NONDETERMINISM:
        return FreezeState.DRIFTED, _of_another_kind(finding)
    for cell, run in runs_of(TestId(finding.nodeid, finding.occurrence), cells):
        way = way_of(run)
        if way and entry.fingerprint and way not in entry.fingerprint:
            return (
                FreezeState.DRIFTED,
                f"in `{cell.env}` attempt {cell.attempt} it fails in another way than was frozen: {told(run)}",
            )
        if entry.outcomes and run.outcome not in {*entry.outcomes, Outcome.PASSED}:
            return FreezeState.DRIFTED, f"in `{cell.env}` attempt {cell.attempt} it is `{run.outcome}`, which was not frozen"
    return FreezeState.LET_THROUGH, unbound(entry)


def unbound(entry: Entry) -> str:
    """Say of an entry that binds its test to no failure that it does not; empty for one that does, or knows of none."""
    return "" if entry.fingerprint or (entry.outcomes and entry.outcomes <= GREEN) else UNBOUND


def _absent(nodeid: str, cells: Sequence[Cell], selection: Selection) -> Seen:
    """Say of a test that no cell has whether there is no such test, or whether it was just not asked for."""
    gate = [cell for cell in cells if cell.purpose is Purpose.GATE]
    excluded = any(nodeid in cell.excluded for cell in gate)
    if excluded or not _is_whole(nodeid, gate, selection):
        return FreezeState.NOT_RUN, "it is excluded" if excluded else ""
    others = frozenset(_of_file(nodeid.partition("::")[0], gate))
    return FreezeState.UNKNOWN, f"there is no such test in its file{near_miss(nodeid, others)}"


def _is_whole(nodeid: str, gate: Sequence[Cell], selection: Selection) -> bool:
    """Say whether every test of an id's file was collected, so that one that is not there does not exist.

    Words that choose tests, cells that died, files and classes that could not be collected, and tests that the project
    deselects all leave that open; so does a file of which no cell has any test, unless it is the very file that was asked for.
    """
    file = nodeid.partition("::")[0]
    asked = [path for path in selection.paths if path.partition("::")[0] == _from_project(file, selection.directory)]
    if selection.keyword or selection.marker or selection.arguments or any("::" in path for path in asked):
        return False
    if not gate or any(cell.status not in WHOLE or cell.deselected > 0 for cell in gate):
        return False
    known = set(_of_file(file, gate))
    broken = any(nodeid == each or nodeid.startswith(f"{each}::") for each in known)
    return not broken and (bool(known) or bool(asked))


def _of_file(file: str, gate: Iterable[Cell]) -> Iterator[str]:
    """Yield every id of a file that a cell knows."""
    for cell in gate:
        ids = (*(run.nodeid for run in cell.tests), *cell.excluded, *(test.nodeid for test in cell.running))
        yield from (each for each in ids if each.partition("::")[0] == file)


def _from_project(file: str, directory: str) -> str:
    return file.removeprefix(f"{directory}/") if directory else file
