"""Says of a whole run how it ends: one verdict, one exit code, and why.

Weighs labels and the state of cells, and believes what it is told of freezes; usage errors are weighed elsewhere, by the same
precedence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from paritygate.classifier.labels import skipped_everywhere
from paritygate.classifier.memory import starved
from paritygate.classifier.surroundings import power
from paritygate.outcomes.artifact import Finding, Varied, Verdict
from paritygate.outcomes.cells import Cell, EnvironmentName, TestId
from paritygate.outcomes.words import Axis, CellStatus, ExitCode, Label, Outcome, Purpose, RunnerName, VerdictName

PRECEDENCE = (
    ExitCode.USAGE,
    ExitCode.FAULT,
    ExitCode.REFUSED,
    ExitCode.NO_VERDICT,
    ExitCode.NONDETERMINISM,
    ExitCode.COUPLING,
    ExitCode.CONSISTENT_RED,
    ExitCode.PARITY,
)
NAMES = {
    ExitCode.PARITY: VerdictName.PARITY,
    ExitCode.CONSISTENT_RED: VerdictName.CONSISTENT_RED,
    ExitCode.NONDETERMINISM: VerdictName.NONDETERMINISM,
    ExitCode.COUPLING: VerdictName.COUPLING,
    ExitCode.NO_VERDICT: VerdictName.NO_VERDICT,
    ExitCode.REFUSED: VerdictName.REFUSED,
}
CODES = {
    Label.CONSISTENT_GREEN: ExitCode.PARITY,
    Label.EXCLUDED: ExitCode.PARITY,
    Label.CONSISTENT_RED: ExitCode.CONSISTENT_RED,
    Label.COUPLING: ExitCode.COUPLING,
    Label.NONDETERMINISM: ExitCode.NONDETERMINISM,
    Label.NONDETERMINISM_EVERYWHERE: ExitCode.NONDETERMINISM,
    Label.UNDECIDED: ExitCode.NO_VERDICT,
}
SHOWN = 5
NOT_RUN = frozenset({Outcome.NOT_COLLECTED, Outcome.NOT_RUN, Outcome.SKIPPED})
DEAD = {
    CellStatus.TIMED_OUT: "ran out of time",
    CellStatus.CRASHED: "died",
    CellStatus.OUT_OF_MEMORY: "ran out of memory",
    CellStatus.ENVIRONMENT_MISMATCH: "was not the environment it should be",
    CellStatus.INCOMPLETE: "is not known in whole",
}


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a run beside its labels.

    `blocking` are differences between cells that nobody declared, `collisions` names of the tree that are one in some of them.
    `frozen` are tests whose divergence is let through, `refused` says what turned out to be wrong with the ledger. `amounts` are
    those of memory that a sweep gave to environments, as people write them.
    """

    cells: tuple[Cell, ...]
    varied: tuple[Varied, ...]
    excluded: int = 0
    blocking: tuple[str, ...] = ()
    collisions: tuple[str, ...] = ()
    frozen: frozenset[TestId] = frozenset()
    refused: tuple[str, ...] = ()
    amounts: Mapping[EnvironmentName, str] = {}


def precedence(codes: Iterable[ExitCode]) -> ExitCode:
    """Choose the code that counts where several apply; parity when there is none. Signals are not weighed: they end a run."""
    return min(codes, key=PRECEDENCE.index, default=ExitCode.PARITY)


def verdict(findings: Sequence[Finding], facts: Facts) -> Verdict:
    """Weigh everything that is known of a run; `facts.cells` may hold cells of every purpose, those of the gate count."""
    gate = tuple(cell for cell in facts.cells if cell.purpose is Purpose.GATE)
    environments = tuple(dict.fromkeys(cell.env for cell in gate))
    several = len(environments) > 1
    axes = tuple(each.axis for each in facts.varied if each.varied) if several else ()
    unmeasured = tuple(each.axis for each in facts.varied if not each.measured) if several else ()
    reasons = _obstacles(findings, facts, gate)
    weighed = [finding for finding in findings if TestId(finding.nodeid, finding.occurrence) not in facts.frozen]
    codes = [CODES[finding.label] for finding in weighed]
    codes += [ExitCode.NO_VERDICT] * bool(reasons) + [ExitCode.COUPLING] * bool(facts.collisions)
    code = precedence([*codes, *[ExitCode.REFUSED] * bool(facts.refused)])
    if code is ExitCode.PARITY and unmeasured and not axes:
        code, reasons = ExitCode.NO_VERDICT, (_nothing_measured(facts),)
    if code is ExitCode.REFUSED:
        reasons = facts.refused
    elif code is not ExitCode.NO_VERDICT:
        reasons = (*_diagnoses(weighed), *_tree_faults(facts), *_let_through(facts))
    if code is ExitCode.PARITY:
        size = f"{_number(len(findings), 'test')} in {_number(len(gate), 'cell')}"
        line = f"parity over {', '.join(axes)}{_as_asked(unmeasured)}: {size}"
        if not several:
            line = f"stable in {environments[0]} (one environment, nothing compared)"
        line += f", {len(facts.frozen)} of them frozen and let through" if facts.frozen else ""
    else:
        line = f"{NAMES[code]}: {reasons[0]}"
    line += _grounds(gate)
    return Verdict(name=NAMES[code], exit_code=code.value, axes=axes, line=line, reasons=reasons, unmeasured=unmeasured)


