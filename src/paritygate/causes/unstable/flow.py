"""The search for what makes tests unstable, as a whole: all of them at once, each step of it a batch of cells side by side.

It changes no label. It decides which cells to run; running them is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Generic, TypeVar

import msgspec

from paritygate.causes.flow import Attribution, Run
from paritygate.causes.unstable.answers import Answer, OfRace, Open
from paritygate.causes.unstable.bisection import Wanted
from paritygate.causes.unstable.company import explain_chance, explain_company, so_far, unless_by_chance
from paritygate.causes.unstable.corners import Corners, Nature, corners_of, nature
from paritygate.causes.unstable.ordering import Bench, Inquiry, explain_order
from paritygate.causes.unstable.seeds import explain_seed
from paritygate.causes.unstable.suspects import Suspect, Trial, suspects_of
from paritygate.causes.unstable.trying import Planner, Reader, overlapping
from paritygate.causes.unstable.wording import explained, unfinished, unsought
from paritygate.causes.views import Likeness, Seen, Views
from paritygate.causes.wording import does
from paritygate.classifier.evidence import Gate, gate_of
from paritygate.classifier.labels import UNSTABLE
from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.cells import Cell, TestId
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import Outcome

MOST_AT_ONCE = 16
"""Cells in one batch at most: the time is looked at only between batches."""
LONGEST_HANG = 30.0
HANGS = f"it hangs, and is looked into only where a test may take {LONGEST_HANG:.0f} s at most (`test-timeout`)"

Result = TypeVar("Result")


class Inquirer(Generic[Result]):
    """One suspect and what is being asked about it, from step to step, until there is a result."""

    def __init__(self, suspect: Suspect, views: dict[Trial, list[Seen]], asking: Generator[Wanted, None, Result]) -> None:
        self.suspect = suspect
        self.views = views
        self.wanted: Wanted = {}
        self.result: Result | None = None
        self._asking = asking
        self.go_on()

    def go_on(self) -> None:
        """Come to the next question, or to the result."""
        self.wanted = {}
        try:
            self.wanted = next(self._asking)
        except StopIteration as end:
            self.result = end.value


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What there is before: the gate's plans, and the cells of gate, confirmation and other searches."""

    plans: tuple[CellPlan, ...]
    cells: tuple[Cell, ...]


class Case(msgspec.Struct, frozen=True):
    """A suspect, its corners and all that has been seen of it."""

    suspect: Suspect
    corners: Corners
    views: dict[Trial, list[Seen]]


class Laboratory:
    """Runs what inquirers want to know until they know it or the time is over, and shows each cell to all whom it concerns."""

    def __init__(self, planner: Planner, reader: Reader, run: Run, over: Callable[[], bool]) -> None:
        self.cells: tuple[Cell, ...] = ()
        self._planner = planner
        self._reader = reader
        self._run = run
        self._over = over

    def answer(self, inquirers: Sequence[Inquirer[Result]]) -> None:
        """Go on, batch by batch."""
        while (batch := _batch(inquirers)) and not self._over():
            plans = tuple(self._planner.plan(trial) for trial in batch)
            ran = self._run(plans)
            cells = tuple(
                msgspec.structs.replace(cell, about=self._planner.about(trial)) for trial, cell in zip(batch, ran, strict=True)
            )
            self.cells += cells
            for trial, cell, told in zip(batch, cells, self._reader.read(cells), strict=True):
                for each in inquirers:
                    if each.suspect.test in cell.about and trial.env == each.suspect.ill.env:
                        seen = self._reader.seen(each.suspect, cell, told.get(each.suspect.test))
                        each.views.setdefault(trial, []).append(seen)
            for each in inquirers:
                if each.wanted:
                    each.go_on()


def _batch(inquirers: Iterable[Inquirer[Result]]) -> tuple[Trial, ...]:
    """Gather what all want to know next, each trial as often as whoever wants it most often."""
    times: Wanted = {}
    for each in inquirers:
        for trial, count in each.wanted.items():
            times[trial] = max(count, times.get(trial, 0))
    return tuple(trial for trial, count in times.items() for _ in range(count))[:MOST_AT_ONCE]


