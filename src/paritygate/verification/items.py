"""What was checked of a report, one thing at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

import msgspec

from paritygate.reports.text import in_one_line

MOST_LINES = 20


class State(StrEnum):
    """How a check went; what could not be checked is no mismatch, and never silent."""

    MATCHES = "matches"
    DIFFERS = "differs"
    NOT_CHECKED = "not checked"


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One check: of what, how it went, what is to be known of it, and what does not match, each in a line."""

    what: str
    state: State
    said: str = ""
    lines: tuple[str, ...] = ()


def checked(what: str, said: str, wrong: Iterable[str]) -> Item:
    """Make the item of a check that found so many things wrong."""
    lines = tuple(wrong)
    return Item(what=what, state=State.DIFFERS if lines else State.MATCHES, said=said, lines=lines)


def not_checked(what: str, why: str) -> Item:
    """Make the item of what cannot be checked here."""
    return Item(what=what, state=State.NOT_CHECKED, said=why)


def told(items: Sequence[Item]) -> Iterator[str]:
    """Say every item in a line, with what does not match below it, up to a number."""
    longest = max((len(item.what) for item in items), default=0)
    for item in items:
        yield f"{item.state:<11}  {item.what:<{longest}}  {in_one_line(item.said)}".rstrip()
        for line in item.lines[:MOST_LINES]:
            yield f"  {in_one_line(line)}"
        if len(item.lines) > MOST_LINES:
            yield f"  and {len(item.lines) - MOST_LINES} more"


def summary(items: Sequence[Item]) -> str:
    """Say in one line whether the report can be relied upon."""
    wrong = [item.what for item in items if item.state is State.DIFFERS]
    if not wrong:
        return "the report matches"
    return f"the report does not match in {len(wrong)} of {len(items)} things: {', '.join(wrong)}"
