"""Makes a cell of something pasted. Where it does not tell the whole run, what it does not tell of is unknown, and said to be."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from paritygate.errors import UsageError
from paritygate.ingest.found import CERTAINTY, Found
from paritygate.ingest.measuring import SUITE
from paritygate.ingest.naming import Naming, name
from paritygate.outcomes.cells import Cell, EnvironmentName, Told
from paritygate.outcomes.words import CellStatus, Purpose, ResultFormat, RunnerName

SEEDS = 1 << 32
BESIDE = "give the other cells with `--beside`, or let pytest write `-o junit_family=xunit1`"


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What whoever pastes says of it: which cell it is, and with which seed it ran."""

    env: str
    attempt: int
    seed: int


def suite_name(env: str, attempt: int) -> str:
    """Say how what a command writes is to call itself, so that it is not taken for another cell."""
    return f"{SUITE}:{env}:{attempt}"


def cell(found: Found, given: Given, known: Collection[str]) -> Cell:
    """Make the cell; `known` are the ids of tests in other cells. Raises `UsageError` where it says itself that it is another."""
    _check(found, given)
    named = name(found, known)
    lacking = _lacking(found, named)
    tests = tuple(run for run in named.tests)
    ended = CellStatus.FINISHED if tests else CellStatus.NO_TESTS
    remarks = (f"pytest ran in `{named.prefix}`, which was put before its ids",) if named.prefix else ()
    return Cell(
        env=EnvironmentName(given.env),
        attempt=given.attempt,
        seed=given.seed,
        runner=RunnerName.ELSEWHERE,
        purpose=Purpose.GATE,
        status=CellStatus.INCOMPLETE if lacking else ended,
        returncode=found.returncode,
        passed=not lacking and bool(tests) and all(run.outcome.green for run in tests),
        detail=lacking,
        seconds=sum(run.seconds for run in tests),
        workers=found.workers,
        collected=found.collected or len(tests),
        tests=tests,
        told=Told(
            format=found.format,
            certainty=CERTAINTY[found.format],
            counts=found.counts,
            unnamed=found.unnamed + len(named.unclear),
            remarks=remarks,
            measured=found.measured,
        ),
    )


def _check(found: Found, given: Given) -> None:
    if found.suite.startswith(f"{SUITE}:") and found.suite != suite_name(given.env, given.attempt):
        env, _, attempt = found.suite.removeprefix(f"{SUITE}:").rpartition(":")
        raise UsageError(
            f"it is `{env}` attempt {attempt}, not `{given.env}` attempt {given.attempt}", "give it as the cell that it is"
        )
    if found.seed is not None and found.seed != given.seed % SEEDS:
        raise UsageError(
            f"it was run with seed {found.seed}, not {given.seed}", f"give `--seed {found.seed}`, if it is the right cell"
        )


def _lacking(found: Found, named: Naming) -> str:
    if found.lacking or not named.unclear:
        return found.lacking
    first = " or ".join(f"`{each}`" for each in named.unclear[0])
    what = f"{len(named.unclear)} tests could be" if len(named.unclear) > 1 else "a test could be"
    return f"{what} {first}: {BESIDE}" if found.format is ResultFormat.JUNIT else f"{what} {first}"
