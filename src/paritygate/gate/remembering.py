"""The cells of earlier searches for causes: where a search asks for the same again they answer, and nothing runs.

So a search that goes over its steps once more comes at once to where the last one ended, and goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from paritygate import recorded
from paritygate.causes.flow import Run
from paritygate.classifier.evidence import same_calendar
from paritygate.outcomes.cells import Cell, EnvironmentName, TestId
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import CellStatus, Worktree

TELLING = frozenset({CellStatus.FINISHED, CellStatus.NO_TESTS, CellStatus.UNUSABLE})
"""How cells end that told all that they could; another one is worth a second try."""


class Remembered(msgspec.Struct, frozen=True):
    """A cell and how it was planned; in a report plans are without their lists, and `lists` is false."""

    plan: CellPlan
    cell: Cell
    tests: frozenset[TestId]
    lists: bool = False

    @property
    def name(self) -> str:
        """Say which cell this is."""
        return f"{self.cell.env}-{self.cell.attempt}"


class Memory:
    """All cells that looked for causes, earlier ones and those that run now, each under a number that no other has.

    `gate` are the cells of the gate with their `plans`, and `known` all others that there are.
    """

    def __init__(self, gate: Sequence[Cell], plans: Sequence[CellPlan], known: Iterable[Cell], run: Run) -> None:
        self._gate = gate
        self._plans = plans
        self._run = run
        self._numbers: dict[EnvironmentName, int] = {}
        for cell in (*gate, *known):
            self._numbers[cell.env] = max(cell.attempt, self._numbers.get(cell.env, 0))
        self._remembered: dict[bytes, list[Remembered]] = {}
        self._whole = _whole(gate, plans)

    def add(self, plan: CellPlan, cell: Cell) -> None:
        """Remember a cell of a report, if it told all that it could, on the dates of the gate."""
        zone = plan.environment.timezone
        envs = {each.environment.name for each in self._plans if each.environment.timezone == zone}
        if cell.about and cell.status in TELLING and all(same_calendar(self._gate, env, cell) for env in envs):
            self._remembered.setdefault(_key(plan), []).append(Remembered(plan, cell, frozenset(cell.about)))

    def like(self, plan: CellPlan) -> Iterator[Remembered]:
        """Find the cells that answer a plan, the earliest first."""
        return (each for each in self._remembered.get(_key(plan), ()) if self._answers(plan, each))

    def run(self, plans: Sequence[CellPlan], tests: frozenset[TestId]) -> tuple[Cell, ...]:
        """Run cells that are about some of these tests, and remember them."""
        numbered = tuple(self._numbered(plan) for plan in plans)
        cells = tuple(self._run(numbered)) if numbered else ()
        for plan, cell in zip(numbered, cells, strict=True):
            self._remembered.setdefault(_key(plan), []).append(Remembered(plan, cell, tests, lists=True))
        return cells

    def _numbered(self, plan: CellPlan) -> CellPlan:
        env = plan.environment.name
        self._numbers[env] = self._numbers.get(env, 0) + 1
        return msgspec.structs.replace(plan, attempt=self._numbers[env])

    def _answers(self, plan: CellPlan, each: Remembered) -> bool:
        """Say whether a cell ran just the tests of a plan, in its order, and noted the files that they touch if that is asked.

        Reports of before `watched` was recorded do not say which cells of the gate's own environments did.
        """
        if each.lists:
            return each.plan.order == plan.order and (each.plan.watched is None) == (plan.watched is None)
        own = any(plan.environment.name == other.environment.name for other in self._plans)
        told = each.plan.watched is not None or plan.watched is None or not own
        return told and _ran_so(plan, each.cell, self._whole.get(plan.environment.worktree, frozenset()))


class Reading:
    """One search's way through a memory, from its beginning: each cell that is about its tests alone answers it once."""

    def __init__(self, memory: Memory, tests: Iterable[TestId]) -> None:
        self._memory = memory
        self._tests = frozenset(tests)
        self._used: set[str] = set()

    def holds(self, plans: Sequence[CellPlan]) -> bool:
        """Say whether nothing has to run for some cells."""
        return all(each is not None for each in self._found(plans))

    def run(self, plans: Sequence[CellPlan]) -> tuple[Cell, ...]:
        """Give cells in the order of their plans; what nobody remembers is run."""
        found = self._found(plans)
        lacking = [plan for plan, each in zip(plans, found, strict=True) if each is None]
        ran = iter(self._memory.run(lacking, self._tests))
        cells = tuple(next(ran) if each is None else each.cell for each in found)
        self._used |= {f"{cell.env}-{cell.attempt}" for cell in cells}
        return cells

    def _found(self, plans: Sequence[CellPlan]) -> list[Remembered | None]:
        used = set(self._used)
        found = []
        for plan in plans:
            each = next((one for one in self._memory.like(plan) if one.tests <= self._tests and one.name not in used), None)
            used |= {each.name} if each is not None else set()
            found.append(each)
        return found


def _key(plan: CellPlan) -> bytes:
    """Say all of a plan but its number, and what a report leaves out."""
    (bare,) = recorded.plans_for_the_record((plan,))
    return msgspec.json.encode(msgspec.structs.replace(bare, attempt=0, watched=None))


def _whole(gate: Iterable[Cell], plans: Iterable[CellPlan]) -> Mapping[Worktree, AbstractSet[TestId]]:
    """Say what there is to run in each state of the tree."""
    state_of = {plan.environment.name: plan.environment.worktree for plan in plans}
    whole: dict[Worktree, set[TestId]] = {}
    for cell in gate:
        if cell.env in state_of:
            whole.setdefault(state_of[cell.env], set()).update(test for each in cell.order.values() for test in each)
    return whole


def _ran_so(plan: CellPlan, cell: Cell, whole: AbstractSet[TestId]) -> bool:
    """Say whether a cell whose plan has lost its lists ran what another plan asks for.

    | asked for | then the cell |
    |---|---|
    | exactly a list | ran it, in one process |
    | only some tests | is about some of them, ran all others of them, and nothing else |
    | all | ran all that there is in its tree |
    """
    if plan.order.exactly:
        return tuple(cell.order.values()) == (plan.order.exactly,)
    ran = {test for each in cell.order.values() for test in each}
    if only := {*plan.order.only}:
        about = {*cell.about}
        return about <= only and only - about <= ran <= only
    return bool(whole) and ran >= whole
