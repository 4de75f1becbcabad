"""Holds the cells that are there against those that were planned: one that no file holds leaves no verdict.

It believes what files say was planned, and knows nothing of why a cell is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from paritygate.classifier.evidence import noted
from paritygate.classifier.surroundings import Attempt
from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.cells import Cell, EnvironmentName
from paritygate.outcomes.words import Label, Purpose

FEWER = "run its job again, or plan fewer in every job (`--attempts`, `--env`)"

Plan = Mapping[EnvironmentName, int]


def missing(planned: Plan, cells: Iterable[Cell]) -> tuple[Attempt, ...]:
    """Name the cells of the gate that were planned and are not among these."""
    there = {Attempt(cell.env, cell.attempt) for cell in cells if cell.purpose is Purpose.GATE}
    wanted = (Attempt(env, attempt) for env, number in planned.items() for attempt in range(1, number + 1))
    return tuple(each for each in wanted if each not in there)


def obstacles(planned: Plan, cells: Iterable[Cell]) -> Iterator[str]:
    """Say of each cell that is missing that it is."""
    for each in missing(planned, cells):
        yield f"`{each.env}` attempt {each.attempt} is missing: no file holds it; {FEWER}"


def remarks(planned: Plan) -> Iterator[str]:
    """Say where nobody could see that a cell is missing."""
    if not planned:
        yield "no file says how many attempts of which environments were planned: whether a cell is missing cannot be seen"


def held_back(findings: Iterable[Finding], planned: Plan) -> tuple[Finding, ...]:
    """Leave undecided what looks coupled by a single attempt where several were planned: it cannot have agreed with itself."""
    return tuple(_held_back(each, planned) if each.label is Label.COUPLING else each for each in findings)


def _held_back(finding: Finding, planned: Plan) -> Finding:
    once = [env for env, number in planned.items() if number > 1 and len(finding.outcomes.get(env, ())) == 1]
    if not once:
        return finding
    names = ", ".join(f"`{env}`" for env in once)
    note = f"of {names} there is one attempt of several that were planned, so nothing says that it is stable there"
    return msgspec.structs.replace(finding, label=Label.UNDECIDED, note=noted(finding, note))