def explain_unstable(findings: Sequence[Finding], known: Evidence, run: Run, over: Callable[[], bool]) -> Attribution:
    """Find for every unstable test what it depends on; `over` says whether the time is.

    First all are asked for their nature, then each for what follows from it. No batch of cells is begun when the time is over.
    """
    gate = gate_of(findings, known.cells, known.plans, UNSTABLE)
    found = suspects_of(gate, known.cells)
    suspects = tuple(each for each in found if not _hangs_long(gate, each))
    laboratory = Laboratory(Planner(gate, known.cells), Reader(gate, known.cells), run, over)
    cases = [_case(suspect, suspects) for suspect in suspects]
    natures = [Inquirer(case.suspect, case.views, nature(case.corners, Views(case.views))) for case in cases]
    laboratory.answer(natures)
    told = [(case, each.result) for case, each in zip(cases, natures, strict=True) if each.result is not None]
    inquirers = [Inquirer(case.suspect, case.views, _inquiry(case, one, told)) for case, one in told]
    laboratory.answer(inquirers)
    said = {TestId(each.nodeid, each.occurrence): each for each in findings}
    said |= {test: unsought(gate.flagged[test]) for test in gate.flagged.keys() - {each.test for each in found}}
    said |= {each.test: explained(gate.flagged[each.test], each, Open(HANGS), ()) for each in found if each not in suspects}
    for case in cases:
        answer = so_far(case.suspect, case.corners, Views(case.views))
        finding = gate.flagged[case.suspect.test]
        said[case.suspect.test] = unfinished(finding) if answer is None else explained(finding, case.suspect, answer, ())
    for each in inquirers:
        if each.result is not None:
            test = each.suspect.test
            partners = overlapping(each.suspect, (*known.cells, *laboratory.cells)) if isinstance(each.result, OfRace) else ()
            said[test] = explained(gate.flagged[test], each.suspect, each.result, partners)
    return Attribution(findings=tuple(said.values()), cells=laboratory.cells)


def _hangs_long(gate: Gate, suspect: Suspect) -> bool:
    """Say whether a test is ended so late when it hangs that a few cells of it would outlast any time for causes."""
    hangs = Outcome.TIMED_OUT in (suspect.better, suspect.worse)
    return hangs and gate.plans_of(suspect.ill.env)[0].limits.test_seconds > LONGEST_HANG


def _case(suspect: Suspect, suspects: Iterable[Suspect]) -> Case:
    """Put together what is asked of suspects in the same two cells."""
    pair = _pair(suspect)
    corners = corners_of(suspect, [each for each in suspects if _pair(each) == pair and not each.ends_its_process])
    return Case(suspect, corners, corners.views(suspect))


def _pair(suspect: Suspect) -> tuple[object, ...]:
    return suspect.ill.env, frozenset({suspect.well.attempt, suspect.ill.attempt})


def _inquiry(case: Case, found: Nature, told: Sequence[tuple[Case, Nature]]) -> Inquiry:
    """Say what is asked next."""
    suspect, views = case.suspect, Views(case.views)
    match found:
        case Nature.CONTRARY:
            return explain_chance(suspect, case.corners, views)
        case Nature.SEED:
            return unless_by_chance(explain_seed(suspect, case.corners, views), suspect, case.corners, views)
        case Nature.ORDER | Nature.EITHER | Nature.BOTH if suspect.ill.workers > 1:
            return explain_company(suspect, case.corners, views)
        case Nature.ORDER | Nature.EITHER | Nature.BOTH if suspect.well.list_of(suspect.test) and suspect.ill.list_of(
            suspect.test
        ):
            fellows = tuple(other.suspect for other, one in told if one is found and _is_fellow(suspect, other.suspect))
            asking = explain_order(_bench(suspect, found, fellows), views)
            return unless_by_chance(asking, suspect, case.corners, views)
        case Nature.ORDER | Nature.EITHER | Nature.BOTH:
            return _said(
                Open("its order matters; what of it is not looked for where a test ends its process, or is not collected")
            )
        case Nature.OPEN:
            return _said(Open(_third_way(case.corners, views)))


def _third_way(corners: Corners, views: Views[Trial]) -> str:
    """Say what was seen where the corners say nothing."""
    seen = (each for trial in dict.fromkeys(corners.all) for each in views.told(trial))
    odd = next((each for each in seen if each.likeness is Likeness.OTHER), None)
    if odd is None:
        return "the cells in which the order and the seeds of two attempts were mixed told nothing"
    return f"where the order and the seeds of two attempts were mixed it {does(odd)}"


def _is_fellow(suspect: Suspect, other: Suspect) -> bool:
    same = (suspect.ill.env, suspect.ill.attempt, suspect.well.attempt) == (other.ill.env, other.ill.attempt, other.well.attempt)
    return same and not other.ends_its_process and bool(other.ill.list_of(other.test) and other.well.list_of(other.test))


def _bench(suspect: Suspect, found: Nature, fellows: Iterable[Suspect]) -> Bench:
    also = {
        Nature.EITHER: "another seed alone makes it too",
        Nature.BOTH: f"only with the seeds of attempt {suspect.ill.attempt}",
    }
    return Bench(
        suspect=suspect,
        victims=tuple(each.test for each in fellows),
        seeded_as=suspect.well if found is Nature.EITHER else suspect.ill,
        also=also.get(found, ""),
    )


def _said(answer: Answer) -> Inquiry:
    """Answer without a question."""
    yield from ()
    return answer
