"""The artifact as text for people, on a terminal or in a log.

Colour only repeats what the words say. Whatever tests have printed is shown with its control characters spelled out.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.words import CellStatus, Label, Purpose, VerdictName
from paritygate.reports.advice import after
from paritygate.reports.deaths import dead_cells, name, said_once
from paritygate.reports.findings import Page, findings
from paritygate.reports.freezes import frozen
from paritygate.reports.sweeps import beside, sweeps
from paritygate.reports.text import folded, in_one_line, listed, spell_out
from paritygate.reports.touched import chosen

_COLOURS = {
    VerdictName.PARITY: "bold green",
    VerdictName.CONSISTENT_RED: "bold red",
    VerdictName.NONDETERMINISM: "bold magenta",
    VerdictName.COUPLING: "bold yellow",
    VerdictName.NO_VERDICT: "bold red",
    VerdictName.REFUSED: "bold red",
}


def render(artifact: Artifact, width: int = 100, *, colour: bool = False, report: str = "", fold: bool = False) -> str:
    """Say everything that a reader needs to decide: the verdict first, then what varied, the labels, the tests, the rest.

    `report` is the path under which the artifact lies, as commands are to have it; empty where it lies nowhere. With `fold` long
    lines are broken between words.
    """
    output = io.StringIO()
    console = Console(
        file=output,
        width=width,
        force_terminal=colour,
        no_color=not colour,
        color_system="standard" if colour else None,
        legacy_windows=False,
        safe_box=True,
        highlight=False,
        markup=False,
        emoji=False,
    )
    _print(console, _headline(artifact), fold=fold)
    for part in (
        _axes(artifact),
        sweeps(artifact),
        _labels(artifact),
        findings(artifact, Page(width, report if artifact.material is not None else "")),
        dead_cells(artifact, width),
        chosen(artifact.changed),
        _left_out(artifact),
        remarks(artifact),
        _seeds(artifact),
    ):
        if lines := list(part):
            console.print()
            _print(console, lines, fold=fold)
    return "".join(f"{line.rstrip()}\n" for line in output.getvalue().splitlines())


def _print(console: Console, lines: Iterable[str | Text | Table], *, fold: bool) -> None:
    for line in lines:
        for part in _folded(line, console.width) if fold else (line,):
            console.print(part, soft_wrap=not isinstance(part, Table))


def _folded(line: str | Text | Table, width: int) -> list[str] | list[Text] | list[Table]:
    match line:
        case Text():
            return [Text(part, style=line.style) for part in folded(line.plain, width)]
        case str():
            return folded(line, width)
        case Table():
            return [line]


def _headline(artifact: Artifact) -> Iterator[str | Text]:
    verdict = artifact.verdict
    code = f"exit {verdict.exit_code}"
    once = said_once(verdict.reasons, artifact.cells)
    line = verdict.line or verdict.name
    # The line holds one reason; what stands for it may hold another, for which it stands as well.
    first = next((reason for reason in verdict.reasons if reason in line), "")
    line = line.replace(first, once[first]) if first else line
    shown = in_one_line(line)
    yield Text(shown if code in shown else f"{shown} ({code})", style=_COLOURS[verdict.name])
    for said in dict.fromkeys(once.values()):
        if said not in line:
            yield f"  {in_one_line(said)}"


def _axes(artifact: Artifact) -> Iterator[str]:
    longest = max((len(each.axis) for each in artifact.axes), default=0)
    for each in sorted(artifact.axes, key=lambda each: not each.varied):
        values = " | ".join(f"{record.name} {record.axes.get(each.axis, '')}".rstrip() for record in artifact.environments)
        if any(each.axis is sweep.axis for sweep in artifact.sweeps):
            continue
        if each.varied or not each.measured:
            known = "varied" if each.varied else "unmeasured"
            said = spell_out(f"{values} ({each.why})" if each.why else values)
            yield f"{known:<10}  {each.axis:<{longest}}  {said}"
        else:
            yield f"not varied  {each.axis:<{longest}}  {spell_out(each.why)}"


def _labels(artifact: Artifact) -> Iterator[Table]:
    counts = {label: artifact.labels.get(label, 0) for label in Label}
    if not any(counts.values()):
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("label", no_wrap=True)
    table.add_column("tests", justify="right", no_wrap=True)
    table.add_column("what to do")
    for label, count in counts.items():
        if count:
            table.add_row(label.value, str(count), after(label, artifact.verdict))
    yield table


def _left_out(artifact: Artifact) -> Iterator[str]:
    yield from frozen(artifact)
    if artifact.excluded:
        yield f"excluded ({len(artifact.excluded)}):"
        for nodeid, reason in sorted(artifact.excluded.items()):
            yield f"  {spell_out(nodeid)}: {spell_out(reason)}"
    if artifact.subject.withheld:
        yield f"withheld as secret-like: {listed(artifact.subject.withheld)}"
        yield "  hint: a file that the tests need is named under `include`"
    if artifact.subject.mismatched_names:
        yield f"named otherwise in git than on disk: {listed(artifact.subject.mismatched_names)}"
        yield "  hint: a fresh clone has git's names; rename with `git mv`"
    if artifact.subject.colliding_names:
        yield f"one name where case does not count: {listed(artifact.subject.colliding_names)}"
        yield "  hint: a checkout on such a disk lacks one of them; rename with `git mv`"


def remarks(artifact: Artifact) -> Iterator[str]:
    """Say what is to be known beside labels and tests, in a line each."""
    neutralised = dict.fromkeys(what for cell in artifact.cells for what in cell.neutralised)
    if neutralised:
        yield f"switched off, since cells would not compare: {listed(neutralised)}"
    notes = _notes_of_green(artifact)
    told = {nodeid for ids in notes.values() for nodeid in ids}
    unstable = [nodeid for nodeid in dict.fromkeys(_unstable(artifact.cells)) if nodeid not in told]
    if unstable:
        yield f"ids that change from run to run, matched by their form: {listed(unstable)}"
    for note, nodeids in notes.items():
        yield f"note: {spell_out(note)}: {listed(nodeids)}"
    for cell in artifact.cells:
        if cell.status is CellStatus.FINISHED and cell.detail:
            yield f"note: cell {name(cell)} ({cell.purpose}): {in_one_line(cell.detail)}"
    for sweep in artifact.sweeps:
        yield from (f"{sweep.axis}: {spell_out(line)}" for line in beside(sweep))
    for note in artifact.notes:
        yield f"note: {spell_out(note)}"


def _unstable(cells: Iterable[Cell]) -> Iterator[str]:
    return (nodeid for cell in cells for nodeid in cell.unstable_ids)


def _notes_of_green(artifact: Artifact) -> dict[str, list[str]]:
    """Gather what is to be remarked of tests that are not listed, by the remark."""
    notes: dict[str, list[str]] = {}
    for finding in artifact.tests:
        if finding.label is Label.CONSISTENT_GREEN and finding.note:
            notes.setdefault(finding.note, []).append(finding.nodeid)
    return notes


def _seeds(artifact: Artifact) -> Iterator[str]:
    """Say with which seeds the gate's cells ran."""
    seeds = sorted({(cell.attempt, cell.seed) for cell in artifact.cells if cell.purpose is Purpose.GATE})
    if seeds:
        yield f"seeds: {', '.join(f'attempt {attempt} {seed}' for attempt, seed in seeds)}"
