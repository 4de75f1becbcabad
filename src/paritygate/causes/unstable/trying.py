"""Makes plans of trials, and reads what the cells that came of them say of the suspects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from paritygate.causes.reading import COMPARED, NOTHING
from paritygate.causes.unstable.suspects import Suspect, Told, Trial
from paritygate.causes.views import Likeness, Seen
from paritygate.classifier.evidence import Gate, beside, is_unusable, same_calendar
from paritygate.outcomes.cells import Cell, EnvironmentName, TestId, TestRun
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import Outcome, Purpose

START = 2.0
"""About how many seconds a cell takes beside its tests. Cells of a few tests are equally short."""


LEAST = 32.0
"""How many seconds of work may always be in one batch, mostly beside each other: sixteen cells of no length."""


class Planner:
    """Plans cells, numbered on from those that there are: `cells` are whole, so that they say how long a test takes."""

    def __init__(self, gate: Gate, cells: Sequence[Cell]) -> None:
        self._gate = gate
        self._numbers: dict[EnvironmentName, int] = {}
        for cell in cells:
            self._numbers[cell.env] = max(cell.attempt, self._numbers.get(cell.env, 0))
        self._seconds: dict[TestId, float] = {}
        whole = [cell for cell in cells if cell.purpose is Purpose.GATE]
        self._of_gate = sum(START + sum(run.seconds for run in cell.tests) for cell in whole)
        for run in (run for cell in whole for run in cell.tests):
            self._seconds[run.test] = max(run.seconds, self._seconds.get(run.test, 0.0))

    @property
    def most(self) -> float:
        """Say how much work one batch may be: as much as the gate, but for a few short cells."""
        return max(LEAST, self._of_gate)

    def work(self, trial: Trial) -> float:
        """Say about how many seconds a cell of a trial takes one process after another, from what the gate saw."""
        asked = trial.order.exactly or trial.order.only or self._seconds
        return START + sum(self._seconds.get(test, 0.0) for test in asked)

    def plan(self, trial: Trial) -> CellPlan:
        """Plan one cell of a trial."""
        base = self._gate.plans_of(trial.env)[0]
        self._numbers[trial.env] = self._numbers.get(trial.env, 0) + 1
        return msgspec.structs.replace(
            base,
            environment=msgspec.structs.replace(base.environment, workers=trial.workers),
            attempt=self._numbers[trial.env],
            seed=trial.seed,
            hash_seed=trial.hash_seed,
            reseeds=trial.reseeds,
            order=trial.order,
            purpose=Purpose.HYBRID,
        )

    def about(self, trial: Trial) -> tuple[TestId, ...]:
        """List the flagged tests that a trial can tell of."""
        asked = trial.order.exactly or trial.order.only
        return tuple(test for test in self._gate.flagged if not asked or test in asked)


class Reader:
    """Reads cells against what the gate saw: the same outcome counts only where it fails in a way that was seen there."""

    def __init__(self, gate: Gate, cells: Sequence[Cell]) -> None:
        self._gate = gate
        self._fingerprints: dict[tuple[EnvironmentName, TestId], set[str]] = {}
        for cell, told in zip(cells, beside(gate, cells), strict=True):
            for test, (outcome, run) in told.items():
                if outcome in COMPARED:
                    self._fingerprints.setdefault((cell.env, test), set()).add(_fingerprint(run))

    def read(self, cells: Sequence[Cell]) -> tuple[Mapping[TestId, Told], ...]:
        """Say what each cell tells of the tests that it is about."""
        return beside(self._gate, cells)

    def seen(self, suspect: Suspect, cell: Cell, told: Told | None) -> Seen:
        """Judge what a suspect did in a cell; where the date stood otherwise to the UTC date it tells nothing."""
        if told is None or told[0] is Outcome.NOT_RUN or not same_calendar(self._gate.cells, cell.env, cell):
            return NOTHING
        outcome, run = told
        if is_unusable(cell, run) and Outcome.ERROR not in (suspect.better, suspect.worse):
            return NOTHING
        if outcome not in (suspect.better, suspect.worse):
            return Seen(Likeness.OTHER, outcome)
        known = self._fingerprints.get((cell.env, suspect.test), {""})
        if outcome in COMPARED and _fingerprint(run) not in known:
            return Seen(Likeness.OTHER, outcome, otherwise=True)
        return Seen(Likeness.BASE if outcome is suspect.better else Likeness.TARGET, outcome)


def overlapping(suspect: Suspect, cells: Iterable[Cell]) -> tuple[TestId, ...]:
    """List the tests that ran on other workers at the same time in every cell with workers in which the suspect went wrong."""
    common: set[TestId] | None = None
    for cell in cells:
        run = next((run for run in cell.tests if run.test == suspect.test), None)
        if cell.env == suspect.ill.env and cell.workers > 1 and run is not None and run.outcome is suspect.worse:
            beside_it = {other.test for other in cell.tests if other.worker != run.worker and _overlap(run, other)}
            common = beside_it if common is None else common & beside_it
    return tuple(sorted(common or ()))


def _overlap(one: TestRun, other: TestRun) -> bool:
    return other.began < one.began + one.seconds and one.began < other.began + other.seconds


def _fingerprint(run: TestRun | None) -> str:
    return run.failure.fingerprint if run is not None and run.failure is not None else ""
