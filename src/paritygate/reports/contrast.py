"""The failing line of a test that diverges, and what each side made of it, next to each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from paritygate.outcomes.artifact import Side
from paritygate.reports.text import MOST_ENVIRONMENTS, spell_out

MOST_SIDES = 6
BETWEEN = " | "


def side_by_side(sides: Sequence[Side], width: int) -> Iterator[str]:
    """Say where a test fails, if that is one place, and both sides: in one line where they fit, else one below the other.

    No line is cut: one side alone may be wider.
    """
    shown = [some[0] for some in of_each_kind(sides)]
    places = {(side.file, side.line, side.source) for side in sides if side.file}
    more = len(shown) - MOST_SIDES
    shown = shown[:MOST_SIDES]
    several = Counter(side.env for side in sides)
    one_place = len(places) == 1
    said = [spell_out(_said(side, attempts=several[side.env] > 1, place=not one_place)) for side in shown]
    if one_place:
        yield spell_out(_place(*places.pop()))
    indent = "  " if one_place else ""
    together = f"{indent}{BETWEEN.join(said)}"
    if len(together) <= width:
        yield together
    else:
        yield from (f"{indent}{line}" for line in said)
    if more > 0:
        yield f"{indent}and {more} more that differ in the report"


def of_each_kind(sides: Sequence[Side]) -> list[list[Side]]:
    """Put the sides together that have one outcome and place, those that fail first: of many environments most are alike.

    Where there are few environments each side stands for itself.
    """
    if len({side.env for side in sides}) <= MOST_ENVIRONMENTS:
        return [[side] for side in sides]
    found: dict[tuple[object, ...], list[Side]] = {}
    for side in sides:
        found.setdefault((side.outcome, side.file, side.line, side.reason), []).append(side)
    return sorted(found.values(), key=lambda some: some[0].outcome.green)


def _place(file: str, line: int, source: str) -> str:
    where = f"{file}:{line}" if line else file
    return f"{where}: {source}" if source else where


def _said(side: Side, *, attempts: bool, place: bool) -> str:
    which = f"attempt{'s' * (len(side.attempts) > 1)} {', '.join(map(str, side.attempts))} " if attempts else ""
    where = f" at {_place(side.file, side.line, side.source)}" if place and side.file else ""
    first = side.message.strip().partition("\n")[0]
    what = first if first.startswith(side.exception) else f"{side.exception}: {first}".removesuffix(": ")
    why = what or side.reason
    return f"{side.env} {which}{side.outcome}{where}{f': {why}' if why else ''}"
