"""Marks in what failures say the values that differ, between two of them or within one comparison."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

TOKEN = re.compile(r"\d+(?:\.\d+)+|\w+|\s+|[^\w\s]")
COMPARISON = re.compile(
    r"(?P<before>(?:\w+: )?assert )(?P<left>.+?)(?P<sign> (?:==|!=|>=|<=|>|<|is not|is|not in|in) )(?P<right>.+)"
)
MOST_TOKENS = 1500
"""Beyond this a comparison would take longer than anybody wants to wait for a page."""


class Part(NamedTuple):
    """A piece of a text, and whether it differs from what it is compared with."""

    text: str
    differs: bool


Marked = tuple[Part, ...]


def marked(messages: Sequence[str]) -> tuple[Marked, ...]:
    """Mark in each message what the first other one has not; where there is only one to tell, what its comparison compares."""
    distinct = list(dict.fromkeys(message for message in messages if message))
    if len(distinct) < 2:  # noqa: PLR2004  # two make a comparison
        return tuple(_within(message) for message in messages)
    return tuple(_against(message, distinct[0] if message != distinct[0] else distinct[1]) for message in messages)


def _within(message: str) -> Marked:
    """Mark the two sides of a failed comparison, as pytest writes it in a first line."""
    first, newline, rest = message.partition("\n")
    found = COMPARISON.fullmatch(first)
    if found is None:
        return _plain(message)
    left, right = found["left"], found["right"]
    here, there = _against(left, right), _against(right, left)
    return _joined(
        (
            Part(found["before"], differs=False),
            *here,
            Part(found["sign"], differs=False),
            *there,
            Part(newline + rest, differs=False),
        )
    )


def _against(text: str, other: str) -> Marked:
    """Mark what of a text is not in another one at its place."""
    here, there = TOKEN.findall(text), TOKEN.findall(other)
    if not other or len(here) > MOST_TOKENS or len(there) > MOST_TOKENS:
        return _plain(text)
    blocks = SequenceMatcher(None, here, there, autojunk=False).get_opcodes()
    return _joined(tuple(Part("".join(here[start:end]), kind != "equal") for kind, start, end, _, _ in blocks))


def _plain(text: str) -> Marked:
    return (Part(text, differs=False),) if text else ()


def _joined(parts: Sequence[Part]) -> Marked:
    """Leave out what is empty, and put together what is marked alike or parted by nothing but a space."""
    result: list[Part] = []
    for part in parts:
        if not part.text:
            continue
        if result and result[-1].differs == part.differs:
            result[-1] = Part(result[-1].text + part.text, part.differs)
        else:
            result.append(part)
    return tuple(result)
