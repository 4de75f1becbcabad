"""A selfcheck as text: each fault with what was said of it, then all of it in one line."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

import msgspec

from paritygate.outcomes.words import Axis
from paritygate.reports.text import spell_out
from paritygate.selfcheck.flow import OF_A_FILESYSTEM
from paritygate.selfcheck.judging import Judged, Shown
from paritygate.selfcheck.planted import CONTROL

NARROWEST = 30
MARKS = {Shown.AS_PLANTED: "✓", Shown.OTHERWISE: "✗", Shown.NOT_HERE: "–", Shown.LEFT_OUT: "–"}  # noqa: RUF001 - a dash is meant
PLAIN = {Shown.AS_PLANTED: "ok", Shown.OTHERWISE: "NO", Shown.NOT_HERE: "--", Shown.LEFT_OUT: "--"}
COLOURS = {Shown.AS_PLANTED: "32", Shown.OTHERWISE: "31", Shown.NOT_HERE: "33", Shown.LEFT_OUT: "2"}


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """What it is written on: columns, and whether it can show colours and characters beyond ASCII."""

    width: int
    colour: bool = False
    unicode: bool = True


def told(judged: Sequence[Judged], page: Page) -> Iterator[str]:
    """Tell every plant: a mark, its name, what the gate said of it, and below that what was planted."""
    marks = MARKS if page.unicode else PLAIN
    longest = max(len(each.name) for each in judged)
    indent = len(next(iter(marks.values()))) + longest + 3
    for each in judged:
        mark, said = marks[each.shown], each.said if each.shown in {Shown.AS_PLANTED, Shown.LEFT_OUT} else _at_length(each)
        first, *more = _wrapped(said, page.width - indent)
        yield f"{_styled(mark, COLOURS[each.shown], page)} {each.name:<{longest}}  {first}"
        yield from (f"{'':{indent}}{line}" for line in more)
        yield from (_styled(f"{'':{indent}}{line}", "2", page) for line in _wrapped(each.plant.what, page.width - indent))


def _at_length(each: Judged) -> str:
    if each.shown is Shown.NOT_HERE:
        return f"not provable here: {each.said}"
    planted = f"{each.plant.label}{f', because of {each.plant.cause}' if each.plant.cause else ''}"
    return f"planted: {planted}; the gate said: {each.said}"


def summary(judged: Sequence[Judged], seconds: float, where: str) -> Iterator[str]:
    """Say in one line what was shown, and below it what to do where that is not all."""
    faults = [each for each in judged if each.name != CONTROL and each.shown is not Shown.LEFT_OUT]
    found = [each for each in faults if each.shown is Shown.AS_PLANTED]
    sound = all(each.shown is Shown.AS_PLANTED for each in judged if each.name == CONTROL)
    control = "and nothing else" if sound else "and something where nothing is wrong"
    yield f"{len(found)} of {len(faults)} planted faults found, each with its cause, {control}: in {seconds:.0f} s on {where}"
    if any(each.shown is Shown.OTHERWISE for each in judged):
        yield "the gate was wrong here: please report it, with what `paritygate selfcheck --report FILE` writes"
    if lacking := [each.plant.axis for each in judged if each.shown is Shown.NOT_HERE and each.plant.axis]:
        named = " ".join(f"--without-axis {axis}" for axis in lacking)
        yield f"not all can be shown on this computer: {_remedy(lacking)}; for what can be: `paritygate selfcheck {named}`"


def _remedy(lacking: Sequence[Axis]) -> str:
    if set(lacking) <= set(OF_A_FILESYSTEM):
        return "`paritygate doctor` says what is in the way"
    return "each line above says what is missing"


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(spell_out(text), max(width, NARROWEST), break_on_hyphens=False) or [""]


def _styled(text: str, style: str, page: Page) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if page.colour else text
