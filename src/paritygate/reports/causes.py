"""Causes in words: in a word or two, to count tests by, and in one line with what was seen."""

from __future__ import annotations

from collections.abc import Sequence

from paritygate.outcomes.artifact import Cause
from paritygate.outcomes.words import CauseKind

MOST_PARTNERS = 2


def short(cause: Cause) -> str:
    """Say a cause in a word or two: of several axes, whether each is enough or it takes them together."""
    if cause.kind is CauseKind.COMPUTER:
        return " or ".join(" with ".join((cause.kind.value, *way)) for way in cause.ways or ((),))
    if cause.kind is not CauseKind.AXIS:
        others = [f"{word} {_listed(tests)}" for word, tests in (("after", cause.polluters), ("needs", cause.setters)) if tests]
        return f"{cause.kind.value} ({', '.join(others)})" if others else cause.kind.value
    return " or ".join(" with ".join(way) for way in cause.ways or (cause.axes,))


def kind(cause: Cause | None) -> str:
    """Say a cause without what is this test's own, such as the tests that spoil it; empty where none is known."""
    if cause is None:
        return ""
    return short(cause) if cause.kind in {CauseKind.AXIS, CauseKind.COMPUTER} else cause.kind.value


def _listed(tests: Sequence[str]) -> str:
    more = len(tests) - MOST_PARTNERS
    return " and ".join(tests) if more <= 0 else f"{', '.join(tests[:MOST_PARTNERS])} and {more} more"


def in_a_line(cause: Cause) -> str:
    """Say a cause in one line."""
    if cause.kind is CauseKind.AXIS and not cause.polluters:
        return f"{short(cause)} ({cause.detail})" if cause.detail else short(cause)
    if cause.kind is not CauseKind.AXIS and cause.detail:
        return f"{cause.kind.value}: {cause.detail}"
    parts = [short(cause)]
    return "; ".join([*parts, cause.detail] if cause.detail else parts)
