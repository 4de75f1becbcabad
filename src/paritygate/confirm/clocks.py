"""Checks whether a coupling under a moved clock is one of dates, or only of files that keep their true times.

A test that compares the time of a file that it has made with the clock finds it years old where the clock alone is moved, and
nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

import msgspec

from paritygate.classifier.clocks import unlike_files
from paritygate.classifier.evidence import Gate, noted, results, stable_outcome
from paritygate.confirm.attempts import Question, Run, beside_others, cell_name, run_whole
from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.cells import Cell, EnvironmentName, TestId
from paritygate.outcomes.words import Label, Outcome, Purpose


def check_file_times(gate: Gate, run: Run, taken: Mapping[EnvironmentName, int]) -> tuple[tuple[Finding, ...], tuple[Cell, ...]]:
    """Run coupled tests once more under moved clocks, with files that have their times; answer with what that makes of them.

    A test is asked under every moved clock but those under which it does what it does wherever the time is true.

    | there | label |
    |---|---|
    | what the gate saw under that clock | `coupling`: files have nothing to do with it |
    | anything else, or nothing | `undecided` |

    `taken` says for each environment the last attempt number that is in use.
    """
    clocks = {plan.environment.name: plan.environment.clock for plan in gate.plans}
    true = frozenset(env for env, clock in clocks.items() if not clock)
    wanted = {env: tests for env, clock in clocks.items() if clock and (tests := _parted(gate, env, true))}
    questions = tuple(_question(gate, env, tests, taken[env] + 1) for env, tests in wanted.items())
    about = {question.plan.name: wanted[question.plan.environment.name] for question in questions}

    def unanswered(done: tuple[Cell, ...]) -> frozenset[str]:
        told = _answers(gate, done)
        return frozenset(name for name, tests in about.items() if not tests <= told.get(name, {}).keys())

    cells = run_whole(questions, run, unanswered)
    told = _answers(gate, cells)
    seen: dict[TestId, dict[EnvironmentName, Outcome | None]] = {}
    for question in questions:
        for test in wanted[question.plan.environment.name]:
            seen.setdefault(test, {})[question.plan.environment.name] = told.get(question.plan.name, {}).get(test)
    return tuple(_judged(finding, seen.get(test, {})) for test, finding in gate.flagged.items()), cells


def _parted(gate: Gate, env: EnvironmentName, true: AbstractSet[EnvironmentName]) -> frozenset[TestId]:
    """List the tests that are coupled, ran in an environment, and did something else than wherever the time is true."""
    ran = ((test, finding) for test, finding in gate.flagged.items() if env in finding.outcomes)
    return frozenset(
        test
        for test, finding in ran
        if (outcome := stable_outcome(finding, env)) is not Outcome.NOT_COLLECTED and {outcome} != _outcomes(finding, true)
    )


def _outcomes(finding: Finding, envs: AbstractSet[EnvironmentName]) -> frozenset[Outcome]:
    return frozenset(stable_outcome(finding, env) for env in finding.outcomes if env in envs)


def _question(gate: Gate, env: EnvironmentName, tests: AbstractSet[TestId], attempt: int) -> Question:
    base = gate.plans_of(env)[0]
    plan = msgspec.structs.replace(base, attempt=attempt, purpose=Purpose.HYBRID, clock_files=True)
    return beside_others(gate, plan, base, tests)


def _answers(gate: Gate, cells: tuple[Cell, ...]) -> dict[str, dict[TestId, Outcome]]:
    answers: dict[str, dict[TestId, Outcome]] = {}
    for cell, answer in zip(cells, results(gate, cells), strict=True):
        answers.setdefault(cell_name(cell), {}).update(answer)
    return answers


def _judged(finding: Finding, seen: Mapping[EnvironmentName, Outcome | None]) -> Finding:
    for env, outcome in seen.items():
        if outcome is None:
            note = f"confirmed; undecided since no cell told what it does in `{env}` with files that have the moved clock's times"
            return msgspec.structs.replace(finding, label=Label.UNDECIDED, note=noted(finding, note))
        if outcome is not stable_outcome(finding, env):
            return unlike_files(finding, env, outcome)
    return finding
