"""A run in a few lines of JSON, for whoever has little room to read and must decide what to do next, such as a coding agent."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from paritygate.errors import ParityError
from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.words import CellStatus, Label
from paritygate.reports.advice import after, after_status
from paritygate.reports.deaths import name
from paritygate.reports.problems import Problem, problems, short
from paritygate.reports.ranking import is_let_through, ranked
from paritygate.reports.swept import Swept, swept

MOST_GROUPS = 20
MOST_CELLS = 4
LISTS = ("problems", "sweeps")
"""Fields of which every member has a line of its own."""


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """What is printed: a line for each field, and one for each problem and each axis that was swept over.

    `more` are the tests that no problem names: those of problems beyond the first ones, and those left out of the ones shown.
    """

    verdict: str
    exit_code: int
    line: str
    todo: tuple[str, ...]
    labels: dict[str, int]
    report: str
    problems: tuple[Problem, ...]
    more: int
    sweeps: tuple[Swept, ...] = ()


def render(artifact: Artifact, report: str = "") -> str:
    """Write the lines. `report` is the path of the artifact as commands are to have it, empty where it lies nowhere."""
    known = report if artifact.material is not None else ""
    found = tuple(problems(artifact, known))
    shown = found[:MOST_GROUPS]
    return _written(
        Brief(
            verdict=artifact.verdict.name,
            exit_code=artifact.verdict.exit_code,
            line=short(artifact.verdict.line or artifact.verdict.name),
            todo=tuple(_todo(artifact)),
            labels={label.value: count for label, count in artifact.labels.items() if count},
            report=report,
            problems=shown,
            more=sum(each.more for each in shown) + sum(each.count for each in found[MOST_GROUPS:]),
            sweeps=tuple(swept(artifact)),
        )
    )


def failed(error: ParityError) -> str:
    """Write the lines of a run that came to no artifact."""
    return _written(
        Brief(
            verdict="",
            exit_code=error.exit_code,
            line=short(error.message),
            todo=(short(error.hint),) if error.hint else (),
            labels={},
            report="",
            problems=(),
            more=0,
        )
    )


def _written(brief: Brief) -> str:
    """Write a field a line, and a problem a line, so that the first lines are enough to decide by; no sweeps where none are."""
    fields = []
    for field in Brief.__struct_fields__:
        value = getattr(brief, field)
        if field in LISTS and value:
            listed = ",\n".join(f"  {_json(each)}" for each in value)
            fields.append(f'"{field}": [\n{listed}\n]')
        elif field != "sweeps":
            fields.append(f'"{field}": {_json(value)}')
    return "{" + ",\n".join(fields) + "}\n"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _todo(artifact: Artifact) -> Iterator[str]:
    for cell in [cell for cell in artifact.cells if cell.status is not CellStatus.FINISHED][:MOST_CELLS]:
        yield f"cell {name(cell)} {cell.status}: {after_status(cell)}"
    labels = dict.fromkeys(each.label for each in ranked(artifact) if not is_let_through(artifact, each))
    yield from (f"{label}: {after(label, artifact.verdict)}" for label in labels)
    if not labels and artifact.labels.get(Label.CONSISTENT_GREEN):
        yield after(Label.CONSISTENT_GREEN, artifact.verdict)
