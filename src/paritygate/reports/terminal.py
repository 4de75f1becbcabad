"""The artifact as text for people, on a terminal or in a log.

Colour only repeats what the words say. Whatever tests have printed is shown with its control characters spelled out.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from paritygate.outcomes.artifact import Artifact, Cause, Finding
from paritygate.outcomes.cells import Cell, TestId, TestRun
from paritygate.outcomes.words import CellStatus, Label, Purpose, VerdictName
from paritygate.reports.advice import AFTER_LABEL, AFTER_STATUS

MOST_TESTS = 50
MOST_NAMES = 10
MOST_FAILURES = 2
TAIL_LINES = 8

WORST_FIRST = (
    Label.UNDECIDED,
    Label.NONDETERMINISM_EVERYWHERE,
    Label.NONDETERMINISM,
    Label.COUPLING,
    Label.CONSISTENT_RED,
)
_COLOURS = {
    VerdictName.PARITY: "bold green",
    VerdictName.CONSISTENT_RED: "bold red",
    VerdictName.NONDETERMINISM: "bold magenta",
    VerdictName.COUPLING: "bold yellow",
    VerdictName.NO_VERDICT: "bold red",
    VerdictName.REFUSED: "bold red",
}

Runs = dict[TestId, list[tuple[str, TestRun]]]


def render(artifact: Artifact, width: int = 100, *, colour: bool = False) -> str:
    """Say everything that a reader needs to decide: the verdict first, then what varied, the labels, the tests, the rest."""
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
    _print(console, _headline(artifact))
    for part in (
        _axes(artifact),
        [_labels(artifact)],
        _tests(artifact, width),
        _dead_cells(artifact, width),
        _left_out(artifact),
        _remarks(artifact),
        _seeds(artifact),
    ):
        if lines := list(part):
            console.print()
            _print(console, lines)
    return "".join(f"{line.rstrip()}\n" for line in output.getvalue().splitlines())


def _print(console: Console, lines: Iterable[str | Text | Table]) -> None:
    for line in lines:
        console.print(line, soft_wrap=not isinstance(line, Table))


def spell_out(text: str) -> str:
    """Make control characters visible, so that what a test prints cannot act on the terminal."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii") for character in text
    )


def _in_one_line(text: str) -> str:
    """Put what was said in several lines, such as the end of an output, into one."""
    return spell_out(" | ".join(line.strip() for line in text.splitlines()))


def _cut(text: str, width: int) -> str:
    """Cut a line to a width, but never to nothing."""
    width = max(width, 40)
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _headline(artifact: Artifact) -> Iterator[str | Text]:
    verdict = artifact.verdict
    code = f"exit {verdict.exit_code}"
    line = _in_one_line(verdict.line or verdict.name)
    yield Text(line if code in line else f"{line} ({code})", style=_COLOURS[verdict.name])
    for reason in verdict.reasons:
        if reason not in verdict.line:
            yield f"  {_in_one_line(reason)}"


def _axes(artifact: Artifact) -> Iterator[str]:
    longest = max((len(each.axis) for each in artifact.axes), default=0)
    for each in sorted(artifact.axes, key=lambda each: not each.varied):
        values = " | ".join(f"{record.name} {record.axes.get(each.axis, '')}".rstrip() for record in artifact.environments)
        if each.varied:
            yield f"varied      {each.axis:<{longest}}  {spell_out(values)}"
        else:
            yield f"not varied  {each.axis:<{longest}}  {spell_out(each.why)}"


def _labels(artifact: Artifact) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("label", no_wrap=True)
    table.add_column("tests", justify="right", no_wrap=True)
    table.add_column("what to do")
    for label in Label:
        count = artifact.labels.get(label, 0)
        if count or label is Label.CONSISTENT_GREEN:
            table.add_row(label.value, str(count), AFTER_LABEL[label])
    return table


def _tests(artifact: Artifact, width: int) -> Iterator[str | Text]:
    """Say every test that is not consistent green, worst label first."""
    by_label = {label: sorted(_with(artifact, label), key=lambda each: (each.nodeid, each.occurrence)) for label in WORST_FIRST}
    chosen = [finding for findings in by_label.values() for finding in findings]
    shown = chosen[:MOST_TESTS]
    runs = _runs(artifact.cells, {TestId(finding.nodeid, finding.occurrence) for finding in shown})
    heading = None
    for finding in shown:
        if finding.label is not heading:
            heading = finding.label
            yield Text(f"{heading}: {AFTER_LABEL[heading]}", style="bold")
        yield from _test(finding, runs.get(TestId(finding.nodeid, finding.occurrence), []), width)
    if len(chosen) > len(shown):
        yield f"and {len(chosen) - len(shown)} more in the report"


def _with(artifact: Artifact, label: Label) -> Iterator[Finding]:
    return (finding for finding in artifact.tests if finding.label is label)


def _runs(cells: Sequence[Cell], wanted: set[TestId]) -> Runs:
    """Find what the gate cells say of some tests."""
    runs: Runs = {}
    for cell in cells:
        if cell.purpose is Purpose.GATE and wanted:
            for run in cell.tests:
                if run.test in wanted:
                    runs.setdefault(run.test, []).append((f"{cell.env}-{cell.attempt}", run))
    return runs


