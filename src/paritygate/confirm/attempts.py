"""Runs flagged tests in further attempts of the gate's own environments until each is settled.

Every further cell runs in the order of a gate cell, and everything in it that a flagged test may collide with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Protocol

import msgspec

from paritygate.classifier.evidence import Gate, attempts_needed, results, sides, tally, told
from paritygate.outcomes.cells import Cell, EnvironmentName, TestId
from paritygate.outcomes.plans import CellPlan, Order
from paritygate.outcomes.words import CellStatus, Purpose

REPEATS = 2

Needs = Mapping[TestId, tuple[EnvironmentName, ...]]


class Question(msgspec.Struct, frozen=True):
    """A further cell to be run, and the flagged tests that it is cut down for; none where it runs everything."""

    plan: CellPlan
    about: tuple[TestId, ...] = ()


Unanswered = Callable[[tuple[Cell, ...]], AbstractSet[str]]


class Run(Protocol):
    """Runs cells, side by side as far as that goes."""

    def __call__(self, plans: tuple[CellPlan, ...], /) -> Sequence[Cell]:
        """Answer with a cell for each plan, in the order of the plans; a dead cell is a cell too."""


def further_attempts(gate: Gate, run: Run) -> tuple[Cell, ...]:
    """Run one attempt in each environment that a flagged test needs, and then all the others at once for what is still open.

    Open is a test without a contrary result so far and with a result in every attempt. A coupling costs five cells in each of
    two environments, in two batches. The first batch settles a flaky test at a chance of 1 - p(1 - p), so never less than
    three of four; the others would have cost fewer cells one by one, and much more time.
    """
    chosen = sides(gate.flagged.values())
    rounds = max((attempts_needed(len(envs)) for envs in chosen.values()), default=0)
    done: tuple[Cell, ...] = ()
    for numbers in (range(1), range(1, rounds)):
        still = _open(gate, chosen, done)
        questions = tuple(question for number in numbers for question in _round(gate, still, number, rounds))
        done += run_whole(questions, run, partial(_unanswered, gate, still))
    return done


def _open(gate: Gate, chosen: Needs, done: tuple[Cell, ...]) -> Needs:
    tallies = tally(gate, done)
    return {
        test: envs
        for test, envs in chosen.items()
        if not any(each.contrary or (env in envs and each.silent) for env, each in tallies[test].items())
    }


def _unanswered(gate: Gate, needs: Needs, done: tuple[Cell, ...]) -> frozenset[str]:
    """Name the cells that have not told of some test that needs them, unless another cell has settled that test."""
    told_of: dict[str, set[TestId]] = {}
    for cell, answer in zip(done, results(gate, done), strict=True):
        told_of.setdefault(cell_name(cell), set()).update(answer)
    settled = {test for test, by_env in tally(gate, done).items() if any(each.contrary for each in by_env.values())}
    return frozenset(
        cell_name(cell)
        for cell in done
        if any(cell.env in needs.get(test, ()) for test in told(gate, cell) - told_of[cell_name(cell)] - settled)
    )


def _round(gate: Gate, needs: Needs, number: int, rounds: int) -> Iterator[Question]:
    """Ask one round of attempts.

    Flagged tests that end their process in an environment are asked there apart, as the gate did it: what comes after them in
    the same cell has lost its order.
    """
    wanted: dict[EnvironmentName, set[TestId]] = {}
    for test, envs in needs.items():
        for env in envs:
            wanted.setdefault(env, set()).add(test)
    for env, tests in wanted.items():
        plan = further_plan(gate, env, number)
        killers = gate.flagged.keys() & gate.killers.get(env, frozenset())
        if tests - killers:
            yield beside_others(gate, plan, origin(gate, env, number), tests - killers)
        if tests & killers:
            apart = tuple(sorted(killers))
            order = msgspec.structs.replace(plan.order, only=(*gate.company[env], *apart))
            yield Question(msgspec.structs.replace(plan, attempt=plan.attempt + rounds, order=order), apart)


def beside_others(gate: Gate, plan: CellPlan, base: CellPlan, tests: AbstractSet[TestId]) -> Question:
    """Ask of tests in the company that they had, as far as that can matter and does not end the process.

    | | order of the cell |
    |---|---|
    | at most one worker, and the gate's cell ran every one of these tests | that cell's, up to the last of these tests |
    | otherwise, and some tests end their process in this environment | the gate's, without those |
    | otherwise | the gate's |

    With several workers nothing is cut off: what comes later in one list runs beside what comes earlier in another.
    """
    env = plan.environment.name
    flagged = tuple(test for test in gate.flagged if test not in gate.killers.get(env, frozenset()))
    if cut := _cut(gate, base, tests):
        order = Order(seed=plan.order.seed, exactly=cut)
        return Question(msgspec.structs.replace(plan, order=order), tuple(test for test in cut if test in gate.flagged))
    if env in gate.company:
        order = msgspec.structs.replace(plan.order, only=tuple(dict.fromkeys((*gate.company[env], *flagged))))
        return Question(msgspec.structs.replace(plan, order=order), flagged)
    return Question(plan)


def _cut(gate: Gate, base: CellPlan, tests: AbstractSet[TestId]) -> tuple[TestId, ...]:
    """Say what the gate's cell of this plan ran up to the last of these tests; nothing where that is all or cannot be said."""
    env = base.environment.name
    cell = next((cell for cell in gate.cells if (cell.env, cell.attempt) == (env, base.attempt)), None)
    if cell is None or base.environment.workers > 1 or cell.status is not CellStatus.FINISHED or len(cell.order) != 1:
        return ()
    (order,) = cell.order.values()
    places = {test: place for place, test in enumerate(order)}
    if not tests <= places.keys():
        return ()
    end = 1 + max(places[test] for test in tests)
    killers = gate.killers.get(env, frozenset())
    return tuple(test for test in order[:end] if test not in killers) if end < len(order) else ()


def origin(gate: Gate, env: EnvironmentName, number: int) -> CellPlan:
    """Choose the gate's plan that the further attempt with this number, from 0, takes its order from: all by turns."""
    plans = gate.plans_of(env)
    return plans[number % len(plans)]


def further_plan(gate: Gate, env: EnvironmentName, number: int) -> CellPlan:
    """Plan the further attempt with this number, from 0, with a data seed that is new."""
    plans = gate.plans_of(env)
    attempt = plans[-1].attempt + 1 + number
    return msgspec.structs.replace(
        origin(gate, env, number), attempt=attempt, seed=further_seed(plans, attempt), purpose=Purpose.CONFIRM
    )


def further_seed(plans: Sequence[CellPlan], attempt: int) -> int:
    """Derive the seed of a further attempt from those of the gate: equal in every environment, below 2**32."""
    text = f"{[plan.seed for plan in plans]}\n{attempt}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big")


def run_whole(questions: Sequence[Question], run: Run, unanswered: Unanswered) -> tuple[Cell, ...]:
    """Run cells, and again, at most twice, those that are unanswered by all that came of them; every cell is in the answer."""
    done: tuple[Cell, ...] = ()
    for _ in range(1 + REPEATS):
        if not questions:
            break
        cells = run(tuple(question.plan for question in questions))
        done += tuple(
            msgspec.structs.replace(cell, about=question.about) for question, cell in zip(questions, cells, strict=True)
        )
        names = unanswered(done)
        questions = tuple(question for question in questions if question.plan.name in names)
    return done


def cell_name(cell: Cell) -> str:
    """Say which plan a cell comes from."""
    return f"{cell.env}-{cell.attempt}"
