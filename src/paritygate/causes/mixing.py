"""Plans the cells of mixed environments: what is to run in them, in which order, and on which filesystem and tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from paritygate import environments
from paritygate.causes.cases import Case
from paritygate.causes.computers import Beyond
from paritygate.causes.search import Mix
from paritygate.classifier.evidence import Gate
from paritygate.outcomes.cells import Cell, EnvironmentName, TestId
from paritygate.outcomes.plans import CellPlan, Environment, Filesystem, Order
from paritygate.outcomes.words import Axis, CellStatus, Purpose

LONG_SECONDS = 5.0

FilesystemOf = Callable[[Environment], Filesystem | None]


class Hybrid(msgspec.Struct, frozen=True):
    """A mixed environment: that of `base`, with some axes from the donor."""

    base: EnvironmentName
    donor: EnvironmentName
    taken: tuple[Axis, ...]

    @property
    def name(self) -> EnvironmentName:
        """Name it by what it is made of; no environment of a configuration can have such a name."""
        return EnvironmentName("+".join((self.base, *self.taken)))

    def source(self, axis: Axis) -> EnvironmentName:
        """Say which environment an axis is from."""
        return self.donor if axis in self.taken else self.base


class Question(msgspec.Struct, frozen=True):
    """A cell to be run, and the flagged tests that it can tell of: more, it may be, than it was asked about."""

    hybrid: Hybrid
    plan: CellPlan
    about: tuple[TestId, ...]


def hybrid_of(case: Case, mix: Mix) -> Hybrid:
    """Say which hybrid a mixture is: made from where the most of it is from, so that both directions share their cells.

    Where more differs than the axes that varied, the base's share of that stays. All axes are put on the base, to see whether
    they are all there is. Where the two run on different computers, the mixture is made on the one that it is to be on.
    """
    pair = case.pair
    taken = tuple(axis for axis in pair.axes if axis in mix)
    left = tuple(axis for axis in pair.axes if axis not in mix)
    from_target = len(left) < len(taken) or (len(left) == len(taken) and case.target == pair.first)
    if pair.computers:
        from_target = Beyond.COMPUTER in mix
    if pair.whole and (left or pair.computers) and from_target:
        return Hybrid(case.target, case.base, left)
    return Hybrid(case.base, case.target, taken)


def mix_of(case: Case, hybrid: Hybrid) -> Mix | None:
    """Say which mixture a hybrid is for a case; None where it is none."""
    taken = frozenset(hybrid.taken)
    mix: Mix = frozenset(case.pair.parts) - taken if hybrid.base == case.target else taken
    return mix if hybrid_of(case, mix) == hybrid else None


class Mixer:
    """Plans cells. `cells` are those of gate and confirmation, whole: what ran beside the flagged tests is their company.

    `watched` are the paths of which each cell is to say which test touches them.
    """

    def __init__(self, gate: Gate, cells: Sequence[Cell], filesystem_of: FilesystemOf, watched: tuple[str, ...] = ()) -> None:
        self._gate = gate
        self._watched = watched
        self._cells = [cell for cell in cells if cell.purpose is Purpose.GATE]
        self._filesystem_of = filesystem_of
        self._alone: AbstractSet[TestId] = frozenset()
        self._numbers: dict[EnvironmentName, int] = {}
        for cell in cells:
            self._numbers[cell.env] = max(cell.attempt, self._numbers.get(cell.env, 0))

    def need_company(self, tests: AbstractSet[TestId]) -> None:
        """Say which flagged tests need all that ran beside them; the others run alone from now on."""
        self._alone = self._gate.flagged.keys() - tests

    def is_long(self, env: EnvironmentName) -> bool:
        """Say whether what runs beside the flagged tests takes so long that it is worth finding out whether they need it."""
        return any(
            sum(run.seconds for run in cell.tests if run.test not in self._gate.flagged) > LONG_SECONDS * max(1, cell.workers)
            for cell in self._cells
            if cell.env == env
        )

    def alone(self, hybrid: Hybrid) -> Question | None:
        """Ask what the flagged tests do without all that ran beside them; not of those that end their process."""
        some = self._gate.flagged.keys() - self._killers(hybrid)
        plan = self._plan(hybrid, 0)
        return self._question(hybrid, plan, _only(plan, some), some) if some else None

    def questions(self, hybrid: Hybrid, turn: int, about: AbstractSet[TestId]) -> Iterator[Question]:
        """Ask once of tests what they do in a hybrid; `turn`, from 0, chooses the gate's attempt whose order and seeds it has.

        Where none of them needs company they run alone. Tests that end their process on either side run apart, as they did in
        the gate: what comes after them in the same cell has lost its order.
        """
        killers = self._killers(hybrid)
        plan = self._plan(hybrid, turn)
        if some := about - killers:
            order = _only(plan, self._alone - killers) if some <= self._alone else self._order(hybrid, turn, some)
            listed = order.exactly or order.only or self._gate.flagged.keys()
            yield self._question(hybrid, plan, order, (self._gate.flagged.keys() - killers) & set(listed))
        if some := about & killers:
            company = (test for test in self._company(hybrid) if test not in killers)
            order = msgspec.structs.replace(plan.order, only=(*company, *sorted(some)))
            yield self._question(hybrid, plan, order, some)

    def _question(self, hybrid: Hybrid, plan: CellPlan, order: Order, about: AbstractSet[TestId]) -> Question:
        self._numbers[hybrid.name] = self._numbers.get(hybrid.name, 0) + 1
        numbered = msgspec.structs.replace(plan, attempt=self._numbers[hybrid.name], order=order)
        return Question(hybrid, numbered, tuple(sorted(about)))

    def _killers(self, hybrid: Hybrid) -> AbstractSet[TestId]:
        nobody = frozenset[TestId]()
        return self._gate.killers.get(hybrid.base, nobody) | self._gate.killers.get(hybrid.donor, nobody)

    def _company(self, hybrid: Hybrid) -> dict[TestId, None]:
        there = (cell for cell in self._cells if cell.env in (hybrid.base, hybrid.donor))
        return dict.fromkeys(run.test for cell in there for run in cell.tests)

    def _turn_of(self, env: EnvironmentName, turn: int) -> CellPlan:
        plans = self._gate.plans_of(env)
        return plans[turn % len(plans)]

    def _plan(self, hybrid: Hybrid, turn: int) -> CellPlan:
        """Plan the cell; the tree brings what can be selected in it, and memory its limit."""
        base, donor = self._turn_of(hybrid.base, turn), self._turn_of(hybrid.donor, turn)
        environment = environments.hybrid(base.environment, donor.environment, hybrid.taken, hybrid.name)
        limits = base.limits
        if Axis.MEMORY in hybrid.taken:
            limits = msgspec.structs.replace(limits, memory=donor.limits.memory)
        return msgspec.structs.replace(
            base,
            environment=environment,
            purpose=Purpose.HYBRID,
            selection=donor.selection if Axis.WORKTREE in hybrid.taken else base.selection,
            limits=limits,
            filesystem=self._filesystem_of(environment),
            watched=self._watched,
        )

    def _order(self, hybrid: Hybrid, turn: int, about: AbstractSet[TestId]) -> Order:
        """Say what runs beside tests: all that may matter to them, and nothing that ends the process.

        | | order |
        |---|---|
        | at most one worker, and a gate cell of this turn ran all of them in one process | that cell's, up to the last of them |
        | otherwise | the gate's, without what ends its process |
        """
        killers = self._killers(hybrid)
        order = self._turn_of(hybrid.base, turn).order
        if cut := self._cut(hybrid, turn, about):
            return Order(seed=order.seed, exactly=tuple(test for test in cut if test not in killers))
        if not killers:
            return order
        return msgspec.structs.replace(order, only=tuple(test for test in self._company(hybrid) if test not in killers))

    def _cut(self, hybrid: Hybrid, turn: int, about: AbstractSet[TestId]) -> tuple[TestId, ...]:
        """Say what a gate cell in one process ran up to the last of these tests; nothing where that is all or cannot be said."""
        if self._turn_of(hybrid.source(Axis.WORKERS), turn).environment.workers > 1:
            return ()
        turns = {env: self._turn_of(env, turn).attempt for env in (hybrid.base, hybrid.donor)}
        for cell in self._cells:
            if turns.get(cell.env) == cell.attempt and cell.status is CellStatus.FINISHED and len(cell.order) == 1:
                (order,) = cell.order.values()
                places = {test: place for place, test in enumerate(order)}
                if about <= places.keys():
                    end = 1 + max(places[test] for test in about)
                    return order[:end] if end < len(order) else ()
        return ()


def _only(plan: CellPlan, tests: AbstractSet[TestId]) -> Order:
    return msgspec.structs.replace(plan.order, only=tuple(sorted(tests)))
