"""The search for causes as a whole: all coupled tests at once, each step of it a batch of cells side by side.

It changes no label. It decides which cells to run; running them is the caller's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from paritygate.causes.cases import Case, Pair, cases_of
from paritygate.causes.company import with_company
from paritygate.causes.computers import Computers
from paritygate.causes.differences import Differences, to_watch
from paritygate.causes.files import with_files
from paritygate.causes.mixing import FilesystemOf, Hybrid, Mixer, Question, hybrid_of, mix_of
from paritygate.causes.reading import NOTHING, Reader
from paritygate.causes.search import TWICE, Answer, Mix, Table, Wanted, study
from paritygate.causes.views import Likeness, Seen
from paritygate.causes.wording import Study, explained
from paritygate.classifier.evidence import gate_of
from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.cells import Cell, EnvironmentName, TestId, TestRun
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import Axis

KNOWN = (1, 2)
"""Numbers of axes that are known to make the target together: of more it is run, to see whether it still does."""

Run = Callable[[tuple[CellPlan, ...]], Sequence[Cell]]

Over = Callable[[tuple[CellPlan, ...]], bool]
"""Whether the time is over for some cells: those that have run before take none."""


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """What a search begins with: the gate's plans, the axes that really varied, and the cells of gate and confirmation.

    `filesystem_of` says which filesystem a cell of an environment has; `over` whether the time for further cells is;
    `different` in which paths the states of the tree differ; `computers` where each environment's cells run.
    """

    plans: tuple[CellPlan, ...]
    varied: AbstractSet[Axis]
    cells: tuple[Cell, ...]
    filesystem_of: FilesystemOf
    over: Over
    different: Differences = {}
    computers: Computers = {}


class Attribution(msgspec.Struct, frozen=True, kw_only=True):
    """All findings, some of them with what was found of their causes, and the cells that it took.

    `cut` says that more would have been asked if the time had not been over.
    """

    findings: tuple[Finding, ...]
    cells: tuple[Cell, ...]
    cut: bool = False


class Seeker:
    """One case and its search, from step to step; one that waits begins when others have been shown something."""

    def __init__(self, case: Case, *, waits: bool) -> None:
        self.case = case
        self.waits = waits
        self.wanted: Wanted = {}
        self.answer: Answer | None = None
        everything = frozenset(case.pair.parts)
        self._views: dict[Mix, list[Seen]] = {frozenset(): [Seen(Likeness.BASE, case.before)] * TWICE}
        if case.pair.computers or (case.pair.whole and len(everything) in KNOWN):  # on its own computer it is the target itself
            self._views[everything] = [Seen(Likeness.TARGET, case.after)] * TWICE
        self.table = Table(case.pair.parts, self._views)
        self._search = study(self.table)
        if not waits:
            self.go_on()

    def go_on(self) -> None:
        """Come to the next step, or to the answer."""
        self.waits = False
        self.wanted = {}
        if unstable := self.table.unstable():
            self.answer = Answer(unstable=unstable)
            return
        try:
            self.wanted = next(self._search)
        except StopIteration as end:
            self.answer = end.value

    def turns(self) -> Iterable[tuple[Hybrid, int]]:
        """List the cells of the next step: of which hybrid, and for which time."""
        for mix, times in self.wanted.items():
            before = len(self.table.seen(mix))
            for turn in range(before, before + times):
                yield hybrid_of(self.case, mix), turn

    def take(self, mix: Mix, seen: Seen) -> None:
        """Take in what the test did in a cell."""
        self._views.setdefault(mix, []).append(seen)


def attribute(findings: Sequence[Finding], ground: Ground, run: Run) -> Attribution:
    """Find for every coupling the smallest sets of axes that flip it.

    No batch of cells is begun when the time is over; what is open then is said to be.
    """
    gate = gate_of(findings, ground.cells, ground.plans)
    mixer = Mixer(gate, ground.cells, ground.filesystem_of, to_watch(ground.different))
    reader = Reader(gate, ground.cells)
    seekers = _seekers(cases_of(gate, ground.varied, ground.computers))
    done = _look_without_company(seekers, mixer, reader, run, ground.over)
    while (questions := _questions(seekers, mixer)) and not ground.over(_plans(questions)):
        cells = _answered(questions, run)
        _hand_out(questions, cells, reader, seekers)
        done += cells
    studies: dict[TestId, list[Study]] = {}
    for seeker in seekers:
        studies.setdefault(seeker.case.test, []).append(Study(seeker.case, seeker.answer, seeker.table))
    said = {test: explained(gate.flagged[test], some) for test, some in studies.items()}
    of_files = _on_both_sides(_unseen(said, seekers, done), mixer) if ground.different else ()
    too_late = bool(of_files) and ground.over(_plans(of_files))
    if of_files and not too_late:
        done += _answered(of_files, run)
    told = _runs((*ground.cells, *done), said)
    said = {
        test: with_company(with_files(finding, told.get(test, ()), ground.different), (*ground.cells, *done))
        for test, finding in said.items()
    }
    explained_ones = tuple(said.get(TestId(each.nodeid, each.occurrence), each) for each in findings)
    return Attribution(findings=explained_ones, cells=done, cut=bool(questions) or too_late)


def _runs(cells: Iterable[Cell], wanted: Mapping[TestId, Finding]) -> dict[TestId, list[TestRun]]:
    """Find what cells say of some tests."""
    runs: dict[TestId, list[TestRun]] = {}
    for cell in cells:
        for each in cell.tests:
            if each.test in wanted:
                runs.setdefault(each.test, []).append(each)
    return runs


def _unseen(said: Mapping[TestId, Finding], seekers: Sequence[Seeker], done: Sequence[Cell]) -> list[Case]:
    """Find the tests that the tree flips and that ran in no cell that watched, as where nothing had to be mixed."""
    seen = {run.test for cell in done for run in cell.tests}
    causes = {test: finding.cause for test, finding in said.items() if test not in seen and finding.cause is not None}
    cases = (seeker.case for seeker in seekers if seeker.case.test in causes)
    return [case for case in cases if any(Axis.WORKTREE in way for way in causes[case.test].ways)]


def _on_both_sides(cases: Sequence[Case], mixer: Mixer) -> tuple[Question, ...]:
    """Ask of tests once more what they do on each side, to see which files they touch."""
    sides: dict[Hybrid, set[TestId]] = {}
    for case in cases:
        for env in (case.base, case.target):
            sides.setdefault(Hybrid(env, env, ()), set()).add(case.test)
    return tuple(each for hybrid, tests in sides.items() for each in mixer.questions(hybrid, 0, tests))


def _seekers(cases: Sequence[Case]) -> list[Seeker]:
    """Begin with the side of each pair where more tests pass: what is seen from there mostly tells of the others, too."""
    sides: dict[Pair, Counter[EnvironmentName]] = {}
    for case in cases:
        sides.setdefault(case.pair, Counter())[case.base] += 1
    begin = {pair: counted.most_common(1)[0][0] for pair, counted in sides.items()}
    return [Seeker(case, waits=case.base != begin[case.pair] and len(case.pair.parts) > max(KNOWN)) for case in cases]


def _plans(questions: Iterable[Question]) -> tuple[CellPlan, ...]:
    return tuple(question.plan for question in questions)


def _answered(questions: Sequence[Question], run: Run) -> tuple[Cell, ...]:
    cells = run(_plans(questions))
    return tuple(msgspec.structs.replace(cell, about=each.about) for each, cell in zip(questions, cells, strict=True))


def _look_without_company(seekers: Sequence[Seeker], mixer: Mixer, reader: Reader, run: Run, over: Over) -> tuple[Cell, ...]:
    """Run the coupled tests of a long suite alone, once on each side: those that do the same there need nothing beside them."""
    open_cases = [seeker.case for seeker in seekers if seeker.answer is None]
    sides = {env: Hybrid(env, env, ()) for case in open_cases for env in (case.base, case.target)}
    if not any(mixer.is_long(env) for env in sides):
        return ()
    questions = [question for hybrid in sides.values() if (question := mixer.alone(hybrid)) is not None]
    if over(_plans(questions)):
        return ()
    cells = _answered(questions, run)
    expected: dict[tuple[EnvironmentName, TestId], bool] = {}
    for question, cell, told in zip(questions, cells, reader.read(cells), strict=True):
        for case in open_cases:
            if case.test in told and cell.env in (case.base, case.target):
                seen = reader.seen(case, question.hybrid, cell, told[case.test])
                expected[cell.env, case.test] = seen.likeness is (Likeness.BASE if cell.env == case.base else Likeness.TARGET)
    mixer.need_company(
        {case.test for case in open_cases for env in (case.base, case.target) if not expected.get((env, case.test), False)}
    )
    return cells


def _questions(seekers: Sequence[Seeker], mixer: Mixer) -> tuple[Question, ...]:
    """Ask what all want to know next, those that want the same of a hybrid in the same cells, and show it to those that wait."""
    waiting: dict[Pair, set[TestId]] = {}
    for seeker in seekers:
        if seeker.waits:
            waiting.setdefault(seeker.case.pair, set()).add(seeker.case.test)
    wanted: dict[tuple[Hybrid, int], set[TestId]] = {}
    for seeker in seekers:
        for each in seeker.turns():
            wanted.setdefault(each, set(waiting.get(seeker.case.pair, ()))).add(seeker.case.test)
    return tuple(question for (hybrid, turn), tests in wanted.items() for question in mixer.questions(hybrid, turn, tests))


def _hand_out(questions: Sequence[Question], cells: Sequence[Cell], reader: Reader, seekers: Sequence[Seeker]) -> None:
    """Show every search all that there is on its test, whoever asked for it, and let it go on."""
    for question, cell, told in zip(questions, cells, reader.read(cells), strict=True):
        for seeker in seekers:
            test, mix = seeker.case.test, mix_of(seeker.case, question.hybrid)
            if test in question.about and mix is not None:
                seeker.take(mix, reader.seen(seeker.case, question.hybrid, cell, told[test]) if test in told else NOTHING)
    for seeker in seekers:
        if seeker.answer is None:
            seeker.go_on()
