"""The answer of a search in words: what goes into a finding, and nothing that was not seen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from paritygate.causes.cases import Case
from paritygate.causes.search import Answer, Mix, Table
from paritygate.causes.views import Likeness, Seen
from paritygate.classifier.evidence import noted
from paritygate.outcomes.artifact import Cause, Finding
from paritygate.outcomes.words import Axis, CauseKind

NONE = "none of the axes that were varied explains it"
UNFINISHED = (
    "the cause was not looked for to the end: the time for it was over "
    "(`paritygate explain REPORT` goes on, `--explain-budget SECONDS` gives it more)"
)


class Study(msgspec.Struct, frozen=True):
    """A case, how its search ended (None: before its end), and what was seen on the way."""

    case: Case
    answer: Answer | None
    table: Table


def explained(finding: Finding, studies: Iterable[Study]) -> Finding:
    """Give a coupling its cause, as far as there is one, and the remarks on what did not fit."""
    some = tuple(studies)
    remarks = dict.fromkeys(remark for study in some for remark in _remarks(study))
    told = msgspec.structs.replace(finding, note=noted(finding, "; ".join(remarks)))
    ways: dict[tuple[Axis, ...], None] = {}
    shown: list[str] = []
    for study in some:
        if study.answer is not None and study.answer.ways:
            ways |= dict.fromkeys(_sorted(study, way) for way in study.answer.ways)
            shown.append(_shown(study, study.answer))
    if not ways:
        return told
    axes = dict.fromkeys(axis for way in ways for axis in way)
    cause = Cause(kind=CauseKind.AXIS, axes=tuple(axes), ways=tuple(ways), detail="; ".join(shown))
    return msgspec.structs.replace(told, cause=cause)


def _sorted(study: Study, mix: Mix) -> tuple[Axis, ...]:
    return tuple(axis for axis in study.case.pair.axes if axis in mix)


def _shown(study: Study, answer: Answer) -> str:
    """Say what was run for an answer, and how it came out: what spoils the base, then what mends the target."""
    case = study.case
    everything = frozenset(case.pair.axes)
    if everything in answer.ways and case.pair.whole:
        if len(everything) == 1:
            return f"nothing else differs between {case.pair.first} and {case.pair.second}"
        without = (everything - {axis} for axis in case.pair.axes)
        return "; ".join(f"{_backward(study, everything - mix)} {_did(study, mix)}" for mix in without)
    parts = [f"{_forward(study, way)} {_did(study, way)}" for way in answer.ways]
    mending = everything.difference(*answer.ways, answer.hidden)
    if mending:
        same = len(answer.ways) == 1 and not answer.hidden
        back = f"{case.target} with {case.base}'s" if same else _backward(study, everything - mending)
        parts.append(f"{back} {_did(study, mending)}")
    return "; ".join(parts)


def _forward(study: Study, mix: Mix) -> str:
    return f"{study.case.base} with {study.case.target}'s {_listed(study, mix)}"


def _backward(study: Study, mix: Mix) -> str:
    return f"{study.case.target} with {study.case.base}'s {_listed(study, mix)}"


def _listed(study: Study, mix: Mix) -> str:
    *others, last = _sorted(study, mix)
    return f"{', '.join(others)} and {last}" if others else last


def _did(study: Study, mix: Mix) -> str:
    """Say what a test did in a mixture, and how often; it did the same each time."""
    told = study.table.told(mix)
    return f"{does(told[0])}, {len(told)} of {len(told)}"


def does(seen: Seen) -> str:
    """Say what a test did in a cell."""
    return f"{seen.outcome.does}{' in another way' * seen.otherwise}"


def _remarks(study: Study) -> Iterator[str]:
    """Say what a reader has to know beside the cause, or in its place."""
    answer = study.answer
    if answer is None:
        yield UNFINISHED
    elif answer.unstable:
        yield from (_unstable(study, mix) for mix in answer.unstable)
    elif answer.silent:
        yield f"its cause is open: {_forward(study, min(answer.silent, key=len))} came to no result"
    else:
        yield from () if answer.ways else (NONE,)
        yield from (f"behind that is {_listed(study, answer.hidden)}",) if answer.hidden else ()
        yield from _third_ways(study)


def _unstable(study: Study, mix: Mix) -> str:
    gave = ", then ".join(does(each) for each in study.table.told(mix))
    return f"its cause is open, since it is unstable where the two are mixed: {_forward(study, mix)} {gave}"


def _third_ways(study: Study) -> Iterator[str]:
    """Say which axes alone gave what neither side gives."""
    for axis in study.case.pair.axes:
        mix = frozenset({axis})
        if study.table.likeness(mix) is Likeness.OTHER:
            yield f"{_forward(study, mix)} {does(study.table.told(mix)[0])}"
