"""Tests of which one thing is to be done, put together for the few lines of JSON: what one test did is never said of another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from paritygate.classifier.labels import UNSTABLE
from paritygate.outcomes.artifact import Artifact, Finding
from paritygate.outcomes.cells import TestId
from paritygate.outcomes.words import Label, Outcome
from paritygate.reports.advice import after
from paritygate.reports.causes import in_a_line, kind
from paritygate.reports.files import files
from paritygate.reports.ranking import is_let_through, ranked, reproduction
from paritygate.reports.sides import Sides, sides_of, words_of
from paritygate.reports.text import cut, in_one_line, spell_out

MOST_TESTS = 5
MOST_CHARACTERS = 300


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tests of one label that have one cause, and did the same unless they are unstable; of a sweep those of one rule.

    `count` is how many they are, `tests` the first of them, `more` how many are not among these. `files` are those of all.
    `outcomes`, `at`, `failure` and `why` are those of the test that `example` names, where they are not those of all;
    `reproduce` is the command that runs the first once more.
    """

    label: Label
    cause: str = ""
    count: int
    todo: str
    tests: tuple[str, ...]
    more: int = 0
    example: str = ""
    outcomes: dict[str, tuple[Outcome, ...]]
    at: str = ""
    failure: str = ""
    why: str = ""
    files: tuple[str, ...] = ()
    reproduce: str = ""


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """What is told of a test that may not hold for others of its group."""

    outcomes: dict[str, tuple[Outcome, ...]]
    at: str = ""
    failure: str = ""
    why: str = ""


def problems(artifact: Artifact, report: str) -> Iterator[Problem]:
    """Group the tests that ask for something, worst label first. `report` is the path of the artifact for commands, if any."""
    chosen = ranked(artifact)
    ruled = {TestId(rule.nodeid, rule.occurrence) for sweep in artifact.sweeps for rule in sweep.rules}
    sides = sides_of(artifact, chosen)
    for some in _grouped(artifact, chosen, ruled):
        first = some[0]
        said = _said(first, sides)
        shared = all(_said(each, sides) == said for each in some[1:])
        through = is_let_through(artifact, first)
        yield Problem(
            label=first.label,
            cause=kind(first.cause),
            count=len(some),
            todo="frozen, and let through" if through else after(first.label, artifact.verdict),
            tests=tuple(spell_out(each.nodeid) for each in some[:MOST_TESTS]),
            more=max(0, len(some) - MOST_TESTS),
            example="" if shared else spell_out(first.nodeid),
            outcomes=said.outcomes,
            at=said.at,
            failure=said.failure,
            why=said.why,
            files=tuple(short(line) for line in files(*(each.cause for each in some if each.cause is not None))),
            reproduce=reproduction(first, report),
        )


def _grouped(artifact: Artifact, chosen: Iterable[Finding], ruled: set[TestId]) -> Iterator[Sequence[Finding]]:
    """Put tests together in the order of their labels and causes; what is unstable did something else each time anyway."""
    order: dict[Label, int] = {}
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in chosen:
        place = order.setdefault(finding.label, len(order))
        rule = finding.cause.detail if finding.cause is not None and TestId(finding.nodeid, finding.occurrence) in ruled else ""
        did = () if finding.label in UNSTABLE else tuple(finding.outcomes.items())
        key = (is_let_through(artifact, finding), place, kind(finding.cause), rule, did)
        groups.setdefault(key, []).append(finding)
    yield from (groups[key] for key in sorted(groups, key=lambda key: key[:3]))


def _said(finding: Finding, sides: Sides) -> Said:
    side = next((side for side in sides[TestId(finding.nodeid, finding.occurrence)] if words_of(side)), None)
    return Said(
        outcomes={spell_out(env): outcomes for env, outcomes in finding.outcomes.items()},
        at=f"{side.file}:{side.line}" if side is not None and side.file else "",
        failure=short(words_of(side)) if side is not None else "",
        why=short(in_a_line(finding.cause)) if finding.cause is not None else "",
    )


def short(text: str) -> str:
    """Put a text into one line of no more than some hundred characters."""
    return cut(in_one_line(text), MOST_CHARACTERS)
