"""What a sweep found: the values of one axis, whether each took effect, and for each test that it parts the smallest rule."""

from __future__ import annotations

import msgspec

from paritygate.outcomes.cells import EnvironmentName, NodeId
from paritygate.outcomes.words import Axis, Outcome


class SweptValue(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A value of an axis, the environment that had it, and why it was tried.

    `problem` says why the value could not be proven in a cell, `untried` why it came to none: nothing is said of either.
    """

    value: str
    env: EnvironmentName
    why: str = ""
    problem: str = ""
    untried: str = ""

    @property
    def observed(self) -> bool:
        """Whether anything is known of what tests do under it."""
        return not self.problem and not self.untried


class Clause(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a test did under some values: `words` say what they have in common, empty where nothing smaller fits than a list.

    `also` are other words that fit the same values as well, so that nobody can tell them apart.
    """

    outcome: Outcome
    values: tuple[str, ...]
    words: str = ""
    also: tuple[str, ...] = ()


class Rule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Under which values a test does what: clause by clause, and `elsewhere` under all others of those observed.

    `unknown` are the values under which nothing is known of it. `text` says all of it in words.
    """

    nodeid: NodeId
    occurrence: int = 0
    clauses: tuple[Clause, ...]
    elsewhere: Outcome
    others: int = 0
    unknown: tuple[str, ...] = ()
    text: str = ""


class Sweep(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One axis over its values. `bound` says what can still hide where values are a sample of many."""

    axis: Axis
    values: tuple[SweptValue, ...]
    rules: tuple[Rule, ...] = ()
    bound: str = ""
