"""What further cells say of tests that looked coupled, and how much of that is enough.

Pure: it counts results and runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction

import msgspec

from paritygate.classifier.grid import form, observe, stands_for_many
from paritygate.classifier.memory import was_starved
from paritygate.classifier.moved import has_moved_clock
from paritygate.classifier.surroundings import days_ahead
from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.cells import Cell, EnvironmentName, TestId, TestRun
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import CellStatus, Label, Outcome, Purpose

RISK = Fraction(1, 1000)
KILLING = frozenset({Outcome.TIMED_OUT, Outcome.CRASHED})
COUPLED = frozenset({Label.COUPLING})
NOT_ORDER = "the order is not what makes the difference: "
"""How a note begins that says that replays of an order have changed nothing."""


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate found: its plans, the tests that look coupled, and its cells with what matters to those.

    `killers` are for each environment the tests that ended their process there, `company` all the others where there are any.
    """

    cells: tuple[Cell, ...]
    plans: tuple[CellPlan, ...]
    flagged: dict[TestId, Finding]
    killers: dict[EnvironmentName, frozenset[TestId]] = {}
    company: dict[EnvironmentName, tuple[TestId, ...]] = {}

    def plans_of(self, env: EnvironmentName) -> tuple[CellPlan, ...]:
        """List the plans of one environment, attempt by attempt."""
        return tuple(sorted((plan for plan in self.plans if plan.environment.name == env), key=lambda plan: plan.attempt))


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """What the further attempts in one environment gave: how many agree with the gate, what did not, how many said nothing."""

    agreeing: int = 0
    contrary: tuple[Outcome, ...] = ()
    silent: int = 0


def attempts_needed(outcomes: int, risk: Fraction = RISK) -> int:
    """Say how many further attempts each environment needs for a test that showed this many different outcomes.

    Suppose that j of the outcomes are one flaky test's, the environment being nothing to it: with chances p1...pj for them, m
    further attempts on each side all agree with what was seen at a chance of (p1 x ... x pj)^m, which is largest when all are
    1/j: j^(-jm). The number is the smallest m that keeps this under the risk for every j from 2 up. (p1 x ... x pj)^m is also
    the chance *given* that the test was flagged, since attempts are independent. Two outcomes weigh most: 4^-5 is 1/1024.
    """
    attempts = 1
    while max(Fraction(1, j ** (j * attempts)) for j in range(2, outcomes + 1)) >= risk:
        attempts += 1
    return attempts


def stable_outcome(finding: Finding, env: EnvironmentName) -> Outcome:
    """Say what the gate saw in an environment of a coupled test."""
    return finding.outcomes[env][0]


def flagged(findings: Iterable[Finding], labels: AbstractSet[Label] = COUPLED) -> dict[TestId, Finding]:
    """Find what is to be looked at further: what is to be confirmed, if nothing else is said."""
    return {TestId(each.nodeid, each.occurrence): each for each in findings if each.label in labels}


def gate_of(
    findings: Iterable[Finding], cells: Iterable[Cell], plans: Iterable[CellPlan], labels: AbstractSet[Label] = COUPLED
) -> Gate:
    """Take from a gate what is needed to look further at the tests with some labels."""
    some = flagged(findings, labels)
    forms = frozenset[str](form(test.nodeid) for test in some)
    whole = tuple(cell for cell in cells if cell.purpose is Purpose.GATE)
    killers: dict[EnvironmentName, frozenset[TestId]] = {}
    for cell in whole:
        if found := frozenset(run.test for run in cell.tests if run.outcome in KILLING):
            killers[cell.env] = killers.get(cell.env, frozenset()) | found
    company = {env: {run.test: None for cell in whole if cell.env == env for run in cell.tests} for env in killers}
    return Gate(
        cells=tuple(_narrowed(cell, forms) for cell in whole),
        plans=tuple(plans),
        flagged=some,
        killers=killers,
        company={env: tuple(test for test in tests if test not in killers[env]) for env, tests in company.items()},
    )


def sides(findings: Iterable[Finding]) -> dict[TestId, tuple[EnvironmentName, ...]]:
    """Choose for each finding one environment for each of its outcomes, the same for all as far as that goes."""
    chosen: dict[EnvironmentName, None] = {}
    result = {}
    for finding in findings:
        groups: dict[Outcome, list[EnvironmentName]] = {}
        for env in finding.outcomes:
            groups.setdefault(stable_outcome(finding, env), []).append(env)
        picked = [next((env for env in group if env in chosen), group[0]) for group in groups.values()]
        chosen.update(dict.fromkeys(picked))
        result[TestId(finding.nodeid, finding.occurrence)] = tuple(env for env in finding.outcomes if env in picked)
    return result


def results(gate: Gate, cells: Sequence[Cell]) -> tuple[dict[TestId, Outcome], ...]:
    """Say for each further cell what the flagged tests did there; a test without a usable result is not in the answer.

    A cell in which the local date stood otherwise to the UTC date than in the gate's cells is no evidence at all, nor is what
    an unusable cell did not run, unless it was unusable in the gate too, nor a death for lack of memory.
    """
    answers = []
    for cell, seen in zip(cells, beside(gate, cells), strict=True):
        answer: dict[TestId, Outcome] = {}
        if same_calendar(gate.cells, cell.env, cell):
            for test, (outcome, run) in seen.items():
                silent = outcome is Outcome.NOT_RUN or was_starved(cell, run)
                if not silent and (not is_unusable(cell, run) or stable_outcome(gate.flagged[test], cell.env) is Outcome.ERROR):
                    answer[test] = outcome
        answers.append(answer)
    return tuple(answers)


