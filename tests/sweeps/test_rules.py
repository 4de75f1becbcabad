"""The smallest rule that fits: exact, never more than was observed, and nothing smaller would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paritygate.outcomes.sweeps import Clause
from paritygate.outcomes.words import Outcome
from paritygate.sweeps.rules import WORTH, Candidate, Fact, Found, find, smallest

VALUES = ("a", "b", "c", "d", "e", "f")
WEST = Fact("west", frozenset("abc"))
FAR = Fact("far", frozenset("abd"))
LATE = Fact("late", frozenset("abc"))


def outcomes(failing: str, *, skipped: str = "") -> dict[str, Outcome]:
    words = {**dict.fromkeys(failing, Outcome.FAILED), **dict.fromkeys(skipped, Outcome.SKIPPED)}
    return {value: words.get(value, Outcome.PASSED) for value in VALUES}


def failed(values: str, words: str = "", *also: str) -> Clause:
    return Clause(outcome=Outcome.FAILED, values=tuple(values), words=words, also=also)


def test_values_that_agree_have_no_rule() -> None:
    assert find(outcomes(""), [WEST]) is None
    assert find({}, [WEST]) is None


@pytest.mark.parametrize(
    ("failing", "facts", "clause"),
    [
        ("abc", [WEST, FAR], failed("abc", "west")),
        ("abc", [WEST, LATE], failed("abc", "west", "late")),
        ("a", [Fact("alone", frozenset("a"))], failed("a")),
        ("ab", [WEST, FAR], failed("ab")),
        ("af", [WEST, FAR], failed("af")),
        ("ab", [Fact("both", frozenset("ab"))], failed("ab", "both")),
        ("abc", [Fact("wide", frozenset("abcd")), Fact("other", frozenset("abce"))], failed("abc", "wide and other")),
    ],
)
def test_a_fact_is_named_where_several_values_have_it_and_no_other(failing: str, facts: list[Fact], clause: Clause) -> None:
    assert find(outcomes(failing), facts) == Found((clause,), Outcome.PASSED, len(VALUES) - len(failing))


def test_a_fact_may_hold_of_values_that_were_not_observed() -> None:
    seen = {value: outcome for value, outcome in outcomes("abc").items() if value != "c"}
    assert find(seen, [Fact("west", frozenset("abcx"))]) == Found((failed("ab", "west"),), Outcome.PASSED, 3)


def test_what_is_elsewhere_is_what_is_hardest_to_say() -> None:
    found = find(outcomes("bcdef"), [WEST])
    assert found == Found((Clause(outcome=Outcome.PASSED, values=("a",)),), Outcome.FAILED, 5)


def test_of_two_that_are_as_easy_to_say_green_is_elsewhere() -> None:
    east = Fact("east", frozenset("def"))
    assert find(outcomes("def"), [WEST, east]) == Found((failed("def", "east"),), Outcome.PASSED, 3)


def test_every_outcome_but_one_has_a_clause() -> None:
    found = find(outcomes("abc", skipped="d"), [WEST])
    assert found is not None
    assert {each.outcome: each.values for each in found.clauses} == {Outcome.FAILED: tuple("abc"), Outcome.SKIPPED: ("d",)}
    assert (found.elsewhere, found.others) == (Outcome.PASSED, 2)


def test_a_fact_of_most_values_is_named_with_those_that_it_leaves_over() -> None:
    seen = {value: Outcome.PASSED if value in "xyz" else Outcome.FAILED for value in "abcdefghxyz"}
    summer, early = Fact("summer", frozenset("abcdefg")), Fact("early", frozenset("ab"))
    assert find(seen, [early, summer, Fact("wide", frozenset("abcdefghx"))]) == Found(
        (failed("abcdefg", "summer"), failed("h")), Outcome.PASSED, 3
    )
    assert find({**seen, "h": Outcome.PASSED}, [early, summer]) == Found((failed("abcdefg", "summer"),), Outcome.PASSED, 4)


def test_a_fact_of_few_of_the_values_is_not_worth_naming() -> None:
    assert find(outcomes("abcde"), [Fact("early", frozenset("ab"))]) == Found(
        (Clause(outcome=Outcome.PASSED, values=("f",)),), Outcome.FAILED, 5
    )
    assert smallest(frozenset("abcd"), frozenset(VALUES), [Fact("early", frozenset("ab"))]).rest == frozenset()


KNOWN = st.sets(st.sampled_from(VALUES), min_size=1)
FACTS = st.lists(st.builds(Fact, st.sampled_from(("one", "two", "three")), KNOWN.map(frozenset)), max_size=5)
OUTCOMES = st.dictionaries(
    st.sampled_from(VALUES), st.sampled_from((Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED)), min_size=1
)


@given(OUTCOMES, FACTS)
def test_clauses_part_the_values_exactly(seen: Mapping[str, Outcome], facts: Sequence[Fact]) -> None:
    found = find(seen, facts)
    if found is None:
        assert len(set(seen.values())) == 1
        return
    said = {value: each.outcome for each in found.clauses for value in each.values}
    assert sum(len(each.values) for each in found.clauses) == len(said)
    assert {value: said.get(value, found.elsewhere) for value in seen} == seen
    assert found.others == len(seen) - len(said) == list(seen.values()).count(found.elsewhere)


@given(KNOWN, KNOWN, FACTS)
def test_no_smaller_rule_fits_and_no_fact_is_told_of_one_value(some: set[str], others: set[str], facts: Sequence[Fact]) -> None:
    known = frozenset(some | others)
    found = smallest(frozenset(some), known, facts)
    alone = [fact for fact in facts if fact.holds & known == some]
    together = [pair for pair in combinations(facts, 2) if pair[0].holds & pair[1].holds & known == some]
    within = [1 + len(some - held) for fact in facts if (held := fact.holds & known) < some and len(held) > 1]
    worth = [size for size in within if size * WORTH <= len(some)]
    least = min([len(some), *([1] if alone else []), *([2] if together else []), *worth]) if len(some) > 1 else 1
    assert found.size == least
    assert not (found.words and len(some) == 1)
    assert not found.words or any(fact.words in found.words for fact in facts)


def test_two_facts_together_are_larger_than_one_and_smaller_than_a_list() -> None:
    known = frozenset("abcde")
    facts = (Fact("old", frozenset("abcd")), Fact("cold", frozenset("abce")))
    assert smallest(frozenset("abc"), known, facts) == Candidate(2, "old and cold")
    assert smallest(frozenset("abcd"), known, facts) == Candidate(1, "old")
    assert smallest(frozenset("ade"), known, facts) == Candidate(3)