def _as_asked(unmeasured: Sequence[Axis]) -> str:
    """Say what nobody measured, so that it is not taken for what varied."""
    return f" ({', '.join(unmeasured)} as asked for, not measured)" if unmeasured else ""


def _nothing_measured(facts: Facts) -> str:
    """Say why equal and green is no parity: what differed between the cells nobody knows."""
    why = "; ".join(f"{each.axis}: {each.why}" for each in facts.varied if not each.measured)
    return f"all is green and equal, and of no axis is it known that it varied ({why})"


def _grounds(gate: Sequence[Cell]) -> str:
    """Say where cells ran, if not all did on an engine: that keeps less apart."""
    runners = {cell.env: cell.runner for cell in gate}
    if set(runners.values()) <= {RunnerName.DOCKER}:
        return ""
    if len(set(runners.values())) == 1:
        return f" (on {next(iter(runners.values()))})"
    return f" ({', '.join(f'{env} on {runner}' for env, runner in runners.items())})"


def bounds(findings: Sequence[Finding], gate: Sequence[Cell]) -> tuple[str, ...]:
    """Say what bounds a green answer: how many stable skips there are, and what these runs could have missed."""
    skipped = skipped_everywhere(findings)
    skips = (f"{skipped} test{'s are' if skipped != 1 else ' is'} skipped in every cell",) if skipped else ()
    ran = any(outcome not in NOT_RUN for each in findings for attempts in each.outcomes.values() for outcome in attempts)
    return (*skips, power(len(gate))) if gate and ran else skips


def _obstacles(findings: Sequence[Finding], facts: Facts, gate: Sequence[Cell]) -> tuple[str, ...]:
    """Say everything that keeps a run from having a verdict."""
    return (
        *_too_little(gate, facts.amounts),
        *_dead([cell for cell in gate if not _was_given_too_little(cell, facts.amounts)], gate),
        *facts.blocking,
        *_not_found(findings),
        *_nothing_tested(findings, facts, gate),
        *_nothing_compared(facts, gate),
        *_undecided(findings, gate),
    )


def _was_given_too_little(cell: Cell, amounts: Mapping[EnvironmentName, str]) -> bool:
    return cell.status is CellStatus.OUT_OF_MEMORY and cell.env in amounts


def _too_little(gate: Sequence[Cell], amounts: Mapping[EnvironmentName, str]) -> Iterable[str]:
    """Say once of each amount that a sweep tried, and of each cell, what needs more."""
    for env, amount in amounts.items():
        short = [cell for cell in gate if cell.env == env and _was_given_too_little(cell, amounts)]
        if short:
            tests = dict.fromkeys(test for cell in short for test in (*starved(cell), *cell.running))
            names = [_quoted(test) for test in tests]
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            what = f"{', '.join(names[:SHOWN])}{more}" or "what was selected"
            seen = "; ".join(dict.fromkeys(cell.detail for cell in short if cell.detail))
            attempts = ", ".join(str(cell.attempt) for cell in short)
            need = "needs" if len(names) <= 1 else "need"
            yield f"{what} {need} more memory than `{amount}` (`{env}` attempt {attempts}{f': {seen}' if seen else ''})"


def _dead(some: Sequence[Cell], gate: Sequence[Cell]) -> Iterable[str]:
    for cell in some:
        if cell.status in DEAD:
            where = "" if cell.lost else ", ".join(_quoted(test) for test in cell.running)
            what = f"`{cell.env}` attempt {cell.attempt} {'was lost' if cell.lost else DEAD[cell.status]}"
            yield f"{what}{f' in {where}' if where else ''}{f': {cell.detail}' if cell.detail else ''}"
    unusable = [cell for cell in gate if cell.status is CellStatus.UNUSABLE]
    if not any(cell.status is CellStatus.FINISHED for cell in gate):
        for detail in dict.fromkeys(cell.detail for cell in unusable):
            where = _where([cell for cell in unusable if cell.detail == detail], gate)
            yield f"pytest could not work in {where}{f': {detail}' if detail else ''}"


