"""Runs flagged tests in further attempts of the gate's own environments until each is settled.

Every further cell runs everything in the order of a gate cell, since what a test collides with has to be there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import msgspec

from paritygate.classifier.evidence import Gate, Tally, attempts_needed, results, sides, tally
from paritygate.outcomes.cells import Cell, EnvironmentName, TestId
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import Purpose

REPEATS = 2


class Run(Protocol):
    """Runs cells, side by side as far as that goes."""

    def __call__(self, plans: tuple[CellPlan, ...], /) -> Sequence[Cell]:
        """Answer with a cell for each plan, in the order of the plans; a dead cell is a cell too."""


def further_attempts(gate: Gate, run: Run) -> tuple[Cell, ...]:
    """Run rounds of attempts, one in each environment that an open test needs, until no test is open.

    Open is a test without a contrary result so far, with a result in every round, and with fewer rounds than it needs.
    """
    chosen = sides(gate.flagged.values())
    cells: tuple[Cell, ...] = ()
    for number in range(max((attempts_needed(len(envs)) for envs in chosen.values()), default=0)):
        tallies = tally(gate, cells)
        still = {
            test: envs
            for test, envs in chosen.items()
            if number < attempts_needed(len(envs)) and not any(_settles(env, each, envs) for env, each in tallies[test].items())
        }
        wanted = tuple(dict.fromkeys(env for envs in still.values() for env in envs))
        plans = tuple(further_plan(gate, env, number) for env in wanted)
        cells += run_whole(plans, run, partial(_says_all, gate, still))
    return cells


def _settles(env: EnvironmentName, each: Tally, envs: Sequence[EnvironmentName]) -> bool:
    return bool(each.contrary) or (env in envs and each.silent > 0)


def _says_all(gate: Gate, still: dict[TestId, tuple[EnvironmentName, ...]], cell: Cell) -> bool:
    """Tell whether a cell has a result for every open test that needs its environment."""
    (answer,) = results(gate, (cell,))
    return all(test in answer for test, envs in still.items() if cell.env in envs)


def further_plan(gate: Gate, env: EnvironmentName, number: int) -> CellPlan:
    """Plan the further attempt with this number, from 0: orders of the gate's attempts by turns, data seeds that are new."""
    plans = gate.plans_of(env)
    attempt = plans[-1].attempt + 1 + number
    return msgspec.structs.replace(
        plans[number % len(plans)], attempt=attempt, seed=further_seed(plans, attempt), purpose=Purpose.CONFIRM
    )


def further_seed(plans: Sequence[CellPlan], attempt: int) -> int:
    """Derive the seed of a further attempt from those of the gate: equal in every environment, below 2**32."""
    text = f"{[plan.seed for plan in plans]}\n{attempt}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big")


def run_whole(plans: tuple[CellPlan, ...], run: Run, enough: Callable[[Cell], bool]) -> tuple[Cell, ...]:
    """Run plans, and again, at most twice, those whose cell does not say enough; every cell that ran is in the answer."""
    cells: tuple[Cell, ...] = ()
    for _ in range(1 + REPEATS):
        if not plans:
            break
        ran = tuple(run(plans))
        cells += ran
        plans = tuple(plan for plan, cell in zip(plans, ran, strict=True) if not enough(cell))
    return cells
