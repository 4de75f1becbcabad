"""A sweep for the few lines of JSON: what became of each value, and every rule with the tests that it is true of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.sweeps import Rule, Sweep
from paritygate.outcomes.words import Axis, Outcome
from paritygate.reports.problems import MOST_TESTS, short
from paritygate.reports.sweeps import grouped
from paritygate.reports.text import spell_out

MOST_RULES = 20


class RuleSaid(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A rule in words, and of which tests it is true: `count` of them, the first in `tests`, `more` beside these.

    `under` are the values under which they part from the rest, by what they did there; elsewhere they did `elsewhere`, but for
    the values under which it is not known (`unknown`).
    """

    text: str
    count: int
    tests: tuple[str, ...]
    more: int = 0
    under: dict[Outcome, tuple[str, ...]]
    elsewhere: Outcome
    unknown: tuple[str, ...] = ()


class Swept(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An axis and its values: `red` are those under which some test of the run was, whether it parts or not, `green` the others.

    `unproven` are those that did not take effect here, and `untried` those that came to no cell, each with the reason. `parting`
    is how many tests part over the axis, `more` how many rules are not among `rules`.
    """

    axis: Axis
    parting: int
    green: tuple[str, ...]
    red: tuple[str, ...]
    unproven: dict[str, str] = {}
    untried: dict[str, str] = {}
    rules: tuple[RuleSaid, ...] = ()
    more: int = 0


def swept(artifact: Artifact) -> Iterator[Swept]:
    """Tell of every axis that was swept over."""
    red_envs = {
        env
        for finding in artifact.tests
        for env, outcomes in finding.outcomes.items()
        if not all(outcome.green for outcome in outcomes)
    }
    for sweep in artifact.sweeps:
        observed = [(spell_out(each.value), each.env in red_envs) for each in sweep.values if each.observed]
        rules = [_said(text, some) for text, some in grouped(sweep)]
        yield Swept(
            axis=sweep.axis,
            parting=_parting(sweep),
            green=tuple(value for value, red in observed if not red),
            red=tuple(value for value, red in observed if red),
            unproven={spell_out(each.value): short(each.problem) for each in sweep.values if each.problem},
            untried={spell_out(each.value): short(each.untried) for each in sweep.values if each.untried},
            rules=tuple(rules[:MOST_RULES]),
            more=max(0, len(rules) - MOST_RULES),
        )


def _parting(sweep: Sweep) -> int:
    return len({(rule.nodeid, rule.occurrence) for rule in sweep.rules})


def _said(text: str, some: Sequence[Rule]) -> RuleSaid:
    first = some[0]
    under: dict[Outcome, tuple[str, ...]] = {}
    for clause in first.clauses:
        under[clause.outcome] = (*under.get(clause.outcome, ()), *map(spell_out, clause.values))
    return RuleSaid(
        text=short(text),
        count=len(some),
        tests=tuple(spell_out(each.nodeid) for each in some[:MOST_TESTS]),
        more=max(0, len(some) - MOST_TESTS),
        under=under,
        elsewhere=first.elsewhere,
        unknown=tuple(map(spell_out, first.unknown)),
    )
