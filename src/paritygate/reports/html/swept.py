"""A sweep at the top of the page: its rules, each with its tests, and the table of values and rules."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.cells import NodeId
from paritygate.outcomes.words import Axis
from paritygate.reports.html.letters import LETTERS
from paritygate.reports.sweeps import MOST_RULES, UNKNOWN, grouped, heading, lines

MOST_TESTS = 20


class RuleTold(msgspec.Struct, frozen=True, kw_only=True):
    """A rule in words, the first of its tests, and how many more there are."""

    text: str
    tests: tuple[NodeId, ...]
    more: int


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A value, a letter for each rule, and why it was tried."""

    value: str
    letters: tuple[str, ...]
    why: str


class SweepTold(msgspec.Struct, frozen=True, kw_only=True):
    """What stands of one axis on the page; `more` are the rules that do not."""

    axis: Axis
    heading: str
    rules: tuple[RuleTold, ...]
    more: int
    lines: tuple[Line, ...]


def swept(artifact: Artifact) -> Iterator[SweepTold]:
    """Tell of every axis that was swept over."""
    for sweep in artifact.sweeps:
        groups = grouped(sweep)
        shown = groups[:MOST_RULES]
        named = [(text, tuple(dict.fromkeys(rule.nodeid for rule in rules))) for text, rules in shown]
        yield SweepTold(
            axis=sweep.axis,
            heading=heading(sweep),
            rules=tuple(
                RuleTold(text=text, tests=tests[:MOST_TESTS], more=max(0, len(tests) - MOST_TESTS)) for text, tests in named
            ),
            more=len(groups) - len(shown),
            lines=tuple(
                Line(value=value, letters=tuple(UNKNOWN if each is None else LETTERS[each] for each in done), why=why)
                for value, done, why in (lines(sweep, shown) if shown else ())
            ),
        )
