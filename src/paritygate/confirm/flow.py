"""The whole of a confirmation: further attempts, then the checks of file times and of order of what still looks coupled.

It decides which cells to run; running them is the caller's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from paritygate.classifier.evidence import flagged, gate_of, judge, sides, tally
from paritygate.confirm.attempts import Run, further_attempts
from paritygate.confirm.clocks import check_file_times
from paritygate.confirm.replays import check_order
from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.cells import Cell, TestId
from paritygate.outcomes.plans import CellPlan


class Confirmation(msgspec.Struct, frozen=True, kw_only=True):
    """All findings, the couplings among them confirmed, overturned or undecided, and the cells that it took."""

    findings: tuple[Finding, ...]
    cells: tuple[Cell, ...]


def confirm(findings: Sequence[Finding], cells: Iterable[Cell], plans: Iterable[CellPlan], run: Run) -> Confirmation:
    """Confirm or overturn every coupling that the gate's cells show; `plans` are those of the gate.

    | further results | label |
    |---|---|
    | one in any environment that is not what the gate saw there | `nondeterminism`, or everywhere if in all of them |
    | too few, though dead cells were repeated | `undecided` |
    | all agree, but not where files have the times of a moved clock, too | `undecided` |
    | all agree, and another environment's order gives the other's outcome without workers | `nondeterminism`, cause order |
    | all agree | `coupling`, with the number of results that agree |
    """
    gate = gate_of(findings, cells, plans)
    if not gate.flagged:
        return Confirmation(findings=tuple(findings), cells=())
    further = further_attempts(gate, run)
    tallies = tally(gate, further)
    judged = {test: judge(gate.flagged[test], tallies[test], envs) for test, envs in sides(gate.flagged.values()).items()}
    confirmed = msgspec.structs.replace(gate, flagged=flagged(judged.values()))
    taken = {plan.environment.name: plan.attempt for plan in sorted(gate.plans, key=lambda plan: plan.attempt)}
    for cell in further:
        taken[cell.env] = max(taken[cell.env], cell.attempt)
    timed, asked = check_file_times(confirmed, run, taken)
    judged |= {TestId(each.nodeid, each.occurrence): each for each in timed}
    for cell in asked:
        taken[cell.env] = max(taken[cell.env], cell.attempt)
    checked, replayed = check_order(msgspec.structs.replace(gate, flagged=flagged(timed)), run, taken)
    judged |= {TestId(each.nodeid, each.occurrence): each for each in checked}
    return Confirmation(
        findings=tuple(judged.get(TestId(each.nodeid, each.occurrence), each) for each in findings),
        cells=further + asked + replayed,
    )
