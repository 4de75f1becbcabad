"""Chooses which test of a report is meant, and in which of its cells it is to run once more."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

import msgspec

from paritygate.axes import near_miss
from paritygate.classifier.grid import form, observe, stands_for_many
from paritygate.classifier.sides import DIVERGENT
from paritygate.errors import UsageError
from paritygate.outcomes.artifact import Artifact, Finding
from paritygate.outcomes.cells import Cell, TestId, TestRun
from paritygate.outcomes.words import CellStatus, Outcome, Purpose
from paritygate.repro.request import Wanted

NEAR = 3
SHOWN = 8


class Chosen(msgspec.Struct, frozen=True):
    """A test, a cell, and what the test did there; `run` is None where nothing of it was recorded."""

    test: TestId
    cell: Cell
    outcome: Outcome
    run: TestRun | None


def choose(artifact: Artifact, wanted: Wanted) -> Chosen:
    """Find test and cell; raises `UsageError` with what there is, where there is none such."""
    finding = _finding(artifact, wanted)
    test = TestId(finding.nodeid, finding.occurrence)
    seen = [one for cell in artifact.cells if (one := seen_in(cell, test)) is not None]
    if wanted.cell:
        seen = _named(artifact, seen, wanted)
    if not seen:
        raise UsageError(f"no cell of `{wanted.report}` says what `{test.nodeid}` did", "run the gate again")
    return min(seen, key=_rank)


def seen_in(cell: Cell, test: TestId) -> Chosen | None:
    """Say what a cell says of a test; None where it was not run for it, or came to no result."""
    if cell.about and test not in cell.about:
        return None
    rows = {row.test: row for row in observe([cell])}
    row = rows.get(test) or rows.get(TestId(form(test.nodeid), test.occurrence))
    if row is not None:
        outcome, run = row.outcomes[0], row.runs[0]
    else:
        outcome, run = _of_its_file(cell, test)
    return None if outcome is Outcome.NOT_RUN else Chosen(test, cell, outcome, run)


def _of_its_file(cell: Cell, test: TestId) -> tuple[Outcome, TestRun | None]:
    """Say what became of a test that a cell knows nothing of: what became of its file or class, or that it was not collected."""
    above = [run for run in cell.tests if test.nodeid.startswith((f"{run.nodeid}::", f"{run.nodeid}/"))]
    for run in above:
        if stands_for_many(run):
            return run.outcome, run
    known = cell.status in (CellStatus.FINISHED, CellStatus.NO_TESTS)
    return (Outcome.NOT_COLLECTED if known else Outcome.NOT_RUN), None


def _finding(artifact: Artifact, wanted: Wanted) -> Finding:
    nodeid = form(wanted.nodeid.removeprefix("./"))
    alike = [each for each in artifact.tests if each.nodeid == nodeid]
    alike = alike or [each for each in artifact.tests if each.nodeid == _escaped(nodeid)]
    if not alike:
        raise _unknown(artifact, wanted)
    if not wanted.number:
        return next((each for each in alike if each.label in DIVERGENT), alike[0])
    for each in alike:
        if each.occurrence == wanted.number - 1:
            return each
    raise UsageError(
        f"`{wanted.nodeid}` has no number {wanted.number} in `{wanted.report}`",
        f"there {'is one test' if len(alike) == 1 else f'are {len(alike)} tests'} of that id",
    )


def _escaped(nodeid: str) -> str:
    """Write a parameter as pytest does where its ini file does not say otherwise: in ASCII."""
    name, bracket, parameter = nodeid.partition("[")
    return name + bracket + parameter.encode("unicode_escape").decode("ascii")


def _unknown(artifact: Artifact, wanted: Wanted) -> UsageError:
    for nodeid, reason in artifact.excluded.items():
        if nodeid == wanted.nodeid:
            hint = "it was run in no cell; take its mark away, and run the gate again"
            return UsageError(f"`{nodeid}` is excluded: {reason}", hint)
    near = near_ids(wanted.nodeid, artifact.tests)
    hint = f"did you mean {' or '.join(f'`{each}`' for each in near)}?" if near else "node ids are as the report has them"
    return UsageError(f"`{wanted.report}` knows no test `{wanted.nodeid}`", hint)


def near_ids(word: str, tests: Sequence[Finding]) -> tuple[str, ...]:
    """Guess which tests were meant: those below, those of that name elsewhere, then similar spellings; divergent ones first."""
    ids = list(dict.fromkeys(each.nodeid for each in sorted(tests, key=lambda each: each.label not in DIVERGENT)))
    below = [each for each in ids if each.startswith((f"{word}::", f"{word}[", f"{word}/"))]
    if below:
        return tuple(below)[:NEAR]
    plain = word.partition("[")[0].rpartition("::")[2]
    same = [each for each in ids if plain and each.partition("[")[0].rpartition("::")[2] == plain]
    close = difflib.get_close_matches(word, ids, NEAR, 0.7)
    return tuple(dict.fromkeys([*same, *close]))[:NEAR]


def _named(artifact: Artifact, seen: Sequence[Chosen], wanted: Wanted) -> list[Chosen]:
    names = list(dict.fromkeys(f"{cell.env}-{cell.attempt}" for cell in artifact.cells))
    if wanted.cell not in names:
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        shown = ", ".join(f"`{each}`" for each in names[:SHOWN])
        message = f"`{wanted.report}` has no cell `{wanted.cell}`{near_miss(wanted.cell, frozenset(names))}"
        raise UsageError(message, f"there are {shown}{more}")
    found = [each for each in seen if f"{each.cell.env}-{each.cell.attempt}" == wanted.cell]
    if not found:
        where = list(dict.fromkeys(f"`{each.cell.env}-{each.cell.attempt}`" for each in seen))
        raise UsageError(f"the cell `{wanted.cell}` says nothing of `{wanted.nodeid}`", f"these do: {', '.join(where[:SHOWN])}")
    return found[-1:]  # of a cell that died and was repeated, the last


def _rank(chosen: Chosen) -> tuple[bool, int]:
    """Put cells of the gate first, and among them those that show most: a failure, then anything but a plain pass."""
    if chosen.outcome is Outcome.NOT_COLLECTED:
        shows = 1
    elif chosen.outcome.green:
        shows = 2 if chosen.outcome is not Outcome.PASSED else 3
    else:
        shows = 0
    return chosen.cell.purpose is not Purpose.GATE, shows
