"""Holds back what died with its cell for lack of memory: that says how much memory there was, and nothing of the test's answer.

Such a test is neither red nor coupled, however often it dies, since it never came to an answer there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from paritygate.classifier.evidence import noted
from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.cells import Cell, EnvironmentName, TestId, TestRun
from paritygate.outcomes.words import CellStatus, Label, Outcome

KILLED = frozenset({"", "SIGKILL"})
"""What a crash is called that may be the kernel's work, or whose kind nobody saw."""
HELD = frozenset({Label.COUPLING, Label.CONSISTENT_RED})


def starved(cell: Cell) -> tuple[TestRun, ...]:
    """List the tests whose process was killed in a cell that ran out of memory."""
    if cell.status is not CellStatus.OUT_OF_MEMORY:
        return ()
    return tuple(run for run in cell.tests if run.outcome is Outcome.CRASHED and _was_killed(run))


def _was_killed(run: TestRun) -> bool:
    return run.failure is None or run.failure.exception in KILLED


def held_back(findings: Iterable[Finding], cells: Sequence[Cell]) -> tuple[Finding, ...]:
    """Leave undecided what looks red or coupled because it was killed in cells that ran out of memory."""
    died: dict[TestId, dict[EnvironmentName, None]] = {}
    for cell in cells:
        for run in starved(cell):
            died.setdefault(run.test, {})[cell.env] = None
    if not died:
        return tuple(findings)
    return tuple(_held_back(each, tuple(died.get(TestId(each.nodeid, each.occurrence), ()))) for each in findings)


def _held_back(finding: Finding, envs: Sequence[EnvironmentName]) -> Finding:
    if not envs or finding.label not in HELD:
        return finding
    names = ", ".join(f"`{env}`" for env in envs)
    note = f"it died with its cell, which ran out of memory, in {names}: what it does there is not known"
    return msgspec.structs.replace(finding, label=Label.UNDECIDED, note=noted(finding, note))
