"""From the findings of a sweep to its rules: for each test and axis what values have in common under which it parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from paritygate.outcomes.artifact import Cause, Finding
from paritygate.outcomes.cells import Cell, EnvironmentName, Probe
from paritygate.outcomes.sweeps import Rule, Sweep
from paritygate.outcomes.words import Axis, CauseKind, Label, Outcome
from paritygate.sweeps import rules, wording
from paritygate.sweeps.facts import facts
from paritygate.sweeps.rules import Fact
from paritygate.witnesses.sampling import SAMPLED
from paritygate.witnesses.table import ALL

FEWEST = 2
"""How many values of an axis have to be observed before anything is compared."""
PARTED_ALL = "every test had parted by then"
"""Why values of a sample were not tried that could have shown nothing new."""


def conclude(swept: Sweep, findings: Sequence[Finding], cells: Sequence[Cell]) -> Sweep:
    """Find the rules of one axis for tests that are coupled to it; of the sweep nothing but its values is believed."""
    observed = {each.value: each.env for each in swept.values if each.observed}
    known = facts(swept.axis, _probes(observed, cells), _workers(observed, cells))
    found = (_rule(each, swept.axis, observed, known) for each in findings if each.label is Label.COUPLING)
    return Sweep(
        axis=swept.axis,
        values=swept.values,
        rules=tuple(each for each in found if each is not None),
        bound=wording.bound(len(observed)) if swept.axis in SAMPLED else "",
    )


def _probes(observed: Mapping[str, EnvironmentName], cells: Sequence[Cell]) -> dict[str, Probe]:
    probes = {cell.env: cell.probe for cell in reversed(cells) if cell.probe is not None}
    return {value: probes[env] for value, env in observed.items() if env in probes}


def _workers(observed: Mapping[str, EnvironmentName], cells: Sequence[Cell]) -> dict[str, int]:
    workers = {cell.env: cell.workers for cell in reversed(cells)}
    return {value: workers.get(env, 0) for value, env in observed.items()}


def _rule(finding: Finding, axis: Axis, observed: Mapping[str, EnvironmentName], known: Sequence[Fact]) -> Rule | None:
    outcomes = {value: finding.outcomes[env][0] for value, env in observed.items() if env in finding.outcomes}
    told = {value: outcome for value, outcome in outcomes.items() if outcome is not Outcome.NOT_RUN}
    found = rules.find(told, known)
    if found is None:
        return None
    rule = Rule(
        nodeid=finding.nodeid,
        occurrence=finding.occurrence,
        clauses=found.clauses,
        elsewhere=found.elsewhere,
        others=found.others,
        unknown=tuple(value for value in observed if value not in told),
    )
    return msgspec.structs.replace(rule, text=wording.text_of(rule, axis))


def with_causes(findings: Sequence[Finding], sweeps: Sequence[Sweep]) -> tuple[Finding, ...]:
    """Give each coupling its cause: the axes over which it parts, each enough by itself, with the rules in words."""
    found: dict[tuple[str, int], dict[Axis, str]] = {}
    for sweep in sweeps:
        for rule in sweep.rules:
            found.setdefault((rule.nodeid, rule.occurrence), {})[sweep.axis] = rule.text
    return tuple(_with_cause(each, found.get((each.nodeid, each.occurrence), {})) for each in findings)


def _with_cause(finding: Finding, said: Mapping[Axis, str]) -> Finding:
    if finding.label is not Label.COUPLING or not said:
        return finding
    detail = "; ".join(said.values()) if len(said) == 1 else "; ".join(f"{axis}: {text}" for axis, text in said.items())
    ways = tuple((axis,) for axis in said)
    cause = Cause(kind=CauseKind.AXIS, axes=tuple(said), ways=ways if len(said) > 1 else (), detail=detail)
    return msgspec.structs.replace(finding, cause=cause)


def amounts(sweeps: Iterable[Sweep]) -> dict[EnvironmentName, str]:
    """Say which amounts of memory sweeps have set, and for which environments."""
    some = (value for sweep in sweeps if sweep.axis is Axis.MEMORY for value in sweep.values)
    return {each.env: each.value for each in some if each.value != ALL}


def uncompared(sweeps: Iterable[Sweep]) -> Iterator[str]:
    """Say of each axis of which fewer than two values were observed that nothing was compared, and why the others are lacking.

    Where every test had parted before its turn nothing is lacking.
    """
    for sweep in sweeps:
        seen = [each.value for each in sweep.values if each.observed]
        lacking = [each for each in sweep.values if not each.observed]
        if len(seen) < FEWEST and any(each.untried != PARTED_ALL for each in lacking):
            known = f"`{seen[0]}` alone was observed" if seen else "no value was observed"
            reasons: dict[str, list[str]] = {}
            for each in lacking:
                reasons.setdefault(each.problem or each.untried, []).append(each.value)
            why = "; ".join(f"not {wording.listed(values)}: {reason}" for reason, values in reasons.items())
            yield f"nothing was compared over {sweep.axis}: {known} ({why})"
