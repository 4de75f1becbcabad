"""A run in a few lines of JSON, for whoever has little room to read and must decide what to do next, such as a coding agent."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import msgspec

from paritygate.errors import ParityError
from paritygate.outcomes.artifact import Artifact, Finding
from paritygate.outcomes.cells import TestId
from paritygate.outcomes.words import CellStatus, Label, Outcome
from paritygate.reports.advice import after, after_status
from paritygate.reports.causes import in_a_line, kind
from paritygate.reports.deaths import name
from paritygate.reports.files import files
from paritygate.reports.ranking import is_let_through, ranked, reproduction
from paritygate.reports.sides import sides_of, words_of
from paritygate.reports.text import cut, in_one_line, spell_out

MOST_GROUPS = 20
MOST_TESTS = 5
MOST_CELLS = 4
MOST_CHARACTERS = 300


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tests of one label that have one cause. `count` is how many they are, `tests` the first of them.

    `files` are those of all, and the rest is of the first: `failure` is what it says, `why` its cause with what was seen,
    `reproduce` the command that runs it once more.
    """

    label: Label
    cause: str = ""
    count: int
    todo: str
    tests: tuple[str, ...]
    outcomes: dict[str, tuple[Outcome, ...]]
    at: str = ""
    failure: str = ""
    why: str = ""
    files: tuple[str, ...] = ()
    reproduce: str = ""


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """What is printed: a line for each field, and one for each problem."""

    verdict: str
    exit_code: int
    line: str
    todo: tuple[str, ...]
    labels: dict[str, int]
    report: str
    problems: tuple[Problem, ...]
    more: int


def render(artifact: Artifact, report: str = "") -> str:
    """Write the lines. `report` is the path of the artifact as commands are to have it, empty where it lies nowhere."""
    known = report if artifact.material is not None else ""
    problems = tuple(_problems(artifact, known))
    shown = problems[:MOST_GROUPS]
    return _written(
        Brief(
            verdict=artifact.verdict.name,
            exit_code=artifact.verdict.exit_code,
            line=_short(artifact.verdict.line or artifact.verdict.name),
            todo=tuple(_todo(artifact)),
            labels={label.value: count for label, count in artifact.labels.items() if count},
            report=report,
            problems=shown,
            more=sum(each.count for each in problems[MOST_GROUPS:]),
        )
    )


def failed(error: ParityError) -> str:
    """Write the lines of a run that came to no artifact."""
    return _written(
        Brief(
            verdict="",
            exit_code=error.exit_code,
            line=_short(error.message),
            todo=(_short(error.hint),) if error.hint else (),
            labels={},
            report="",
            problems=(),
            more=0,
        )
    )


def _written(brief: Brief) -> str:
    """Write a field a line, and a problem a line, so that the first lines are enough to decide by."""
    fields = []
    for field in Brief.__struct_fields__:
        value = getattr(brief, field)
        if field == "problems" and value:
            listed = ",\n".join(f"  {_json(each)}" for each in value)
            fields.append(f'"problems": [\n{listed}\n]')
        else:
            fields.append(f'"{field}": {_json(value)}')
    return "{" + ",\n".join(fields) + "}\n"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _todo(artifact: Artifact) -> Iterator[str]:
    for cell in [cell for cell in artifact.cells if cell.status is not CellStatus.FINISHED][:MOST_CELLS]:
        yield f"cell {name(cell)} {cell.status}: {after_status(cell, artifact.sweeps)}"
    labels = dict.fromkeys(each.label for each in ranked(artifact) if not is_let_through(artifact, each))
    yield from (f"{label}: {after(label, artifact.verdict)}" for label in labels)
    if not labels and artifact.labels.get(Label.CONSISTENT_GREEN):
        yield after(Label.CONSISTENT_GREEN, artifact.verdict)


def _problems(artifact: Artifact, report: str) -> Iterator[Problem]:
    def group_of(finding: Finding) -> tuple[bool, Label, str]:
        return is_let_through(artifact, finding), finding.label, kind(finding.cause)

    order = {label: number for number, label in enumerate(dict.fromkeys(each.label for each in ranked(artifact)))}
    chosen = sorted(ranked(artifact), key=lambda each: (group_of(each)[0], order[each.label], group_of(each)[2]))
    sides = sides_of(artifact, chosen)
    for (through, label, cause), group in groupby(chosen, key=group_of):
        some = list(group)
        first = some[0]
        side = next((side for side in sides[TestId(first.nodeid, first.occurrence)] if words_of(side)), None)
        yield Problem(
            label=label,
            cause=cause,
            count=len(some),
            todo="frozen, and let through" if through else after(label, artifact.verdict),
            tests=tuple(spell_out(each.nodeid) for each in some[:MOST_TESTS]),
            outcomes={spell_out(env): outcomes for env, outcomes in first.outcomes.items()},
            at=f"{side.file}:{side.line}" if side is not None and side.file else "",
            failure=_short(words_of(side)) if side is not None else "",
            why=_short(in_a_line(first.cause)) if first.cause is not None else "",
            files=tuple(_short(line) for line in files(*(each.cause for each in some if each.cause is not None))),
            reproduce=reproduction(first, report),
        )


def _short(text: str) -> str:
    return cut(in_one_line(text), MOST_CHARACTERS)
