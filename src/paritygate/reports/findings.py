"""Every test that is not consistent green, worst label first: the first ones one by one, the rest counted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec
from rich.text import Text

from paritygate.classifier.evidence import NOT_ORDER
from paritygate.classifier.sides import DIVERGENT
from paritygate.outcomes.artifact import Artifact, Finding
from paritygate.outcomes.cells import Cell, EnvironmentName, TestId, TestRun
from paritygate.outcomes.words import Axis, CauseKind, Label, Purpose
from paritygate.reports.advice import AFTER_LABEL
from paritygate.reports.causes import in_a_line, short
from paritygate.reports.contrast import side_by_side
from paritygate.reports.deaths import culprits, name
from paritygate.reports.files import tells_spellings
from paritygate.reports.groups import INDENT, Told, grouped, lines_of
from paritygate.reports.ranking import WORST_FIRST
from paritygate.reports.text import MOST_NAMES, some_of, spell_out

MOST_TESTS = 50
MOST_LOOKED_AT = 2000
"""Tests that are put into groups; what is beyond them is counted by file."""
MOST_FILES = 20
MOST_FAILURES = 2
NUMBER = re.compile(r"\d+")
MOST_ENVIRONMENTS = 4
MOST_HAZARDS = 3
NO_CAUSE = "no cause is known"

CUT_BY_PYTEST = "..."
"""What stands in a message for what pytest has left out of it."""

Runs = list[tuple[Cell, TestRun]]


class Page(msgspec.Struct, frozen=True):
    """How wide lines may be, and under which path the artifact lies, empty where it lies nowhere.

    With `fold` no line is wider, but for what is to be copied: on a terminal, which would break them within words.
    """

    width: int
    report: str = ""
    fold: bool = False


def findings(artifact: Artifact, page: Page) -> Iterator[str | Text]:
    """Say what is known of each test that asks for something."""
    place = {label: number for number, label in enumerate(WORST_FIRST)}
    chosen = sorted(
        (each for each in artifact.tests if each.label in place),
        key=lambda each: (place[each.label], each.nodeid, each.occurrence),
    )
    looked_at = chosen[:MOST_LOOKED_AT]
    runs = _runs(artifact.cells, {TestId(finding.nodeid, finding.occurrence) for finding in looked_at})
    told = (_told(finding, runs.get(TestId(finding.nodeid, finding.occurrence), []), page.width) for finding in looked_at)
    groups = list(grouped(told, MOST_TESTS))
    for label, some in groupby(groups, key=lambda each: each.findings[0].label):
        yield from _heading(label, artifact)
        for group in some:
            yield from lines_of(group, page.width, page.report)
    named = {id(finding) for group in groups for finding in group.findings} - {
        id(each) for group in groups for each in group.left
    }
    yield from _rest([each for each in chosen if id(each) not in named])


def _heading(label: Label, artifact: Artifact) -> Iterator[str | Text]:
    yield Text(f"{label}: {AFTER_LABEL[label]}", style="bold")
    yield from _by_cause([finding for finding in artifact.tests if finding.label is label])
    if label is Label.UNDECIDED:
        causes = culprits(artifact.cells)
        yield from (f"  since {cause}" for cause in causes[:MOST_NAMES])
        if len(causes) > MOST_NAMES:
            yield f"  and {len(causes) - MOST_NAMES} more cells in the report"


def _by_cause(some: Sequence[Finding]) -> Iterator[str]:
    """Count tests by their cause, if any has one."""
    counted = Counter(short(finding.cause) if finding.cause is not None else NO_CAUSE for finding in some)
    if set(counted) - {NO_CAUSE}:
        for cause, count in sorted(counted.items(), key=lambda item: (item[0] == NO_CAUSE, -item[1], item[0])):
            yield f"  {count} test{'s' * (count != 1)}: {spell_out(cause)}"


def _rest(left: Sequence[Finding]) -> Iterator[str]:
    """Count by file and label the tests that are not shown."""
    if not left:
        return
    yield f"and {len(left)} more in the report:"
    counted = Counter((finding.nodeid.partition("::")[0], finding.label) for finding in left).most_common()
    for (file, label), count in counted[:MOST_FILES]:
        yield f"  {spell_out(file)}: {count} {label}"
    if len(counted) > MOST_FILES:
        yield f"  elsewhere: {sum(count for _, count in counted[MOST_FILES:])}"


def _runs(cells: Sequence[Cell], wanted: set[TestId]) -> dict[TestId, Runs]:
    """Find what the gate cells say of some tests."""
    runs: dict[TestId, Runs] = {}
    for cell in cells:
        if cell.purpose is Purpose.GATE and wanted:
            for run in cell.tests:
                if run.test in wanted:
                    runs.setdefault(run.test, []).append((cell, run))
    return runs


def _told(finding: Finding, runs: Runs, width: int) -> Told:
    """Tell of a test all but its name, what files it touches, and how to run it once more."""
    if finding.sides:
        failures = list(side_by_side(finding.sides, width - len(INDENT)))
    else:
        failures = _failures(runs, len(finding.outcomes)) or _reasons(runs)
    if finding.cause is None or not tells_spellings(finding.cause):
        failures += _spellings(runs)
    above = []
    if finding.cause is not None:
        above.append(f"cause: {spell_out(in_a_line(finding.cause))}")
    elif finding.label in DIVERGENT and not finding.note:
        above.append("cause: not looked for (`paritygate explain REPORT` does)")
    messages = [side.message for side in finding.sides] or [run.failure.message for _, run in runs if run.failure is not None]
    whole = dict.fromkeys(message for message in messages if CUT_BY_PYTEST in message.strip().partition("\n")[0])
    return Told(finding=finding, failures=tuple(failures), whole=tuple(whole), above=tuple(above), below=tuple(_remarks(finding)))


def _remarks(finding: Finding) -> Iterator[str]:
    if finding.confirmed:
        yield f"confirmed by {finding.confirmed} further attempt{'s' * (finding.confirmed != 1)}"
    yield from (f"hazard: {spell_out(f'{each.file}:{each.line} {each.what}')}" for each in finding.hazards[:MOST_HAZARDS])
    if note := _note(finding):
        yield f"note: {spell_out(note)}"


def _note(finding: Finding) -> str:
    """Say what is to be remarked of a test; that order makes no difference is nothing new where no worker does."""
    if finding.cause is None or finding.cause.kind is not CauseKind.AXIS or Axis.WORKERS in finding.cause.axes:
        return finding.note
    return "; ".join(part for part in finding.note.split("; ") if not part.startswith(NOT_ORDER))


def _failures(runs: Runs, environments: int) -> list[str]:
    """Say in a line each how a test fails first in every environment, of sweeps in the first few, then what differs."""
    failures = [(cell, run) for cell, run in runs if run.failure is not None]
    first: dict[EnvironmentName, tuple[Cell, TestRun]] = {}
    for cell, run in failures:
        first.setdefault(cell.env, (cell, run))
    lines: dict[str, list[str]] = {}
    for cell, run in first.values():
        lines.setdefault(_failure(run), []).append(name(cell))
    seen = {_fingerprint(run) for _, run in first.values()}
    others: dict[str, tuple[Cell, TestRun]] = {}
    for cell, run in failures:
        if _fingerprint(run) not in seen:
            others.setdefault(_fingerprint(run), (cell, run))
    room = max(MOST_FAILURES - len(lines), 0)
    said = [f"{_where(names, environments)}: {line}" for line, names in tuple(lines.items())[:MOST_ENVIRONMENTS]]
    if (rest := len(lines) - MOST_ENVIRONMENTS) > 0:
        said.append(f"and {rest} more that differ{'s' * (rest == 1)}, in other environments")
    said += [f"{name(cell)}: {_failure(run)}" for cell, run in tuple(others.values())[:room]]
    more = len(others) - room
    return said + [f"and {more} more that differ{'s' * (more == 1)}"] * (more > 0)


def _where(names: Sequence[str], environments: int) -> str:
    """Name the first cells of environments where these are few, so that what is said there is not lost behind them."""
    if len(names) <= MOST_ENVIRONMENTS:
        return ", ".join(names)
    return f"all {environments} environments" if len(names) == environments else some_of(names)


def _fingerprint(run: TestRun) -> str:
    return run.failure.fingerprint if run.failure is not None else ""


def _failure(run: TestRun) -> str:
    """Say a failure in one line: where, and what first."""
    failure = run.failure
    if failure is None:
        return ""
    place = f"{failure.file}:{failure.line} " if failure.file else ""
    first = failure.message.strip().partition("\n")[0]
    what = first if first.startswith(failure.exception) else f"{failure.exception}: {first}".removesuffix(": ")
    return spell_out(f"{place}{what}")


def _reasons(runs: Runs) -> list[str]:
    """Say why a test did not run, where nothing failed."""
    reasons = {run.reason: f"{name(cell)}: {run.outcome}: {run.reason}" for cell, run in reversed(runs) if run.reason}
    return [spell_out(line) for line in reasons.values()][:MOST_FAILURES]


def _spellings(runs: Runs) -> list[str]:
    """Say which names a test was given by other names than theirs, where case does not count, up to a number."""
    names: dict[str, tuple[str, dict[EnvironmentName, None]]] = {}
    for cell, run in runs:
        for each in run.spellings:
            said = f"`{each.asked}` is `{each.kept}`"
            # Outside the tree are temporary folders, whose names have a number that is another one each time.
            alike = NUMBER.sub("#", said) if each.asked.startswith("/") else said
            names.setdefault(alike, (said, {}))[1][cell.env] = None
    lines = [spell_out(f"{', '.join(environments)}: {said}") for said, environments in names.values()]
    more = len(lines) - MOST_FAILURES
    return [*lines[:MOST_FAILURES], *([f"and {more} more such name{'s' * (more > 1)}"] if more > 0 else [])]
