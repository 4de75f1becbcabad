"""What the gate said of the planted suite, held against what was planted. It runs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

import msgspec

from paritygate.outcomes.artifact import Artifact, Cause, Finding
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.words import CauseKind, CellStatus, ExitCode, Label
from paritygate.reports import causes
from paritygate.reports.text import in_one_line
from paritygate.selfcheck.planted import Plant


class Shown(StrEnum):
    """What a selfcheck has shown of one fault; one that cannot be shown here is no mistake of the gate's."""

    AS_PLANTED = "as planted"
    OTHERWISE = "otherwise"
    NOT_HERE = "not provable here"
    LEFT_OUT = "left out"


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """One fault, what was shown of it, and in words what the gate said of it, or why it said nothing."""

    name: str
    plant: Plant
    shown: Shown
    said: str


def judge(artifact: Artifact, plants: Mapping[str, Plant], left_out: Iterable[str], lacking: Mapping[str, str]) -> list[Judged]:
    """Judge every plant; `left_out` are the axes that somebody did not want, `lacking` says of others why they are not here."""
    reasons = {each.axis.value: each.why for each in artifact.axes if not each.varied} | dict(lacking)
    asked = frozenset(left_out)
    return [_judged(name, plant, artifact, asked, reasons) for name, plant in plants.items()]


def _judged(name: str, plant: Plant, artifact: Artifact, left_out: frozenset[str], reasons: Mapping[str, str]) -> Judged:
    if plant.cause in left_out:
        return Judged(name=name, plant=plant, shown=Shown.LEFT_OUT, said="left out, as was asked for")
    if plant.axis is not None and plant.cause in reasons:
        return Judged(name=name, plant=plant, shown=Shown.NOT_HERE, said=in_one_line(reasons[plant.cause]))
    found = [each for each in artifact.tests if each.nodeid.partition("::")[0] == plant.file]
    wrong = [each for each in found if not _is_as_planted(each, plant)]
    if found and not wrong and any(each.nodeid == plant.test for each in found if plant.cause):
        return Judged(
            name=name, plant=plant, shown=Shown.AS_PLANTED, said=_said(next(e for e in found if e.nodeid == plant.test))
        )
    if found and not wrong and not plant.cause:
        return Judged(name=name, plant=plant, shown=Shown.AS_PLANTED, said=plant.label)
    said = "; ".join(f"`{each.nodeid.partition('::')[2]}` is {_said(each)}" for each in wrong) or _why_nothing(artifact.cells)
    return Judged(name=name, plant=plant, shown=Shown.OTHERWISE, said=said)


def _is_as_planted(finding: Finding, plant: Plant) -> bool:
    """Say whether one test of a plant's file is what it should be: all others than the planted one are sound."""
    if not plant.cause or finding.nodeid != plant.test:
        return finding.label is Label.CONSISTENT_GREEN
    cause = finding.cause
    if finding.label is not plant.label or cause is None:
        return False
    named = cause.axes if cause.kind is CauseKind.AXIS else (cause.kind,)
    return named == (plant.cause,) and cause.polluters == plant.polluters


def _said(finding: Finding) -> str:
    return f"{finding.label}, because of {_because(finding.cause)}" if finding.cause else f"{finding.label}, without a cause"


def _because(cause: Cause) -> str:
    short = causes.kind(cause)
    spoiled = ", ".join(each.partition("::")[2] for each in cause.polluters)
    return f"{short} (after `{spoiled}`)" if spoiled else short


def _why_nothing(cells: Iterable[Cell]) -> str:
    died = [
        f"cell `{cell.env}-{cell.attempt}` {cell.status}: {cell.detail}"
        for cell in cells
        if cell.status is not CellStatus.FINISHED
    ]
    return in_one_line(f"no result; {died[0]}" if died else "no result, and every cell finished")


def exit_code(judged: Iterable[Judged]) -> ExitCode:
    """Say 0 where all was found as planted, 1 where the gate was wrong, 4 where something cannot be shown here."""
    shown = {each.shown for each in judged}
    if Shown.OTHERWISE in shown:
        return ExitCode.CONSISTENT_RED
    return ExitCode.NO_VERDICT if Shown.NOT_HERE in shown else ExitCode.PARITY
