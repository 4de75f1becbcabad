"""A run in the log of a GitHub workflow: the report as text that the runner obeys in nothing, then annotations, worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paritygate.outcomes.artifact import Artifact, Finding, Side
from paritygate.outcomes.cells import TestId
from paritygate.outcomes.words import FreezeState, VerdictName
from paritygate.reports import terminal
from paritygate.reports.advice import after
from paritygate.reports.causes import in_a_line
from paritygate.reports.ranking import is_let_through, ranked, reproduction
from paritygate.reports.sides import sides_of, words_of
from paritygate.reports.text import in_a_block, in_one_line, outcomes_of, spell_out
from paritygate.reports.workflow import MOST_ANNOTATIONS, Annotation, Level, neutralised

WIDTH = 160
MOST_MESSAGE = 600
NOT_IN_TREE = ("/", "\\", "<", "..")
"""How a path begins that is not one of the repository."""


def render(artifact: Artifact, report: str = "") -> str:
    """Write the log of a step. `report` is the path of the artifact as commands are to have it, empty where it lies nowhere."""
    text = terminal.render(artifact, WIDTH, report=report)
    known = report if artifact.material is not None else ""
    return "\n".join([*map(neutralised, text.splitlines()), "", *map(str, annotated(artifact, known))]) + "\n"


def annotated(artifact: Artifact, report: str) -> Iterator[Annotation]:
    """Choose the annotations: no more of a level than GitHub shows in a step, with what is left out said among them."""
    said: dict[Level, list[Annotation]] = {level: [] for level in Level}
    for each in (*_of_verdict(artifact), *_of_tests(artifact, report), *_of_hazards(artifact)):
        said[each.level].append(each)
    for level, some in said.items():
        if len(some) <= MOST_ANNOTATIONS:
            yield from some
        else:
            yield from some[: MOST_ANNOTATIONS - 1]
            more = f"{len(some) - MOST_ANNOTATIONS + 1} more like these are in the artifact"
            yield Annotation(level=level, text=more, title="paritygate")


def _of_verdict(artifact: Artifact) -> Iterator[Annotation]:
    verdict = artifact.verdict
    if verdict.name is not VerdictName.PARITY:
        line = f"{in_one_line(verdict.line or verdict.name)} (exit {verdict.exit_code})"
        yield Annotation(level=Level.ERROR, text=line, title=f"paritygate: {verdict.name}")


def _of_tests(artifact: Artifact, report: str) -> Iterator[Annotation]:
    """Annotate each test where it fails, or its file where that is nowhere in the repository."""
    chosen = ranked(artifact)
    sides = sides_of(artifact, chosen)
    for finding in chosen:
        through = is_let_through(artifact, finding)
        side = _worst(sides[TestId(finding.nodeid, finding.occurrence)])
        file, line = (side.file, side.line) if side is not None and _is_ours(side.file) else (_file_of(finding), 0)
        yield Annotation(
            level=Level.WARNING if through else Level.ERROR,
            text="\n".join(_told(artifact, finding, side, report)),
            title=f"{finding.label}{' (frozen)' if through else ''}: {spell_out(finding.nodeid)}",
            file=file,
            line=line,
        )


def _told(artifact: Artifact, finding: Finding, side: Side | None, report: str) -> Iterator[str]:
    yield spell_out(outcomes_of(finding.outcomes))
    if side is not None and (words := words_of(side)):
        yield f"{spell_out(side.env)}: {in_a_block(words, MOST_MESSAGE)}"
    if finding.cause is not None:
        yield f"cause: {spell_out(in_a_line(finding.cause))}"
    if is_let_through(artifact, finding):
        yield f"frozen until {artifact.freezes[finding.nodeid].expires}, and let through"
    else:
        yield f"what to do: {after(finding.label, artifact.verdict)}"
    if command := reproduction(finding, report):
        yield f"to reproduce: {command}"


def _of_hazards(artifact: Artifact) -> Iterator[Annotation]:
    """Warn of hazards in the files of tests that diverge, and of freezes that hold no more."""
    for hazard in dict.fromkeys(hazard for finding in ranked(artifact) for hazard in finding.hazards):
        yield Annotation(
            level=Level.WARNING,
            text=spell_out(f"{hazard.what}: {hazard.why}; instead: {hazard.instead}"),
            title=f"hazard: {hazard.kind}",
            file=hazard.file if _is_ours(hazard.file) else "",
            line=hazard.line,
            column=hazard.column,
        )
    for nodeid, freeze in artifact.freezes.items():
        if freeze.state in {FreezeState.DRIFTED, FreezeState.UNKNOWN}:
            yield Annotation(level=Level.WARNING, text=spell_out(freeze.why), title=f"freeze: {spell_out(nodeid)}")


def _worst(sides: Sequence[Side]) -> Side | None:
    """Choose the side whose failure says most: the first that has a place, else the first that is red."""
    red = [side for side in sides if not side.outcome.green]
    return next((side for side in red if side.file), next(iter(red), None))


def _file_of(finding: Finding) -> str:
    file = finding.nodeid.partition("::")[0]
    return file if _is_ours(file) else ""


def _is_ours(file: str) -> bool:
    return bool(file) and file.isprintable() and not file.startswith(NOT_IN_TREE)
