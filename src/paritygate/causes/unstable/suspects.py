"""What is to be explained: for each unstable test two cells of one environment, in which it did one thing and another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from paritygate.causes.cases import rank
from paritygate.classifier.evidence import KILLING, Gate, beside, is_unusable, same_calendar
from paritygate.classifier.labels import DRIFTS
from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.cells import Cell, EnvironmentName, TestId, TestRun
from paritygate.outcomes.plans import CellPlan, Order
from paritygate.outcomes.words import CellStatus, Outcome

Told = tuple[Outcome, TestRun | None]


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """All that is held or moved of a cell in one environment: its order, the number of processes, both seeds."""

    env: EnvironmentName
    order: Order
    workers: int
    seed: int
    hash_seed: int
    reseeds: bool = True


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """A finished cell as something that can be run again: `lists` says for each worker what it ran, in order.

    `order` is what it ran where that is known, `planned` how the gate asked for it.
    """

    env: EnvironmentName
    attempt: int
    order: Order
    planned: Order
    workers: int
    seed: int
    lists: tuple[tuple[TestId, ...], ...]

    def list_of(self, test: TestId) -> tuple[TestId, ...]:
        """List what the process ran that ran a test, up to and with it; nothing where none did."""
        for each in self.lists:
            if test in each:
                return each[: each.index(test) + 1]
        return ()


class Suspect(msgspec.Struct, frozen=True, kw_only=True):
    """An unstable test, a cell in which it did the `better` and one of the same environment in which it did the `worse`."""

    test: TestId
    well: Ran
    ill: Ran
    better: Outcome
    worse: Outcome

    @property
    def ends_its_process(self) -> bool:
        """Whether what comes after it in a process loses its order."""
        return bool({self.better, self.worse} & KILLING)


def suspects_of(gate: Gate, cells: Sequence[Cell]) -> tuple[Suspect, ...]:
    """Choose for every flagged test the environment and the cells in which it is looked into, with few workers if possible."""
    envs = sorted({plan.environment.name for plan in gate.plans}, key=lambda env: _workers(gate, env))
    known = [cell for env in envs for cell in cells if cell.env == env and cell.status is CellStatus.FINISHED]
    saw: dict[TestId, list[tuple[Ran, Outcome]]] = {test: [] for test in gate.flagged}
    for cell, told in zip(known, beside(gate, known), strict=True):
        ran = _ran(gate, cell)
        if ran is not None and same_calendar(gate.cells, cell.env, cell):
            for test, (outcome, run) in told.items():
                if outcome is not Outcome.NOT_RUN and not is_unusable(cell, run):
                    saw[test].append((ran, outcome))
    some = (_suspect(test, saw[test], envs) for test, finding in gate.flagged.items() if not _drifts(finding))
    return tuple(each for each in some if each is not None)


def _workers(gate: Gate, env: EnvironmentName) -> tuple[bool, int]:
    """Say what is looked into first: one process, then the order of the configuration."""
    names = [plan.environment.name for plan in gate.plans]
    return gate.plans_of(env)[0].environment.workers > 1, names.index(env)


def _drifts(finding: Finding) -> bool:
    """Say whether a test has another id each time, so that no cell can be asked for it."""
    return DRIFTS in finding.note


def _suspect(test: TestId, saw: Iterable[tuple[Ran, Outcome]], envs: Iterable[EnvironmentName]) -> Suspect | None:
    some = tuple(saw)
    for env in envs:
        here = [(ran, outcome) for ran, outcome in some if ran.env == env]
        if len({outcome for _, outcome in here}) > 1:
            well, better = min(here, key=lambda each: rank(each[1]))
            ill, worse = max(here, key=lambda each: (each[1] is not better, rank(each[1])))
            return Suspect(test=test, well=well, ill=ill, better=better, worse=worse)
    return None


def _ran(gate: Gate, cell: Cell) -> Ran | None:
    """Say how a cell can be run again; None where that is not known.

    | processes | its order |
    |---|---|
    | one | what it ran |
    | several | that of the gate's attempt in which each worker ran the same |
    """
    lists = tuple(cell.order.values())
    plan = _plan_of(gate, cell)
    if plan is None or not lists:
        return None
    one = plan.environment.workers <= 1 or not any(cell.order)
    if one and len(lists) != 1:
        return None
    planned = _planned(gate, plan)
    return Ran(
        env=cell.env,
        attempt=cell.attempt,
        order=Order(seed=0, exactly=lists[0]) if one else planned,
        planned=planned,
        workers=0 if one else plan.environment.workers,
        seed=cell.seed,
        lists=lists,
    )


def _plan_of(gate: Gate, cell: Cell) -> CellPlan | None:
    """Find the gate's plan that a cell has its order from; a cell in one process says itself what its order was."""
    plans = gate.plans_of(cell.env)
    alike = {each.attempt for each in gate.cells if each.env == cell.env and each.order == cell.order}
    if found := next((plan for plan in plans if plan.attempt in alike), None):
        return found
    own = plans and (plans[0].environment.workers <= 1 or not any(cell.order))
    return plans[0] if own else None


def _planned(gate: Gate, plan: CellPlan) -> Order:
    """Say in which order the gate ran a cell, without the tests that end their process, but with those that are flagged."""
    env = plan.environment.name
    if env not in gate.company:
        return plan.order
    return msgspec.structs.replace(plan.order, only=tuple(dict.fromkeys((*gate.company[env], *gate.flagged))))


def listed(ran: Ran, kept: Iterable[TestId]) -> tuple[TestId, ...]:
    """Keep of the one list of a cell what is named, in its order."""
    some = frozenset(kept)
    return tuple(test for each in ran.lists for test in each if test in some)


def lists_up_to(ran: Ran, tests: Iterable[TestId]) -> Iterator[TestId]:
    """Yield what the one process of a cell ran up to the last of some tests."""
    some = frozenset(tests)
    for each in ran.lists:
        end = max((place for place, test in enumerate(each) if test in some), default=-1)
        yield from each[: end + 1]
