"""What ruff finds, judged: a rule of style goes further than a hazard, so what is harmless where it stands is left out."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from paritygate.hazards import calendars, encodings, moments, ruff, surroundings
from paritygate.hazards.files import Names
from paritygate.hazards.found import Found, shown
from paritygate.hazards.moments import Meaning
from paritygate.hazards.ruff import Word
from paritygate.hazards.source import Role, Source
from paritygate.outcomes.hazards import HazardKind


def judged(words: Sequence[Word], source: Source, names: Names) -> Iterator[Found]:
    """Turn what ruff found into hazards."""
    for kind, call in ruff.translate(words, source):
        if kind is HazardKind.LOCALE_ENCODING:
            if encodings.matters(call, source, names):
                yield Found(kind, call, encodings.left_open(call), encodings.sure(call, source, names))
        elif not surroundings.harmless(call, source) and makes_difference(call, source, now=kind is HazardKind.NAIVE_CLOCK):
            yield Found(kind, call, f"{shown(call)} goes by the machine's zone", _sure(call, source))


def _sure(call: ast.Call, source: Source) -> bool:
    """Say whether the source alone shows that the zone matters: by what is written out, or by what a package makes of a date."""
    if source.role is not Role.PACKAGE:
        return moments.spelled_out(call, source)
    return not moments.only_shown(call, source) and calendars.decides(call, source)


def makes_difference(call: ast.Call, source: Source, *, now: bool) -> bool:
    """Say whether local time decides something where it stands: what a test asserts, or what a package does."""
    if source.role is Role.PACKAGE:
        return moments.decides(call, source)
    meaning = moments.meaning_of(call, source)
    return meaning is Meaning.SPELLED_OUT or (now and meaning is Meaning.EXPECTED)
