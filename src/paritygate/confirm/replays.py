"""Checks whether order alone makes a coupling: the list of one worker, run in the environment that has no workers.

Where that gives what the other environment gave, the test disagrees with itself inside one environment.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from paritygate.classifier.evidence import NOT_ORDER, Gate, noted, results, stable_outcome
from paritygate.confirm.attempts import Question, Run, cell_name, run_whole
from paritygate.outcomes.artifact import Cause, Finding
from paritygate.outcomes.cells import Cell, EnvironmentName, TestId
from paritygate.outcomes.plans import CellPlan, Order
from paritygate.outcomes.words import CauseKind, CellStatus, Label, Outcome, Purpose

ONLY_WORKER = "gw0"


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """One worker's list from a gate cell, to be run in another environment; `tests` are the coupled ones in it."""

    source: EnvironmentName
    attempt: int
    worker: str
    target: EnvironmentName
    tests: frozenset[TestId]
    order: tuple[TestId, ...]
    seed: int


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What one test did under one replay; None where no cell gave an outcome."""

    replay: Replay
    outcome: Outcome | None


def replays(gate: Gate) -> tuple[Replay, ...]:
    """Find every list to run: for each coupled test, from each environment with several workers into each with one."""
    workers = {plan.environment.name: plan.environment.workers for plan in gate.plans}
    cells = {env: cell for env in workers for cell in _first_finished(gate, env)}
    places = {env: {test: worker for worker, order in cell.order.items() for test in order} for env, cell in cells.items()}
    lists: dict[tuple[EnvironmentName, EnvironmentName, str], set[TestId]] = {}
    for test, finding in gate.flagged.items():
        for source, target in _pairs(finding, workers):
            if test in places.get(source, ()) and test in places.get(target, ()):
                lists.setdefault((source, target, places[source][test]), set()).add(test)
    return tuple(
        _replay(cells[source], worker, frozenset(tests), target, places[target].keys())
        for (source, target, worker), tests in lists.items()
    )


def _pairs(finding: Finding, workers: Mapping[EnvironmentName, int]) -> Iterable[tuple[EnvironmentName, EnvironmentName]]:
    ran = [env for env in finding.outcomes if env in workers and stable_outcome(finding, env) is not Outcome.NOT_COLLECTED]
    for source in ran:
        for target in ran:
            differ = stable_outcome(finding, source) is not stable_outcome(finding, target)
            if differ and workers[source] > 1 >= workers[target]:
                yield source, target


def _first_finished(gate: Gate, env: EnvironmentName) -> Sequence[Cell]:
    finished = (
        cell for cell in gate.cells if cell.env == env and cell.status is CellStatus.FINISHED and cell.purpose is Purpose.GATE
    )
    return sorted(finished, key=lambda cell: cell.attempt)[:1]


def _replay(cell: Cell, worker: str, tests: frozenset[TestId], target: EnvironmentName, there: AbstractSet[TestId]) -> Replay:
    """Cut a worker's list after its last coupled test, and leave out what the target does not have."""
    order = cell.order[worker]
    last = max(place for place, test in enumerate(order) if test in tests)
    return Replay(
        source=cell.env,
        attempt=cell.attempt,
        worker=worker,
        target=target,
        tests=tests,
        order=tuple(test for test in order[: last + 1] if test in there),
        seed=cell.seed,
    )


def check_order(gate: Gate, run: Run, taken: Mapping[EnvironmentName, int]) -> tuple[tuple[Finding, ...], tuple[Cell, ...]]:
    """Run every replay, and once more what gave the other environment's outcome; answer with what that makes of the couplings.

    `taken` says for each environment the last attempt number that is in use.
    """
    numbers = dict(taken)
    first, ran = _run_all(gate, replays(gate), run, numbers)
    odd = {test: each for test, some in first.items() for each in some if _reproduces(gate, test, each)}
    again: dict[Replay, list[TestId]] = {}
    for test, each in odd.items():
        again.setdefault(each.replay, []).append(test)
    second, more = _run_all(
        gate, tuple(msgspec.structs.replace(replay, tests=frozenset(tests)) for replay, tests in again.items()), run, numbers
    )
    findings = []
    for test, finding in gate.flagged.items():
        if test in odd:
            findings.append(_overturned(finding, odd[test], second[test][0]))
        elif any(each.outcome is None for each in first.get(test, ())):
            note = "confirmed; undecided since the cells that were to check whether order alone makes it died"
            findings.append(msgspec.structs.replace(finding, label=Label.UNDECIDED, note=noted(finding, note)))
        else:
            findings.append(_checked(finding, first.get(test, ())))
    return tuple(findings), ran + more


