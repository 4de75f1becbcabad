"""Everything heard of one cell, folded into a `Cell`. Pure: it reads no stream and no clock.

A test has a result when it was decided. In a cell that ended early, a test that had begun is listed in `running` and has
none, one that never began is `not_run`: neither is red. A collection error is a result, `error`, of the file's node id, and
so is a file that skips itself, `skipped`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import TypeVar

import msgspec

from paritygate.events.ending import Ending, Facts, Status, status
from paritygate.events.wire import (
    Collected,
    CollectError,
    CollectMissing,
    CollectSkip,
    End,
    Event,
    Finish,
    Mismatch,
    Neutralised,
    Partition,
    SpellingSeen,
    Start,
    TestEnd,
    TestStart,
    Touched,
    Workers,
)
from paritygate.outcomes.cells import Cell, Dates, FilesystemFacts, Pins, Probe, Spelling, TestId, TestRun, Touch
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import CellStatus, Outcome

Kind = TypeVar("Kind", bound=Event)
MOST_SPELLINGS = 20


class Heard(msgspec.Struct, frozen=True):
    """All that came over the streams: events in order, what is wrong with them, the end of stderr."""

    events: tuple[Event, ...]
    faults: tuple[str, ...]
    stderr: str


def fold(plan: CellPlan, heard: Heard, ending: Ending) -> Cell:
    """Make the cell."""
    collected = first(heard.events, Collected)
    end = first(heard.events, End)
    decided = results(heard.events)
    listed = known_tests(heard.events)
    begun = [event.test for event in heard.events if isinstance(event, TestStart)]
    facts = facts_of(heard, listed, decided)
    ended = told_of_clock(plan, status(facts, ending))
    running = tuple(dict.fromkeys(test for test in (*begun, *perhaps_begun(heard.events, decided)) if test not in decided))
    known = set(running)
    left = [not_run(test) for test in listed if test not in decided and test not in known]
    tests = (*decided.values(), *left)
    green = bool(tests) and all(run.outcome.green for run in tests)
    return Cell(
        env=plan.environment.name,
        attempt=plan.attempt,
        seed=plan.seed,
        runner=ending.runner,
        purpose=plan.purpose,
        status=ended.word,
        returncode=end.returncode if end else None,
        passed=ended.word is CellStatus.FINISHED and green,
        detail=ended.detail,
        started=ending.started,
        seconds=ending.seconds or (end.seconds if end else 0.0),
        overhead=overhead(heard.events),
        workers=workers(heard.events, plan),
        collected=len(listed),
        deselected=collected.deselected if collected else 0,
        probe=probe(heard.events),
        filesystem=filesystem(heard.events),
        dates=dates(heard.events),
        neutralised=tuple(dict.fromkeys(what for event in heard.events if isinstance(event, Neutralised) for what in event.what)),
        unstable_ids=collected.unstable_ids if collected else (),
        excluded=collected.excluded if collected else {},
        missing=facts.missing,
        uneven=uneven(heard.events),
        order=order(heard.events),
        tests=tests,
        running=running,
        rewritten=end.rewritten if end else (),
        removed=end.removed if end else (),
        pins=collected.pins if collected else Pins(),
        stderr_tail=heard.stderr,
    )


def told_of_clock(plan: CellPlan, ended: Status) -> Status:
    """Say of a cell that broke under a moved clock that it was moved: that may be why."""
    if not plan.environment.clock or ended.word not in {CellStatus.CRASHED, CellStatus.TIMED_OUT}:
        return ended
    return Status(ended.word, f"it broke under the moved clock ({plan.environment.clock}): {ended.detail}")


def facts_of(heard: Heard, listed: Sequence[TestId], decided: dict[TestId, TestRun]) -> Facts:
    """Gather what the status depends on."""
    crashes = [run.failure for run in decided.values() if run.outcome is Outcome.CRASHED and run.failure]
    # Of a worker's death only the fact is known: it is not the launcher's child, so its exception is empty.
    ended_tests = [event.nodeid for event in heard.events if isinstance(event, TestEnd)]
    finish = first(heard.events, Finish)
    killed = any(failure.exception in ("", "SIGKILL") for failure in crashes)
    return Facts(
        mismatch=first(heard.events, Mismatch),
        end=first(heard.events, End),
        started=first(heard.events, Start) is not None,
        was_collected=first(heard.events, Collected) is not None,
        known=len(listed),
        decided=sum(test in decided for test in listed),
        files=sum(isinstance(event, CollectError | CollectSkip) for event in heard.events),
        killed_tests=killed,
        missing=tuple(dict.fromkeys(event.nodeid for event in heard.events if isinstance(event, CollectMissing))),
        last=ended_tests[-1] if ended_tests else "",
        why=finish.why if finish else "",
        faults=heard.faults,
        stderr=heard.stderr,
    )


def first(events: Iterable[Event], kind: type[Kind]) -> Kind | None:
    """Find the first event of a kind."""
    return next((event for event in events if isinstance(event, kind)), None)


def known_tests(events: Sequence[Event]) -> list[TestId]:
    """List what was to be run; `collected` is one worker's, so what only others have comes from their shares."""
    collected, partition = first(events, Collected), first(events, Partition)
    pairs = [*(collected.tests if collected else ()), *(partition.tests if partition else ())]
    return list(dict.fromkeys(TestId(*pair) for pair in pairs))


