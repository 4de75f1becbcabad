"""In which ways a test failed: what a freeze is bound to, so that it excuses nothing else.

A failure is known by its fingerprint; a hang and a crash, which stop where they happen to be, by what they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from paritygate.outcomes.cells import Cell, TestId, TestRun
from paritygate.outcomes.words import Outcome, Purpose

JUDGED = frozenset({Purpose.GATE, Purpose.CONFIRM})
"""The cells that labels come from; those that look for causes change what a test may meet."""

_ANYWHERE = frozenset({Outcome.TIMED_OUT, Outcome.CRASHED})


def runs_of(test: TestId, cells: Iterable[Cell]) -> Iterator[tuple[Cell, TestRun]]:
    """Find what a test did in the cells that its label comes from."""
    for cell in cells:
        if cell.purpose in JUDGED:
            yield from ((cell, run) for run in cell.tests if run.test == test and run.outcome is not Outcome.NOT_RUN)


def way_of(run: TestRun) -> str:
    """Say in which way a run failed; empty for a green one."""
    if run.outcome.green:
        return ""
    failure = run.failure
    return run.outcome.value if failure is None or run.outcome in _ANYWHERE or not failure.fingerprint else failure.fingerprint


def told(run: TestRun) -> str:
    """Say a failure in a few words."""
    failure = run.failure
    if failure is None or not failure.file:
        return run.outcome.value
    return f"{run.outcome} at {failure.file}:{failure.line} ({failure.exception})"
