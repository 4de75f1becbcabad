"""The smallest rule that fits what a test did under the values of an axis.

Pure. It never says more than was observed: a property is named only where at least two values have it, all of those observed
do the same, and no other value does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import msgspec

from paritygate.outcomes.sweeps import Clause
from paritygate.outcomes.words import Outcome

FEWEST = 2
"""How many values have to have a property before it is named: one value is named itself."""


class Fact(msgspec.Struct, frozen=True):
    """Something that is so of some values, in words that follow "fails", such as `west of UTC`."""

    words: str
    holds: frozenset[str]


class Candidate(msgspec.Struct, frozen=True):
    """A rule that fits some values; `size` is how many things it names, `words` is empty where those are the values."""

    size: int
    words: str = ""
    also: tuple[str, ...] = ()


class Found(msgspec.Struct, frozen=True):
    """What a test did: by clauses, and elsewhere under so many `others`."""

    clauses: tuple[Clause, ...]
    elsewhere: Outcome
    others: int


def find(outcomes: Mapping[str, Outcome], facts: Sequence[Fact]) -> Found | None:
    """Find the smallest rule; None where all values agree. Facts that come first are preferred to others of their size.

    One outcome is what the test does elsewhere: that without which the rule is smallest, then a green one, then the one that
    most values have.
    """
    groups: dict[Outcome, list[str]] = {}
    for value, outcome in outcomes.items():
        groups.setdefault(outcome, []).append(value)
    if len(groups) < FEWEST:
        return None
    known = frozenset(outcomes)
    fitting = {outcome: smallest(frozenset(values), known, facts) for outcome, values in groups.items()}
    elsewhere = min(groups, key=lambda each: (_without(each, fitting), not each.green, -len(groups[each])))
    clauses = tuple(
        Clause(outcome=outcome, values=tuple(values), words=fitting[outcome].words, also=fitting[outcome].also)
        for outcome, values in groups.items()
        if outcome is not elsewhere
    )
    return Found(clauses, elsewhere, len(groups[elsewhere]))


def _without(elsewhere: Outcome, fitting: Mapping[Outcome, Candidate]) -> int:
    return sum(each.size for outcome, each in fitting.items() if outcome is not elsewhere)


def smallest(some: frozenset[str], known: frozenset[str], facts: Sequence[Fact]) -> Candidate:
    """Find the smallest candidate that fits exactly some of the known values.

    | | size |
    |---|---|
    | one fact | 1 |
    | the values themselves | their number |
    | two facts that hold together | 2, and only where the list is longer |
    """
    listed = Candidate(len(some))
    if len(some) < FEWEST:
        return listed
    single = [fact.words for fact in facts if fact.holds & known == some]
    if single:
        return Candidate(1, single[0], tuple(dict.fromkeys(single[1:])))
    pairs = list(_pairs(some, known, facts))
    if pairs and len(some) > FEWEST:
        return Candidate(2, pairs[0])
    return listed


def _pairs(some: frozenset[str], known: frozenset[str], facts: Sequence[Fact]) -> Iterator[str]:
    """Yield pairs of facts that hold together of some values alone."""
    wider = [fact for fact in facts if some < fact.holds & known]
    for one, other in combinations(wider, 2):
        if one.holds & other.holds & known == some:
            yield f"{one.words} and {other.words}"