def perhaps_begun(events: Sequence[Event], decided: Container[TestId]) -> list[TestId]:
    """List where each worker was when a signal ended all at once: what it said last may have died on its way."""
    end, partition = first(events, End), first(events, Partition)
    if partition is None or (end is not None and not end.signal):
        return []
    shares = [[test for test in (TestId(*pair) for pair in share) if test not in decided] for share in partition.workers.values()]
    return [left[0] for left in shares if left]


def results(events: Sequence[Event]) -> dict[TestId, TestRun]:
    """Take each test's result, the first where two claim one: a process that was put down may have had a last word."""
    found: dict[TestId, TestRun] = {}
    seen = spellings(events)
    touched = {event.test: event for event in events if isinstance(event, Touched)}
    began: dict[TestId, float] = {}
    for event in events:
        match event:
            case TestStart():
                began[event.test] = event.t
            case TestEnd():
                told = touched.get(event.test)
                found.setdefault(event.test, run_of(event, began.get(event.test, 0.0), seen.get(event.test, ()), told))
            case CollectError():
                broken = TestRun(nodeid=event.nodeid, outcome=Outcome.ERROR, failure=event.failure)
                found.setdefault(broken.test, broken)
            case CollectSkip():
                skipped = TestRun(nodeid=event.nodeid, outcome=Outcome.SKIPPED, reason=event.reason)
                found.setdefault(skipped.test, skipped)
            case _:
                pass
    return found


def spellings(events: Iterable[Event]) -> dict[TestId, tuple[Spelling, ...]]:
    """List for each test the names that it found by another spelling, each once and not all where they are many."""
    found: dict[TestId, dict[Spelling, None]] = {}
    for event in events:
        if isinstance(event, SpellingSeen):
            found.setdefault(event.test, {})[event.spelling] = None
    return {test: tuple(pairs)[:MOST_SPELLINGS] for test, pairs in found.items()}


def uneven(events: Iterable[Event]) -> tuple[TestId, ...]:
    """List what only some workers have collected."""
    partition = first(events, Partition)
    return tuple(TestId(*pair) for pair in partition.uneven) if partition else ()


def run_of(event: TestEnd, began: float, seen: tuple[Spelling, ...], told: Touched | None) -> TestRun:
    """Make the result of an event."""
    return TestRun(
        nodeid=event.nodeid,
        occurrence=event.occurrence,
        outcome=event.outcome,
        worker=event.worker,
        began=began,
        seconds=event.seconds,
        reason=event.reason or "",
        failure=event.failure,
        output=event.output or "",
        spellings=seen,
        touched=tuple(Touch(path, how) for path, how in told.touched) if told else (),
        fixtures=told.fixtures if told else (),
    )


def not_run(test: TestId) -> TestRun:
    """Make the result of a test that the cell did not come to."""
    return TestRun(nodeid=test.nodeid, occurrence=test.occurrence, outcome=Outcome.NOT_RUN)


def order(events: Iterable[Event]) -> dict[str, tuple[TestId, ...]]:
    """List for each worker what it began, in order; a test that had to be begun again counts where it was begun last."""
    found: dict[str, dict[TestId, None]] = {}
    for event in events:
        if isinstance(event, TestStart):
            begun = found.setdefault(event.worker, {})
            begun.pop(event.test, None)
            begun[event.test] = None
    return {worker: tuple(begun) for worker, begun in found.items()}


def workers(events: Sequence[Event], plan: CellPlan) -> int:
    """Count the workers at once: a replacement has a name of its own and is no further one."""
    partition = first(events, Partition)
    if partition is not None:
        return len(partition.workers)
    names = {event.worker for event in events if isinstance(event, Workers) and event.worker}
    return min(len(names), plan.environment.workers)


def overhead(events: Sequence[Event]) -> float:
    """Say how many seconds lie between the start of pytest and the first test, 0 where there was none."""
    start, test = first(events, Start), first(events, TestStart)
    return round(test.t - start.t, 4) if start and test else 0.0


def probe(events: Sequence[Event]) -> Probe | None:
    """Take the probe, from a refusal too."""
    start, mismatch = first(events, Start), first(events, Mismatch)
    return start.probe if start else mismatch.probe if mismatch else None


def filesystem(events: Sequence[Event]) -> FilesystemFacts | None:
    """Take what the cell's files lie on, from a refusal too."""
    start, mismatch = first(events, Start), first(events, Mismatch)
    return start.filesystem if start else mismatch.filesystem if mismatch else None


def dates(events: Sequence[Event]) -> tuple[Dates, ...]:
    """Take the dates at start and end."""
    return tuple(Dates(*event.dates) for event in events if isinstance(event, Start | End))
