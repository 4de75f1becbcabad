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
WORTH = 2
"""A property of some of the values is named where it makes the rule so many times smaller than their list."""


class Fact(msgspec.Struct, frozen=True):
    """Something that is so of some values, in words that follow "fails", such as `west of UTC`."""

    words: str
    holds: frozenset[str]


class Candidate(msgspec.Struct, frozen=True):
    """A rule that fits some values; `size` is how many things it names, `words` is empty where those are the values.

    `rest` are values that do the same without having what `words` say: they are named themselves.
    """

    size: int
    words: str = ""
    also: tuple[str, ...] = ()
    rest: frozenset[str] = frozenset()

    def clauses(self, outcome: Outcome, values: Sequence[str]) -> Iterator[Clause]:
        """Yield what is said of the values: by words where there are any, and one by one."""
        if self.words:
            worded = tuple(value for value in values if value not in self.rest)
            yield Clause(outcome=outcome, values=worded, words=self.words, also=self.also)
        listed = tuple(value for value in values if not self.words or value in self.rest)
        if listed:
            yield Clause(outcome=outcome, values=listed)


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
        clause
        for outcome, values in groups.items()
        if outcome is not elsewhere
        for clause in fitting[outcome].clauses(outcome, values)
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
    | one fact, and the values that it leaves over | 1 and their number, and only where the list is twice as long |
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
    within = _most_within(some, known, facts)
    return within if within is not None and within.size * WORTH <= len(some) else listed


def _most_within(some: frozenset[str], known: frozenset[str], facts: Sequence[Fact]) -> Candidate | None:
    """Find the fact that holds of most of the values, and of nothing else; the first of those that do."""
    within = [(fact.words, held) for fact in facts if len(held := fact.holds & known) >= FEWEST and held < some]
    if not within:
        return None
    words, most = max(within, key=lambda each: len(each[1]))
    also = tuple(dict.fromkeys(other for other, held in within if held == most and other != words))
    rest = some - most
    return Candidate(1 + len(rest), words, also, rest)


def _pairs(some: frozenset[str], known: frozenset[str], facts: Sequence[Fact]) -> Iterator[str]:
    """Yield pairs of facts that hold together of some values alone."""
    wider = [fact for fact in facts if some < fact.holds & known]
    for one, other in combinations(wider, 2):
        if one.holds & other.holds & known == some:
            yield f"{one.words} and {other.words}"
