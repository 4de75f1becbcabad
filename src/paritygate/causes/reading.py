"""What a cell of a hybrid says of a test: whether it does there as on one side, as on the other, or otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from paritygate.causes.cases import Case
from paritygate.causes.mixing import Hybrid
from paritygate.causes.views import Likeness, Seen
from paritygate.classifier.evidence import Gate, beside, is_unusable, same_calendar
from paritygate.outcomes.cells import Cell, EnvironmentName, TestId, TestRun
from paritygate.outcomes.words import Axis, Outcome, Purpose

COMPARED = frozenset({Outcome.FAILED, Outcome.ERROR})
"""Outcomes whose failures are compared: where a process ended or hung says little of why."""

NOTHING = Seen(Likeness.NOTHING)

Told = tuple[Outcome, TestRun | None]


class Reader:
    """Reads cells against what the cells of the gate, and those that confirmed it, say of both sides."""

    def __init__(self, gate: Gate, cells: Iterable[Cell]) -> None:
        self._gate = gate
        self._fingerprints: dict[tuple[EnvironmentName, TestId], set[str]] = {}
        known = [cell for cell in cells if cell.purpose in (Purpose.GATE, Purpose.CONFIRM)]
        for cell, told in zip(known, beside(gate, known), strict=True):
            for test, (outcome, run) in told.items():
                if outcome in COMPARED:
                    self._fingerprints.setdefault((cell.env, test), set()).add(_fingerprint(run))

    def read(self, cells: Sequence[Cell]) -> tuple[dict[TestId, Told], ...]:
        """Say what each cell tells of the tests that it is about."""
        return beside(self._gate, cells)

    def seen(self, case: Case, hybrid: Hybrid, cell: Cell, told: Told) -> Seen:
        """Judge what a test did in a cell.

        A cell in which the local date stood otherwise to the UTC date than where its time zone is from tells nothing, and
        neither does one in which pytest could not work, unless that is what happens on a side.
        """
        outcome, run = told
        could_not = is_unusable(cell, run) and Outcome.ERROR not in (case.before, case.after)
        if outcome is Outcome.NOT_RUN or could_not or not same_calendar(self._gate.cells, hybrid.source(Axis.TIMEZONE), cell):
            return NOTHING
        sides = {case.before: (Likeness.BASE, case.base), case.after: (Likeness.TARGET, case.target)}
        if outcome not in sides:
            return Seen(Likeness.OTHER, outcome)
        likeness, env = sides[outcome]
        known = self._fingerprints.get((env, case.test), {""})
        if outcome in COMPARED and _fingerprint(run) not in known:
            return Seen(Likeness.OTHER, outcome, otherwise=True)
        return Seen(likeness, outcome)


def _fingerprint(run: TestRun | None) -> str:
    return run.failure.fingerprint if run is not None and run.failure is not None else ""