def _test(finding: Finding, runs: Sequence[tuple[str, TestRun]], width: int) -> Iterator[str]:
    which = f" (number {finding.occurrence + 1} of this id)" if finding.occurrence else ""
    outcomes = " | ".join(f"{name} {' '.join(attempts)}" for name, attempts in finding.outcomes.items())
    yield f"  {spell_out(finding.nodeid)}{which}   {outcomes}"
    for line in _failures(runs):
        yield f"    {_cut(line, width - 4)}"
    if finding.cause is not None:
        yield f"    cause: {spell_out(_cause(finding.cause))}"
    if finding.confirmed:
        yield f"    confirmed by {finding.confirmed} further attempt{'s' * (finding.confirmed != 1)}"
    if finding.note:
        yield f"    note: {spell_out(finding.note)}"


def _failures(runs: Sequence[tuple[str, TestRun]]) -> list[str]:
    """Say each different failure in one line; where there is none, why the test did not run."""
    lines: dict[str, str] = {}
    for cell, run in runs:
        if run.failure is not None:
            failure = run.failure
            place = f"{failure.file}:{failure.line} " if failure.file else ""
            first = failure.message.strip().partition("\n")[0]
            what = first if first.startswith(failure.exception) else f"{failure.exception}: {first}".removesuffix(": ")
            lines.setdefault(failure.fingerprint, spell_out(f"{cell}: {place}{what}"))
    if not lines:
        reasons = {run.reason: f"{cell}: {run.outcome}: {run.reason}" for cell, run in reversed(runs) if run.reason}
        return [spell_out(line) for line in reasons.values()][:MOST_FAILURES]
    shown = list(lines.values())[:MOST_FAILURES]
    more = len(lines) - len(shown)
    return shown + [f"and {more} more that differ{'s' * (more == 1)}"] * (more > 0)


def _cause(cause: Cause) -> str:
    """Say a cause in one line."""
    parts = [f"{cause.kind}{''.join(f' {axis}' for axis in cause.axes)}"]
    if cause.polluters:
        parts.append(f"after {', '.join(cause.polluters)}")
    if cause.files:
        parts.append(f"reads {', '.join(cause.files)}")
    return "; ".join([*parts, cause.detail] if cause.detail else parts)


def _dead_cells(artifact: Artifact, width: int) -> Iterator[str | Text]:
    for cell in artifact.cells:
        if cell.status is CellStatus.FINISHED:
            continue
        detail = f": {_in_one_line(cell.detail)}" if cell.detail else ""
        yield Text(f"cell {cell.env}-{cell.attempt} ({cell.purpose}) {cell.status}{detail}", style="bold")
        if cell.running:
            yield f"  running then: {_names(test.nodeid for test in cell.running)}"
        for line in cell.stderr_tail.splitlines()[-TAIL_LINES:]:
            yield f"  | {_cut(spell_out(line), width - 4)}"
        yield f"  hint: {AFTER_STATUS[cell.status]}"


def _names(names: Iterable[str]) -> str:
    """List names, not too many of them."""
    listed = [spell_out(name) for name in names]
    more = f" and {len(listed) - MOST_NAMES} more in the report" if len(listed) > MOST_NAMES else ""
    return f"{', '.join(listed[:MOST_NAMES])}{more}"


def _left_out(artifact: Artifact) -> Iterator[str]:
    if artifact.excluded:
        yield "excluded:"
        for nodeid, reason in sorted(artifact.excluded.items()):
            yield f"  {spell_out(nodeid)}: {spell_out(reason)}"
    if artifact.subject.withheld:
        yield f"withheld as secret-like: {_names(artifact.subject.withheld)}"
        yield "  hint: a file that the tests need is named under `include`"
    if artifact.subject.mismatched_names:
        yield f"named otherwise in git than on disk: {_names(artifact.subject.mismatched_names)}"
        yield "  hint: a fresh clone has git's names; rename with `git mv`"


def _remarks(artifact: Artifact) -> Iterator[str]:
    neutralised = dict.fromkeys(what for cell in artifact.cells for what in cell.neutralised)
    if neutralised:
        yield f"switched off, since cells would not compare: {_names(neutralised)}"
    unstable = dict.fromkeys(nodeid for cell in artifact.cells for nodeid in cell.unstable_ids)
    if unstable:
        yield f"ids that change from run to run, matched by their form: {_names(unstable)}"
    for cell in artifact.cells:
        if cell.status is CellStatus.FINISHED and cell.detail:
            yield f"note: cell {cell.env}-{cell.attempt} ({cell.purpose}): {_in_one_line(cell.detail)}"
    for note in artifact.notes:
        yield f"note: {spell_out(note)}"


def _seeds(artifact: Artifact) -> Iterator[str]:
    """Say with which seeds the gate's cells ran."""
    seeds = sorted({(cell.attempt, cell.seed) for cell in artifact.cells if cell.purpose is Purpose.GATE})
    if seeds:
        yield f"seeds: {', '.join(f'attempt {attempt} {seed}' for attempt, seed in seeds)}"