def _where(some: Sequence[Cell], gate: Sequence[Cell]) -> str:
    """Name cells, briefly where it is all of them."""
    if len(some) == len(gate) > 1:
        return f"any of the {len(gate)} cells"
    return ", ".join(f"`{cell.env}` attempt {cell.attempt}" for cell in some)


def _not_found(findings: Sequence[Finding]) -> Iterable[str]:
    lost = [finding for finding in findings if _is_nowhere(finding)]
    if lost:
        more = f", and {len(lost) - 1} more" if len(lost) > 1 else ""
        yield f"{_name(lost[0])} was asked for and is in no cell{more}"


def _is_nowhere(finding: Finding) -> bool:
    """Tell what no cell has from what some cell could not decide."""
    seen = {outcome for attempts in finding.outcomes.values() for outcome in attempts}
    return finding.label is Label.UNDECIDED and seen == {Outcome.NOT_COLLECTED}


def _nothing_tested(findings: Sequence[Finding], facts: Facts, gate: Sequence[Cell]) -> Iterable[str]:
    ended = any(cell.status in {CellStatus.FINISHED, CellStatus.NO_TESTS} for cell in gate)
    if not gate:
        yield "no cell was run"
    elif not findings and facts.excluded:
        yield f"no test was run: {_number(facts.excluded, 'test')} excluded, and there are no others"
    elif not findings and ended:
        said = next((cell.detail for cell in gate if cell.status is CellStatus.NO_TESTS and cell.detail), "")
        yield f"no test was collected in any cell{f': {said}' if said else ''}"
    elif findings and skipped_everywhere(findings) == len(findings):
        yield f"every test is skipped everywhere ({_number(len(findings), 'test')}): nothing was tested"


def _nothing_compared(facts: Facts, gate: Sequence[Cell]) -> Iterable[str]:
    if len({cell.env for cell in gate}) > 1 and not any(each.varied or not each.measured for each in facts.varied):
        why = "; ".join(f"{each.axis}: {each.why}" for each in facts.varied if each.why)
        yield f"no axis varied, so there is nothing to compare{f' ({why})' if why else ''}"


def _undecided(findings: Sequence[Finding], gate: Sequence[Cell]) -> Iterable[str]:
    some = [finding for finding in findings if finding.label is Label.UNDECIDED and not _is_nowhere(finding)]
    if some:
        first = some[0]
        why = f" ({first.note})" if first.note else ""
        where = "the cell" if len(gate) == 1 else f"all {len(gate)} cells"
        yield f"{_number(len(some), 'test')} could not be decided over {where}, first {_name(first)}{why}"


def _tree_faults(facts: Facts) -> Iterable[str]:
    """Say what no test need have met: a checkout where case does not count lacks files that the tree has."""
    pairs = facts.collisions
    if pairs:
        more = f" and {len(pairs) - SHOWN} more" if len(pairs) > SHOWN else ""
        yield f"the worktree has names that are one where case does not count: {', '.join(pairs[:SHOWN])}{more}"


def _let_through(facts: Facts) -> Iterable[str]:
    if facts.frozen:
        some = min(facts.frozen)
        what = "frozen test diverges as was frozen" if len(facts.frozen) == 1 else "frozen tests diverge as was frozen"
        yield f"{len(facts.frozen)} {what}, first {_quoted(some)}"


def _diagnoses(findings: Sequence[Finding]) -> tuple[str, ...]:
    found = Counter(finding.label for finding in findings)
    says = {
        Label.NONDETERMINISM_EVERYWHERE: (
            "disagrees with itself in every environment",
            "disagree with themselves in every environment",
        ),
        Label.NONDETERMINISM: ("disagrees with itself inside one environment", "disagree with themselves inside one environment"),
        Label.COUPLING: (
            "agrees with itself and differs between environments",
            "agree with themselves and differ between environments",
        ),
        Label.CONSISTENT_RED: ("fails the same way everywhere", "fail the same way everywhere"),
    }
    reasons = []
    for each, (one, several) in says.items():
        if found[each]:
            first = next(finding for finding in findings if finding.label is each)
            reasons.append(f"{_number(found[each], 'test')} {one if found[each] == 1 else several}, first {_name(first)}")
    return tuple(reasons)


def _name(finding: Finding) -> str:
    return _quoted(TestId(finding.nodeid, finding.occurrence))


def _quoted(test: TestId) -> str:
    return f"`{test.nodeid}`" + (f" ({test.occurrence + 1}. of that id)" if test.occurrence else "")


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' * (count != 1)}"
