"""A sweep as a table: the values of an axis, and for each group of tests with one rule what they do under it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.sweeps import Rule, Sweep
from paritygate.outcomes.words import Outcome
from paritygate.reports.html.letters import LETTERS
from paritygate.reports.text import listed, spell_out

MOST_RULES = 9
UNKNOWN = "?"
SIGNS = {**LETTERS, Outcome.PASSED: "."}
"""As the page has them, but for what most tests do under most values, which is to be looked past."""


def sweeps(artifact: Artifact) -> Iterator[str | Text | Table]:
    """Tell of every axis: how many values it had, the rules by which tests part, and the table of both."""
    for sweep in artifact.sweeps:
        yield Text(heading(sweep), style="bold")
        groups = grouped(sweep)
        for number, (text, rules) in enumerate(groups[:MOST_RULES], start=1):
            yield f"  {number}  {spell_out(text)}"
            yield f"     {listed(tuple(dict.fromkeys(rule.nodeid for rule in rules)))}"
        if len(groups) > MOST_RULES:
            yield f"  and {len(groups) - MOST_RULES} more rules in the report"
        if groups:
            yield table(sweep, groups[:MOST_RULES])


def heading(sweep: Sweep) -> str:
    """Say how many values were observed, and how many tests part."""
    observed = sum(each.observed for each in sweep.values)
    tests = len({(rule.nodeid, rule.occurrence) for rule in sweep.rules})
    parted = f"{tests} test{'s part' if tests != 1 else ' parts'}" if tests else "no test parts"
    return f"{sweep.axis}: {parted} over {observed} value{'s' * (observed != 1)}"


def grouped(sweep: Sweep) -> list[tuple[str, list[Rule]]]:
    """Put the tests together that have one rule, and of which the same is not known, the largest group first."""
    groups: dict[tuple[object, ...], list[Rule]] = {}
    for rule in sweep.rules:
        groups.setdefault((rule.text, rule.clauses, rule.elsewhere, rule.unknown), []).append(rule)
    return [(rules[0].text, rules) for rules in sorted(groups.values(), key=lambda rules: -len(rules))]


def signs(sweep: Sweep, rule: Rule) -> dict[str, Outcome | None]:
    """Say what a rule's tests did under each value that was observed; None where that is not known."""
    done: dict[str, Outcome | None] = {each.value: rule.elsewhere for each in sweep.values if each.observed}
    for clause in rule.clauses:
        done |= dict.fromkeys(clause.values, clause.outcome)
    return done | dict.fromkeys(rule.unknown)


def table(sweep: Sweep, groups: Sequence[tuple[str, list[Rule]]]) -> Table:
    """Lay values and rules side by side."""
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    drawn.add_column(f"  {sweep.axis}", no_wrap=True)
    for number in range(1, len(groups) + 1):
        drawn.add_column(str(number), no_wrap=True, justify="center")
    drawn.add_column("why it is tried")
    for value, done, why in lines(sweep, groups):
        drawn.add_row(f"  {value}", *map(sign, done), why)
    return drawn


Line = tuple[str, tuple[Outcome | None, ...], str]
"""A value, what the tests of each rule did under it (None where that is not known), and why it was tried."""


def lines(sweep: Sweep, groups: Sequence[tuple[str, list[Rule]]]) -> Iterator[Line]:
    """Give the lines of the table: the values that were observed."""
    columns = [signs(sweep, rules[0]) for _, rules in groups]
    for each in sweep.values:
        if each.observed:
            yield spell_out(each.value), tuple(column.get(each.value) for column in columns), spell_out(each.why)


def sign(outcome: Outcome | None) -> str:
    """Write what tests did as one character."""
    return UNKNOWN if outcome is None else SIGNS[outcome]


def beside(sweep: Sweep) -> Iterator[str]:
    """Say what was not observed, and what can still hide."""
    for each in sweep.values:
        if each.problem:
            yield f"not provable here: `{each.value}`: {each.problem}"
    for why, count in Counter(each.untried for each in sweep.values if each.untried).items():
        yield f"{count} more value{'s' * (count != 1)} not tried: {why}"
    if sweep.bound:
        yield sweep.bound