def beside(gate: Gate, cells: Sequence[Cell]) -> tuple[dict[TestId, tuple[Outcome, TestRun | None]], ...]:
    """Lay further cells beside the gate's: what each says of the flagged tests that it can tell of, and what bears that out."""
    forms = frozenset[str](form(test.nodeid) for test in gate.flagged)
    rows = {row.test: row for row in observe([*gate.cells, *(_narrowed(cell, forms) for cell in cells)])}
    answers = []
    for place, cell in enumerate(cells, start=len(gate.cells)):
        found = {test: rows.get(test) or rows.get(TestId(form(test.nodeid), test.occurrence)) for test in told(gate, cell)}
        answers.append({test: (row.outcomes[place], row.runs[place]) for test, row in found.items() if row is not None})
    return tuple(answers)


def told(gate: Gate, cell: Cell) -> AbstractSet[TestId]:
    """Choose the flagged tests that a further cell can tell of."""
    return gate.flagged.keys() & cell.about if cell.about else gate.flagged.keys()


def is_unusable(cell: Cell, run: TestRun | None) -> bool:
    """Say whether a result is no more than that pytest could not work in the cell: evidence only where that was so before."""
    return run is None and cell.status is CellStatus.UNUSABLE


def _narrowed(cell: Cell, forms: frozenset[str]) -> Cell:
    """Leave out of a cell what cannot matter to the flagged tests, so that a large suite is not laid out at every step."""
    few = tuple(run for run in cell.tests if form(run.nodeid) in forms or stands_for_many(run))
    return msgspec.structs.replace(cell, tests=few, running=tuple(test for test in cell.running if form(test.nodeid) in forms))


def same_calendar(known: Iterable[Cell], env: EnvironmentName, cell: Cell) -> bool:
    """Say whether the local date stood to the UTC date in a cell as it did in the known cells of an environment.

    A moved clock begins at the same moment every time, and says nothing of one that is true.
    """
    if has_moved_clock(cell):
        return True
    before = {days_ahead(moment) for each in known if each.env == env and not has_moved_clock(each) for moment in each.dates}
    return not before or {days_ahead(moment) for moment in cell.dates} <= before


def tally(gate: Gate, cells: Sequence[Cell]) -> dict[TestId, dict[EnvironmentName, Tally]]:
    """Count the further attempts for each flagged test and environment; an attempt that had to be repeated counts once."""
    attempts: dict[tuple[EnvironmentName, int], list[tuple[Cell, dict[TestId, Outcome]]]] = {}
    for cell, answer in zip(cells, results(gate, cells), strict=True):
        attempts.setdefault((cell.env, cell.attempt), []).append((cell, answer))
    counted: dict[TestId, dict[EnvironmentName, Tally]] = {test: {} for test in gate.flagged}
    for (env, _), answers in attempts.items():
        for test in {test for cell, _ in answers for test in told(gate, cell)}:
            seen = [answer[test] for _, answer in answers if test in answer]
            contrary = tuple(outcome for outcome in seen if outcome is not stable_outcome(gate.flagged[test], env))
            before = counted[test].get(env, Tally())
            counted[test][env] = Tally(
                agreeing=before.agreeing + (bool(seen) and not contrary),
                contrary=before.contrary + contrary,
                silent=before.silent + (not seen),
            )
    return counted


def judge(finding: Finding, tallies: Mapping[EnvironmentName, Tally], envs: Sequence[EnvironmentName]) -> Finding:
    """Say what a coupling is after further attempts in the environments that it needs.

    One contrary result, in any environment, overturns it; too few results in an environment leave it undecided.
    """
    contrary = {env: each for env, each in tallies.items() if each.contrary}
    if contrary:
        everywhere = len(contrary) == len(finding.outcomes)
        said = ", ".join(f"{_listed(each)} in `{env}`" for env, each in contrary.items())
        return msgspec.structs.replace(
            finding,
            label=Label.NONDETERMINISM_EVERYWHERE if everywhere else Label.NONDETERMINISM,
            note=noted(finding, f"looked coupled; further attempts gave {said}"),
        )
    needed = attempts_needed(len(envs))
    agreeing = {env: tallies.get(env, Tally()).agreeing for env in envs}
    if min(agreeing.values()) < needed:
        said = ", ".join(f"{count} of {needed} in `{env}`" for env, count in agreeing.items())
        return msgspec.structs.replace(
            finding, label=Label.UNDECIDED, note=noted(finding, f"looks coupled; further attempts with a result: {said}")
        )
    return msgspec.structs.replace(finding, confirmed=sum(agreeing.values()))


def _listed(each: Tally) -> str:
    total = each.agreeing + len(each.contrary)
    return ", ".join(
        f"`{outcome}` in {each.contrary.count(outcome)} of {total}"
        for outcome in sorted(set(each.contrary), key=lambda one: one.value)
    )


def noted(finding: Finding, note: str) -> str:
    """Add to a finding's note."""
    return "; ".join(part for part in (finding.note, note) if part)
