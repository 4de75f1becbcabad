"""What is told of a test that is not consistent green: what it did on each side, why, and how to run it once more.

A page has so many of these and not more; how many there are in all stands above them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from paritygate.outcomes.artifact import Artifact, Finding, Side
from paritygate.outcomes.cells import Cell, NodeId, TestId, TestRun
from paritygate.outcomes.words import Label, Purpose
from paritygate.reports.advice import after
from paritygate.reports.causes import in_a_line, kind
from paritygate.reports.contrast import of_each_kind
from paritygate.reports.files import files
from paritygate.reports.html.letters import Columns, letters
from paritygate.reports.html.marking import Marked, marked
from paritygate.reports.ranking import is_let_through, ranked, reproduction
from paritygate.reports.sides import Sides, sides_of
from paritygate.reports.text import in_a_block

MOST_CARDS = 200
MOST_TEXT = 6000
"""How many characters of a traceback or an output a page shows."""

Runs = list[tuple[Cell, TestRun]]


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a test: which cells, what it did there, and what it said, with the values that differ marked.

    `also` names the other environments in which it ended at the same place in the same way; what it said is of the first.
    """

    env: str
    attempts: str
    also: tuple[str, ...] = ()
    outcome: str
    red: bool
    place: str = ""
    source: str = ""
    exception: str = ""
    message: Marked = ()
    reason: str = ""
    trace: str = ""
    output: str = ""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What a test did in the cells that were run beside those of the gate, counted."""

    purpose: str
    env: str
    outcomes: str


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """A test, as it is told."""

    number: int
    nodeid: NodeId
    occurrence: int
    which: str
    label: Label
    letters: str
    todo: str
    cause: str
    kind: str
    sides: tuple[Shown, ...]
    files: tuple[str, ...]
    seen: tuple[Seen, ...]
    hazards: tuple[str, ...]
    notes: tuple[str, ...]
    command: str


def cards(artifact: Artifact, wanted: Columns, report: str) -> tuple[Card, ...]:
    """Tell of the tests that ask for something, worst first, up to a number."""
    chosen = ranked(artifact)[:MOST_CARDS]
    tests = {TestId(each.nodeid, each.occurrence) for each in chosen}
    runs = _runs(artifact.cells, tests)
    sides = sides_of(artifact, chosen)
    return tuple(
        _card(artifact, finding, runs.get(TestId(finding.nodeid, finding.occurrence), []), _Around(number, wanted, report, sides))
        for number, finding in enumerate(chosen, start=1)
    )


class _Around(msgspec.Struct, frozen=True):
    number: int
    wanted: Columns
    report: str
    sides: Sides


def _card(artifact: Artifact, finding: Finding, runs: Runs, around: _Around) -> Card:
    cause, test = finding.cause, TestId(finding.nodeid, finding.occurrence)
    gate = [(cell, run) for cell, run in runs if cell.purpose is Purpose.GATE]
    return Card(
        number=around.number,
        nodeid=finding.nodeid,
        occurrence=finding.occurrence,
        which=f"number {finding.occurrence + 1} of this id" if finding.occurrence else "",
        label=finding.label,
        letters=letters(finding, around.wanted),
        todo="frozen, and let through" if is_let_through(artifact, finding) else after(finding.label, artifact.verdict),
        cause=in_a_line(cause) if cause is not None else "",
        kind=kind(cause),
        sides=_sides(around.sides[test], gate),
        files=tuple(files(cause)) if cause is not None else (),
        seen=tuple(_seen(runs)),
        hazards=tuple(f"{each.file}:{each.line} {each.what}; instead: {each.instead}" for each in finding.hazards),
        notes=tuple(_notes(finding)),
        command=reproduction(finding, around.report),
    )


def _notes(finding: Finding) -> Iterable[str]:
    if finding.confirmed:
        yield f"confirmed by {finding.confirmed} further attempt{'s' * (finding.confirmed != 1)}"
    yield from (part for part in finding.note.split("; ") if part)


def _runs(cells: Iterable[Cell], wanted: set[TestId]) -> dict[TestId, Runs]:
    found: dict[TestId, Runs] = {}
    for cell in cells if wanted else ():
        for run in cell.tests:
            if run.test in wanted:
                found.setdefault(run.test, []).append((cell, run))
    return found


def _sides(sides: Sequence[Side], runs: Runs) -> tuple[Shown, ...]:
    """Lay side by side what a test did, each with what its first cell has recorded of it."""
    first = {(cell.env, cell.attempt): run for cell, run in reversed(runs)}
    kinds = of_each_kind(sides)
    said = marked([in_a_block(some[0].message, MOST_TEXT) for some in kinds])
    return tuple(
        _shown(some, first.get((some[0].env, some[0].attempts[0])) if some[0].attempts else None, message)
        for some, message in zip(kinds, said, strict=True)
    )


def _shown(some: Sequence[Side], run: TestRun | None, message: Marked) -> Shown:
    side = some[0]
    failure = run.failure if run is not None and run.outcome is side.outcome else None
    return Shown(
        env=side.env,
        attempts=f"attempt{'s' * (len(side.attempts) > 1)} {', '.join(map(str, side.attempts))}",
        also=tuple(dict.fromkeys(each.env for each in some if each.env != side.env)),
        outcome=side.outcome,
        red=not side.outcome.green,
        place=f"{side.file}:{side.line}" if side.file and side.line else side.file,
        source=side.source,
        exception="" if side.message.strip().startswith(side.exception) else side.exception,
        message=message,
        reason=side.reason,
        trace=in_a_block(failure.text, MOST_TEXT) if failure is not None else "",
        output=in_a_block(run.output, MOST_TEXT) if run is not None else "",
    )


def _seen(runs: Runs) -> Iterable[Seen]:
    counted: dict[tuple[Purpose, str], Counter[str]] = {}
    for cell, run in runs:
        if cell.purpose is not Purpose.GATE:
            counted.setdefault((cell.purpose, cell.env), Counter())[run.outcome] += 1
    for (purpose, env), outcomes in counted.items():
        yield Seen(purpose=purpose, env=env, outcomes=_counted(outcomes))


def _counted(outcomes: Counter[str]) -> str:
    total = sum(outcomes.values())
    return ", ".join(f"{outcome} {count} of {total}" for outcome, count in outcomes.most_common())


def beyond(artifact: Artifact) -> Sequence[Finding]:
    """List the tests that ask for something and are not told of one by one."""
    return ranked(artifact)[MOST_CARDS:]
