"""Says whether a test did once more what it did, and shows how it fails."""

from __future__ import annotations

from collections.abc import Iterator

from paritygate.classifier.surroundings import days_ahead
from paritygate.outcomes.artifact import Cause
from paritygate.outcomes.cells import Cell, TestRun
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import CauseKind, ExitCode, Outcome
from paritygate.reports.text import in_one_line, spell_out
from paritygate.repro.choosing import Chosen, seen_in
from paritygate.repro.planning import Planned
from paritygate.repro.request import Answer

COMPARED = frozenset({Outcome.FAILED, Outcome.ERROR})
"""Outcomes whose failures are compared: where a process ended or hung says little of why."""


def judge(chosen: Chosen, planned: Planned, cell: Cell, cause: Cause | None = None) -> Answer:
    """Compare what a test did in a cell with what it did there before; `cause` is what the report says makes it diverge."""
    now = seen_in(cell, chosen.test)
    lines = list(_setting(chosen, planned))
    if now is None:
        said = f"no result: the cell is {cell.status}{f': {in_one_line(cell.detail)}' if cell.detail else ''}"
        lines += [said]
        lines += [f"  | {spell_out(line)}" for line in cell.stderr_tail.splitlines()[-8:]]
        return Answer("\n".join(lines), said, ExitCode.NO_VERDICT)
    same, said = _compared(chosen, now)
    said += "" if same else _odds(cause)
    lines += _shown(now.run)
    lines += _dates(chosen.cell, cell, planned.plan)
    lines.append(said)
    return Answer("\n".join(lines), said, ExitCode.PARITY if same else ExitCode.CONSISTENT_RED)


def _setting(chosen: Chosen, planned: Planned) -> Iterator[str]:
    cell, count = chosen.cell, planned.before
    which = f" (number {chosen.test.occurrence + 1} of this id)" if chosen.test.occurrence else ""
    yield f"{spell_out(chosen.test.nodeid)}{which} in {cell.env}-{cell.attempt} ({cell.purpose}), {planned.how}"
    workers = f", {planned.plan.environment.workers} workers" if planned.plan.environment.workers else ""
    yield f"  {count} other test{'s' * (count != 1)}, seed {cell.seed}{workers}"


def _compared(before: Chosen, now: Chosen) -> tuple[bool, str]:
    if now.outcome is not before.outcome:
        return False, f"not reproduced: {now.outcome}; in the report it is {before.outcome}"
    if now.outcome in COMPARED and _fingerprint(before.run) != _fingerprint(now.run):
        return False, f"not reproduced: {now.outcome} in another way; in the report it is {_first(before.run)}"
    return True, f"reproduced: {now.outcome}, as in the report"


def _odds(cause: Cause | None) -> str:
    """Say how little one try proves where the cause shows only in a part of the runs."""
    if cause is None or cause.rate is None:
        return ""
    shown, of = cause.rate
    name = "a race" if cause.kind is CauseKind.RACE else cause.kind.value
    return f"; its cause is {name} that showed {shown} of {of} times: one try proves little, try again"


def _fingerprint(run: TestRun | None) -> str:
    return run.failure.fingerprint if run is not None and run.failure is not None else ""


def _first(run: TestRun | None) -> str:
    """Say a failure in a line."""
    if run is None or run.failure is None:
        return "a failure of which nothing is recorded"
    failure = run.failure
    place = f"{failure.file}:{failure.line} " if failure.file else ""
    return spell_out(f"{place}{failure.exception}: {failure.message.partition(chr(10))[0]}")


def _shown(run: TestRun | None) -> Iterator[str]:
    """Show a failure as pytest does, with what the test printed; or why it was skipped."""
    if run is None:
        return
    if run.failure is not None:
        yield f"  {_first(run)}"
        yield from (f"  | {spell_out(line)}" for line in run.failure.text.splitlines())
        yield from (f"  | {spell_out(line)}" for line in run.output.splitlines())
    elif run.reason:
        yield f"  {spell_out(run.reason)}"


def _dates(before: Cell, now: Cell, plan: CellPlan) -> Iterator[str]:
    """Say it where the date in the cell's zone stands to UTC's otherwise than it did: no date bug can show then."""
    there, here = ({days_ahead(moment) for moment in cell.dates} for cell in (before, now))
    if there and here and there != here:
        zone = plan.environment.timezone
        said = f"in `{zone}` the date is {_ahead(here)} now, and was {_ahead(there)} then"
        yield f"  note: {said}: what depends on that may not show"


def _ahead(days: set[int]) -> str:
    words = {1: "a day ahead of UTC's", 0: "UTC's", -1: "a day behind UTC's"}
    return " or ".join(words.get(each, f"{each} days from UTC's") for each in sorted(days))
