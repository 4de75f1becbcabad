"""Looks for what makes tests coupled or unstable, for as long as the time that was given for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import msgspec

from paritygate.causes.computers import Computers
from paritygate.causes.differences import Differences
from paritygate.causes.files import with_rules
from paritygate.causes.flow import Attribution, Ground, Run, attribute
from paritygate.causes.unstable.flow import Evidence, explain_unstable
from paritygate.classifier.evidence import flagged
from paritygate.classifier.labels import UNSTABLE
from paritygate.confirm.flow import Confirmation
from paritygate.gate.grounds.parts import Trees
from paritygate.gate.material import Planned
from paritygate.gate.remembering import Memory, Reading
from paritygate.gate.request import World
from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.cells import Cell, TestId
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import Axis, Purpose
from paritygate.snapshot import ignoring

LEAST_SECONDS = 60.0
MOST_CELLS = 16
"""How many cells it takes to find two axes that are needed together, and whether tests need the rest of their suite."""
HALF = 0.5
MARGIN = 2
"""How much slower an engine may become, since others use it as well."""


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What a search begins with: the plans, the axes that varied, the cells of the gate, and what confirmed it.

    `different` are the paths in which the states of the tree differ, `computers` says where environments ran, `earlier` are the
    cells of searches before, with their plans.
    Tests that are `frozen` are looked into after all others, and apart from them, as a gate does not look into them.
    """

    planned: Planned
    varied: frozenset[Axis]
    gate: tuple[Cell, ...]
    confirmation: Confirmation
    different: Differences = {}
    computers: Computers = {}
    earlier: tuple[tuple[CellPlan, Cell], ...] = ()
    frozen: frozenset[TestId] = frozenset()


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """For how many seconds causes are looked for."""

    seconds: float
    monotonic: Callable[[], float]

    @classmethod
    def of(cls, asked: float | None, wall: float, cells: Sequence[Cell], monotonic: Callable[[], float]) -> Budget:
        """Take what was asked for, or as long as the cells of the gate took (`wall`), a minute at least.

        On an engine that takes long to start and to end a cell it is more: as long as it takes so for as many as may be needed.
        """
        around = [max(0.0, cell.seconds - sum(run.seconds for run in cell.tests) / max(1, cell.workers)) for cell in cells]
        least = max(LEAST_SECONDS, MARGIN * MOST_CELLS * sum(around) / max(1, len(around)))
        return cls(seconds=max(least, wall) if asked is None else asked, monotonic=monotonic)

    def began(self) -> Callable[[float], Callable[[], bool]]:
        """Begin, and give what says for a share of the time whether that is over."""
        start = self.monotonic()

        def of(share: float) -> Callable[[], bool]:
            end = start + share * self.seconds
            return lambda: self.monotonic() >= end

        return of


class Search:
    """A search for causes and all that it may begin with; what it asks of cells that have run before takes no time."""

    def __init__(self, known: Known, run: Run) -> None:
        self._known = known
        self._cells = (*known.gate, *known.confirmation.cells)
        self._memory = Memory(known.gate, known.planned.plans, (*self._cells, *(cell for _, cell in known.earlier)), run)
        for plan, cell in known.earlier:
            self._memory.add(plan, cell)

    def causes(self, budget: Budget) -> Confirmation:
        """Give what is coupled, then what is unstable, its cause, and put the cells beside those that confirmed them.

        Where both are, what is coupled has half of the time, so that the other is looked into at all. What either leaves of its
        share is the other's: the search among couplings goes on where it was cut.
        """
        confirmation = self._known.confirmation
        share = HALF if any(each.label in UNSTABLE and each.cause is None for each in confirmation.findings) else 1.0
        over = budget.began()
        coupled = self._coupled(over(share))
        unstable = self._unstable(coupled, over(1.0))
        findings = unstable.findings
        if coupled.cut and not over(1.0)():
            coupled = self._coupled(over(1.0))
            anew = flagged(coupled.findings)
            findings = tuple(anew.get(_test(each), each) for each in findings)
        return Confirmation(findings=findings, cells=distinct((*confirmation.cells, *coupled.cells, *unstable.cells)))

    def so_far(self) -> Confirmation:
        """Give what follows from the cells that have run, also after an interruption."""
        return self.causes(Budget(seconds=0.0, monotonic=lambda: 0.0))

    def _coupled(self, is_over: Callable[[], bool]) -> Attribution:
        """Look for what makes tests coupled."""
        known, findings = self._known, self._known.confirmation.findings
        reading = Reading(self._memory, flagged(findings))
        ground = Ground(
            plans=known.planned.plans,
            varied=known.varied,
            cells=self._cells,
            filesystem_of=known.planned.filesystem_of,
            over=lambda plans: is_over() and not reading.holds(plans),
            different=known.different,
            computers=known.computers,
        )
        return attribute(findings, ground, reading.run)

    def _unstable(self, coupled: Attribution, is_over: Callable[[], bool]) -> Attribution:
        """Look for what makes tests unstable, with the cells that looked for couplings beside those of the gate."""
        frozen = {test for test in flagged(coupled.findings, UNSTABLE) if test in self._known.frozen}
        some = [each for each in coupled.findings if _test(each) not in frozen]
        rest = [each for each in coupled.findings if _test(each) in frozen]
        evidence = Evidence(plans=self._known.planned.plans, cells=distinct((*self._cells, *coupled.cells)))
        found = [self._unstable_among(each, evidence, is_over) for each in (some, rest)]
        said = {_test(each): each for one in found for each in one.findings}
        return Attribution(
            findings=tuple(said[_test(each)] for each in coupled.findings),
            cells=tuple(cell for one in found for cell in one.cells),
        )

    def _unstable_among(self, findings: Sequence[Finding], evidence: Evidence, is_over: Callable[[], bool]) -> Attribution:
        reading = Reading(self._memory, flagged(findings, UNSTABLE))
        return explain_unstable(findings, evidence, reading.run, lambda plans: is_over() and not reading.holds(plans))


def explain(known: Known, run: Run, budget: Budget) -> Confirmation:
    """Look for causes as long as there is time; without any nothing is looked at."""
    return Search(known, run).causes(budget) if budget.seconds > 0 else known.confirmation


def _test(finding: Finding) -> TestId:
    return TestId(finding.nodeid, finding.occurrence)


def distinct(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Leave out the further cells of a name that there is already; attempts that were repeated share theirs."""
    found: dict[str, Cell] = {}
    for cell in cells:
        name = f"{cell.env}-{cell.attempt}" if cell.purpose is Purpose.HYBRID else f"{len(found)}"
        found.setdefault(name, cell)
    return tuple(found.values())


def name_rules(confirmation: Confirmation, trees: Trees, world: World) -> Confirmation:
    """Say of ignored files that are behind a coupling by which rule git ignores them."""
    top = next(iter(trees.values())).root
    findings = with_rules(confirmation.findings, partial(ignoring.rules_of, top, world.variables))
    return msgspec.structs.replace(confirmation, findings=findings)
