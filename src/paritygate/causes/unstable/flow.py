"""The search for what makes tests unstable, as a whole: all of them at once, each step of it a batch of cells side by side.

It changes no label. It decides which cells to run; running them is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from itertools import accumulate
from typing import Generic, TypeVar

import msgspec

from paritygate.causes.flow import Attribution, Over, Run
from paritygate.causes.unstable.answers import Answer, OfRace, Open
from paritygate.causes.unstable.bisection import Wanted
from paritygate.causes.unstable.company import explain_chance, explain_company, sides_so_far, so_far, unless_by_chance
from paritygate.causes.unstable.corners import Corners, Nature, corners_of, nature
from paritygate.causes.unstable.ordering import Bench, Inquiry, explain_order
from paritygate.causes.unstable.plain import plain_nature
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
NEAR = 3.0
"""How many times longer than the shortest cells that are wanted others in the same batch may be: lists are cut in three."""
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
    """A suspect, its corners, where lists are tried of it and all in the same cells, and all that has been seen of it."""

    suspect: Suspect
    corners: Corners
    bench: Bench
    views: dict[Trial, list[Seen]]


class Laboratory:
    """Runs what inquirers want to know until they know it or the time is over, and shows each cell to all whom it concerns."""

    def __init__(self, planner: Planner, reader: Reader, run: Run, over: Over) -> None:
        self.cells: tuple[Cell, ...] = ()
        self._planner = planner
        self._reader = reader
        self._run = run
        self._over = over

    def answer(self, inquirers: Sequence[Inquirer[Result]]) -> None:
        """Go on, batch by batch."""
        while batch := _batch(inquirers, self._planner.work, self._planner.most):
            plans = tuple(self._planner.plan(trial) for trial in batch)
            if self._over(plans):
                return
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


def _batch(inquirers: Iterable[Inquirer[Result]], work: Callable[[Trial], float], most: float) -> tuple[Trial, ...]:
    """Gather what is wanted next, each trial as often as whoever wants it most often: only the shortest cells, not all at once.

    Who wants to see a list of a few tests is not to wait for whole cells that only measure chance; and the time is looked at
    between batches, so that none may take longer than the gate.
    """
    asking = {each: max(map(work, each.wanted)) for each in inquirers if each.wanted}
    longest = NEAR * min(asking.values(), default=0.0)
    times: Wanted = {}
    for each, needed in asking.items():
        for trial, count in each.wanted.items() if needed <= longest else ():
            times[trial] = max(count, times.get(trial, 0))
    some = sorted((trial for trial, count in times.items() for _ in range(count)), key=work)[:MOST_AT_ONCE]
    fitting = [trial for trial, total in zip(some, accumulate(map(work, some)), strict=True) if total <= most]
    return tuple(fitting or some[:1])


def explain_unstable(findings: Sequence[Finding], known: Evidence, run: Run, over: Over) -> Attribution:
    """Find for every unstable test what it depends on; `over` says whether the time for further cells is.

    First all are asked for their nature, then each for what follows from it. No batch of cells is begun when the time is over.
    """
    gate = gate_of(findings, known.cells, known.plans, UNSTABLE)
    found = suspects_of(gate, known.cells)
    suspects = tuple(each for each in found if not _hangs_long(gate, each))
    laboratory = Laboratory(Planner(gate, known.cells), Reader(gate, known.cells), run, over)
    cases = [_case(suspect, suspects) for suspect in suspects]
    natures = [Inquirer(case.suspect, case.views, _nature(case)) for case in cases]
    laboratory.answer(natures)
    told = [(case, each.result) for case, each in zip(cases, natures, strict=True) if each.result is not None]
    inquirers = [Inquirer(case.suspect, case.views, _inquiry(case, one, told)) for case, one in told]
    laboratory.answer(inquirers)
    said = {TestId(each.nodeid, each.occurrence): each for each in findings}
    said |= {test: unsought(gate.flagged[test]) for test in gate.flagged.keys() - {each.test for each in found}}
    said |= {each.test: explained(gate.flagged[each.test], each, Open(HANGS), ()) for each in found if each not in suspects}
    for case in cases:
        said[case.suspect.test] = _unfinished(gate.flagged[case.suspect.test], case)
    for each in inquirers:
        if each.result is not None:
            test = each.suspect.test
            partners = overlapping(each.suspect, (*known.cells, *laboratory.cells)) if isinstance(each.result, OfRace) else ()
            said[test] = explained(gate.flagged[test], each.suspect, each.result, partners)
    return Attribution(findings=tuple(said.values()), cells=laboratory.cells)


def _unfinished(finding: Finding, case: Case) -> Finding:
    """Say of a test what is known if the time is over now."""
    views = Views(case.views)
    answer = so_far(case.bench, case.corners, views)
    if answer is not None:
        return explained(finding, case.suspect, answer, ())
    return unfinished(finding, sides_so_far(case.bench, case.corners, views))


def _hangs_long(gate: Gate, suspect: Suspect) -> bool:
    """Say whether a test is ended so late when it hangs that a few cells of it would outlast any time for causes."""
    hangs = Outcome.TIMED_OUT in (suspect.better, suspect.worse)
    return hangs and gate.plans_of(suspect.ill.env)[0].limits.test_seconds > LONGEST_HANG


def _case(suspect: Suspect, suspects: Iterable[Suspect]) -> Case:
    """Put together what is asked of suspects in the same two cells."""
    pair = _pair(suspect)
    corners = corners_of(suspect, [each for each in suspects if _pair(each) == pair and not each.ends_its_process])
    bench = Bench.single(suspect).beside(each for each in suspects if _is_fellow(suspect, each))
    return Case(suspect, corners, bench, corners.views(suspect))


def _pair(suspect: Suspect) -> tuple[object, ...]:
    return suspect.ill.env, frozenset({suspect.well.attempt, suspect.ill.attempt})


def _is_listed(suspect: Suspect) -> bool:
    """Say whether it is known what ran before a test in both cells; not where it ended its process, or was not collected."""
    return bool(suspect.well.list_of(suspect.test) and suspect.ill.list_of(suspect.test))


def _nature(case: Case) -> Generator[Wanted, None, Nature]:
    """Ask what a test depends on, without all that ran before it where that can be."""
    views = Views(case.views)
    return plain_nature(case.bench, case.corners, views) if _is_listed(case.suspect) else nature(case.corners, views)


def _inquiry(case: Case, found: Nature, told: Sequence[tuple[Case, Nature]]) -> Inquiry:
    """Say what is asked next."""
    suspect, corners, views = case.suspect, case.corners, Views(case.views)
    match found:
        case Nature.CONTRARY:
            return explain_chance(case.bench, corners, views)
        case Nature.SEED:
            return unless_by_chance(explain_seed(suspect, _orders(case), views), case.bench, corners, views)
        case Nature.BESIDE:
            return explain_company(case.bench, corners, views)
        case Nature.ORDER | Nature.EITHER | Nature.BOTH if _is_listed(suspect):
            fellows = (other.suspect for other, one in told if one is found and _is_fellow(suspect, other.suspect))
            return unless_by_chance(explain_order(_bench(case, found, fellows), views), case.bench, corners, views)
        case Nature.ORDER | Nature.EITHER | Nature.BOTH:
            return _said(
                Open("its order matters; what of it is not looked for where a test ends its process, or is not collected")
            )
        case Nature.OPEN:
            return _said(Open(_third_way(views)))


def _orders(case: Case) -> tuple[Trial, Trial]:
    """Choose the orders in which seeds are told apart: without the others where that goes wrong alike, otherwise whole cells."""
    views = Views(case.views)
    bare = case.bench.bare() if _is_listed(case.suspect) else ()
    shown = bool(bare) and all(views.likeness(each) is Likeness.TARGET for each in bare)
    return case.bench.bare() if shown else (case.corners.well, case.corners.ill_order)


def _third_way(views: Views[Trial]) -> str:
    """Say what was seen where the first cells say nothing."""
    odd = next((each for each in views.all() if each.likeness is Likeness.OTHER), None)
    if odd is None:
        return "the cells in which the order and the seeds of two attempts were mixed told nothing"
    return f"where the order and the seeds of two attempts were mixed it {does(odd)}"


def _is_fellow(suspect: Suspect, other: Suspect) -> bool:
    """Say whether both ran in the same processes, in both cells; a test that ends its process is nobody's fellow."""
    if suspect == other:
        return True
    same = (suspect.ill.env, suspect.ill.attempt, suspect.well.attempt) == (other.ill.env, other.ill.attempt, other.well.attempt)
    together = all(any({suspect.test, other.test} <= {*each} for each in ran.lists) for ran in (suspect.ill, suspect.well))
    return same and together and not other.ends_its_process


def _bench(case: Case, found: Nature, fellows: Iterable[Suspect]) -> Bench:
    suspect = case.suspect
    also = {
        Nature.EITHER: "another seed alone makes it too",
        Nature.BOTH: f"only with the seeds of attempt {suspect.ill.attempt}",
    }
    bench = case.bench.seeded(suspect.well if found is Nature.EITHER else suspect.ill).beside(fellows)
    return msgspec.structs.replace(bench, also=also.get(found, ""))


def _said(answer: Answer) -> Inquiry:
    """Answer without a question."""
    yield from ()
    return answer
