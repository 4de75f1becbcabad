"""What was found in something pasted: tests whose outcome is known, and what of the run is not.

An outcome is in it only where nothing that may be missing could contradict it.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

import msgspec

from paritygate.outcomes.cells import Failure, Measured, TestRun
from paritygate.outcomes.words import Certainty, Outcome, ResultFormat

SEVERITY = (
    Outcome.NOT_RUN,
    Outcome.PASSED,
    Outcome.XPASSED,
    Outcome.XFAILED,
    Outcome.SKIPPED,
    Outcome.ERROR,
    Outcome.FAILED,
    Outcome.CRASHED,
)
"""From the mildest to the worst, as the recorder folds a test's phases: a failing call outweighs an error in its teardown."""

CERTAINTY = MappingProxyType(
    {
        ResultFormat.TERMINAL: Certainty.READ,
        ResultFormat.JUNIT: Certainty.REPORTED,
        ResultFormat.REPORTLOG: Certainty.REPORTED,
    }
)


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What something pasted says. `lacking` says why it is not the whole run, and is empty where it is.

    `names` are the ids of tests as the format has them, one for each of `tests`; where several could be meant, all of them.
    `unnamed` counts tests that ran and whose ids are not known, `workers` those of pytest-xdist (0: it is not seen to have run).
    `seed` is what pytest-randomly says it used, or else the command that was printed; `suite` is how that calls the cell, and
    `measured` what it has measured.
    """

    format: ResultFormat
    tests: tuple[TestRun, ...]
    names: tuple[tuple[str, ...], ...] = ()
    lacking: str = ""
    counts: dict[str, int] = {}
    unnamed: int = 0
    collected: int = 0
    workers: int = 0
    seed: int | None = None
    returncode: int | None = None
    suite: str = ""
    measured: Measured | None = None


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Say what a test did of which several things are reported."""
    return max(outcomes, key=SEVERITY.index, default=Outcome.NOT_RUN)


def failure(outcome: Outcome, message: str) -> Failure | None:
    """Say why a test is red, in the words that were pasted; there is no place to compare failures by."""
    if outcome.green or outcome is Outcome.NOT_RUN:
        return None
    return Failure(phase="setup" if outcome is Outcome.ERROR else "call", exception="", message=message, fingerprint="")


def broken_file(message: str) -> Failure:
    """Say why a file could not be collected."""
    return Failure(phase="collect", exception="", message=message, fingerprint="")