def _reproduces(gate: Gate, test: TestId, each: Seen) -> bool:
    return each.outcome is stable_outcome(gate.flagged[test], each.replay.source)


def _run_all(
    gate: Gate, wanted: Sequence[Replay], run: Run, numbers: dict[EnvironmentName, int]
) -> tuple[dict[TestId, list[Seen]], tuple[Cell, ...]]:
    planned: dict[str, Replay] = {}
    questions = []
    for replay in wanted:
        numbers[replay.target] += 1
        plan = _plan(gate, replay, numbers[replay.target])
        planned[plan.name] = replay
        questions.append(Question(plan, tuple(sorted(replay.tests))))

    def unanswered(done: tuple[Cell, ...]) -> frozenset[str]:
        return frozenset(name for name, answer in _answers(gate, done).items() if not planned[name].tests <= answer.keys())

    cells = run_whole(questions, run, unanswered)
    answers = _answers(gate, cells)
    seen: dict[TestId, list[Seen]] = {}
    for name, replay in planned.items():
        for test in replay.tests:
            seen.setdefault(test, []).append(Seen(replay=replay, outcome=answers[name].get(test)))
    return seen, cells


def _answers(gate: Gate, cells: tuple[Cell, ...]) -> dict[str, dict[TestId, Outcome]]:
    """Say by cell what replays gave; a test that one was asked for and did not collect has given nothing."""
    answers: dict[str, dict[TestId, Outcome]] = {}
    for cell, answer in zip(cells, results(gate, cells), strict=True):
        gave = {test: outcome for test, outcome in answer.items() if outcome is not Outcome.NOT_COLLECTED}
        answers.setdefault(cell_name(cell), {}).update(gave)
    return answers


def _plan(gate: Gate, replay: Replay, attempt: int) -> CellPlan:
    """Plan a replay with the data seed of the cell that the list is from, so that nothing but order moves.

    A single worker of the target stays one: without it a test that knows that it is in a worker would look as if order moved it.
    """
    base = gate.plans_of(replay.target)[0]
    alone = base.environment.workers == 0
    order = Order(seed=base.order.seed, exactly=replay.order)
    return msgspec.structs.replace(
        base,
        attempt=attempt,
        seed=replay.seed,
        order=order if alone else Order(seed=base.order.seed, shares=((ONLY_WORKER, replay.order),)),
        purpose=Purpose.HYBRID,
    )


def _checked(finding: Finding, seen: Iterable[Seen]) -> Finding:
    """Say of a coupling what every replay gave, so that a reader sees that it is not the order."""
    said = ", ".join(dict.fromkeys(f"{_in_words(each.replay)} it is `{each.outcome}`" for each in seen))
    return msgspec.structs.replace(finding, note=noted(finding, f"{NOT_ORDER}{said}")) if said else finding


def _in_words(replay: Replay) -> str:
    whose = f"worker {replay.worker} of `{replay.source}`" if replay.worker else f"`{replay.source}`"
    return f"run by one process in `{replay.target}`, in the order of {whose},"


def _overturned(finding: Finding, first: Seen, second: Seen) -> Finding:
    replay = first.replay
    what = f"the order of `{replay.source}` attempt {replay.attempt}{f', worker {replay.worker}' if replay.worker else ''}"
    gave = f"{what}, run by one process in `{replay.target}`, gave `{first.outcome}`"
    if second.outcome is first.outcome:
        cause = Cause(kind=CauseKind.ORDER, detail=f"{gave}, twice of two times")
        return msgspec.structs.replace(
            finding, label=Label.NONDETERMINISM, cause=cause, note=noted(finding, "order alone makes the difference")
        )
    then = f"`{second.outcome}` the second time" if second.outcome is not None else "nothing the second time"
    return msgspec.structs.replace(finding, label=Label.NONDETERMINISM, note=noted(finding, f"{gave}, and {then}"))
