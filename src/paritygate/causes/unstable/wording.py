"""The answer of a search among unstable tests in words: what goes into a finding, and nothing that was not seen."""

from __future__ import annotations

import msgspec

from paritygate.causes.unstable.answers import Answer, OfChance, OfOrder, OfRace, OfSeed, Open, Times
from paritygate.causes.unstable.suspects import Suspect
from paritygate.causes.wording import UNFINISHED
from paritygate.classifier.evidence import noted
from paritygate.classifier.labels import DRIFTS
from paritygate.outcomes.artifact import Cause, Finding
from paritygate.outcomes.cells import TestId
from paritygate.outcomes.words import CauseKind

SEEDS = {CauseKind.DATA_SEED: ("random numbers are seeded", "hash seed"), CauseKind.HASH_SEED: ("hashes are seeded", "data seed")}
MOST_NAMES = 3
UNSOUGHT = (
    "its cause was not looked for: that takes two finished cells of one environment in which it does different things, "
    "and which can be run again as they were"
)


def explained(finding: Finding, suspect: Suspect, answer: Answer, partners: tuple[TestId, ...]) -> Finding:
    """Give an unstable test its cause, or say why it has none."""
    if isinstance(answer, Open):
        return msgspec.structs.replace(finding, note=noted(finding, f"its cause is open: {answer.why}"))
    return msgspec.structs.replace(finding, cause=_cause(suspect, answer, partners))


def unfinished(finding: Finding, seen: str) -> Finding:
    """Say of a test whose search did not come to its end why it has no cause, and what was seen, if that says anything."""
    return msgspec.structs.replace(finding, note=noted(finding, f"{UNFINISHED}{f'; {seen}' if seen else ''}"))


def unsought(finding: Finding) -> Finding:
    """Say of a test for which there are no two cells to compare why it has no cause; of an id that drifts it is said already."""
    return finding if DRIFTS in finding.note else msgspec.structs.replace(finding, note=noted(finding, UNSOUGHT))


def _cause(suspect: Suspect, answer: OfOrder | OfSeed | OfRace | OfChance, partners: tuple[TestId, ...]) -> Cause:
    well, ill = suspect.better.does, suspect.worse.does
    match answer:
        case OfOrder():
            return _of_order(suspect, answer)
        case OfSeed():
            how, other = SEEDS[answer.kind]
            first, second = answer.attempts
            detail = (
                f"{ill} where {how} as in attempt {second} of {suspect.ill.env} ({answer.ill}), {well} as in attempt {first} "
                f"({answer.well}), the {other} being the other's each time"
            )
            return Cause(kind=answer.kind, detail=detail)
        case OfRace():
            beside = (
                f"at the same time, each time: {_named(partners)}"
                if partners
                else "no test ran at the same time each time; what ran before it on other workers was not looked into"
            )
            detail = (
                f"{ill} with {answer.workers} workers ({answer.beside}), {well} where its worker's list runs in one process "
                f"({answer.alone}); {beside}"
            )
            return Cause(
                kind=CauseKind.RACE, detail=detail, overlapping=tuple(each.nodeid for each in partners), rate=_rate(answer.beside)
            )
        case OfChance():
            detail = f"changes though nothing else does: {answer.cell}, run again as it was, {ill} {answer.again} times"
            detail += f", and {answer.alone} where its worker's list runs in one process" if answer.alone.of else ""
            return Cause(kind=CauseKind.CHANCE, detail=detail, rate=_rate(answer.again))


def _of_order(suspect: Suspect, answer: OfOrder) -> Cause:
    """Say which tests spoil it or which it needs, or that these only share their random numbers with it."""
    well, ill = suspect.better.does, suspect.worse.does
    names = _named(answer.culprits)
    nodes = tuple(each.nodeid for each in answer.culprits)
    also = f"; {answer.also}" if answer.also else ""
    if answer.brittle:
        detail = f"{well} after {names} ({answer.after}), {ill} without ({answer.without}){also}"
        return Cause(kind=CauseKind.ORDER, setters=nodes, detail=detail)
    detail = f"{ill} after {names} ({answer.after}), {well} without ({answer.without}){also}"
    if answer.reseeded != Times(0, 0):
        alike = f"{well} after it where pytest-randomly does not seed random numbers alike before each test ({answer.reseeded})"
        return Cause(kind=CauseKind.DATA_SEED, polluters=nodes, detail=f"{alike}; {detail}")
    return Cause(kind=CauseKind.ORDER, polluters=nodes, detail=detail)


def _named(tests: tuple[TestId, ...]) -> str:
    """Name tests, the second of two equal ids by its number; of many the first."""
    names = [f"`{each.nodeid}`{f' (number {each.occurrence + 1})' * bool(each.occurrence)}" for each in tests]
    more = len(names) - MOST_NAMES
    return " and ".join(names) if more <= 0 else f"{', '.join(names[:MOST_NAMES])} and {more} more"


def _rate(times: Times) -> tuple[int, int]:
    return times.seen, times.of
