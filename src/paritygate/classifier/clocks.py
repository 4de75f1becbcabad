"""Holds back what a moved clock may have done by being moved: such a test is not called coupled.

A failure under another date says something of the test. A hang may say as much of the way in which programs are told that date,
and so may a file that is years old because its time is true.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from paritygate.classifier.evidence import KILLING, noted, stable_outcome
from paritygate.classifier.moved import has_file_times, has_moved_clock
from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.cells import Cell, EnvironmentName, TestId
from paritygate.outcomes.words import Label, Outcome


def held_back(findings: Iterable[Finding], cells: Iterable[Cell]) -> tuple[Finding, ...]:
    """Leave undecided what looks coupled because it hangs or ends its process, and does so under moved clocks alone."""
    moved = frozenset(cell.env for cell in cells if has_moved_clock(cell))
    return tuple(_held_back(each, moved) if moved and each.label is Label.COUPLING else each for each in findings)


def _held_back(finding: Finding, moved: frozenset[EnvironmentName]) -> Finding:
    broken = {env for env, outcomes in finding.outcomes.items() if KILLING.intersection(outcomes)}
    if not broken or not broken <= moved:
        return finding
    names = ", ".join(f"`{env}`" for env in sorted(broken))
    said = f"it broke under the moved clock of {names}: whether by the date, or because the clock is moved, cannot be told apart"
    return msgspec.structs.replace(finding, label=Label.UNDECIDED, note=noted(finding, said))


def by_file_times(finding: Finding, cells: Iterable[Cell]) -> Finding:
    """Leave a coupling undecided that is none in a cell whose files had the times of its moved clock, too."""
    test = TestId(finding.nodeid, finding.occurrence)
    for cell in cells:
        if finding.label is Label.COUPLING and cell.env in finding.outcomes and has_file_times(cell):
            for run in cell.tests:
                if run.test == test and run.outcome not in {Outcome.NOT_RUN, stable_outcome(finding, cell.env)}:
                    return unlike_files(finding, cell.env, run.outcome)
    return finding


def unlike_files(finding: Finding, env: EnvironmentName, outcome: Outcome) -> Finding:
    """Say what a coupling did where files had the times of the moved clock."""
    there = f"where files have the times of the moved clock, too, it is `{outcome}` in `{env}`"
    note = f"{there}: it compares the times of files with the clock, and those stay true while the clock is moved"
    return msgspec.structs.replace(finding, label=Label.UNDECIDED, note=noted(finding, note))
