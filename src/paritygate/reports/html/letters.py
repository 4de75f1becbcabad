"""One letter for each outcome, so that a grid of thousands never depends on colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.words import Outcome

LETTERS: Mapping[Outcome, str] = MappingProxyType(
    {
        Outcome.PASSED: "P",
        Outcome.FAILED: "F",
        Outcome.ERROR: "E",
        Outcome.SKIPPED: "S",
        Outcome.XFAILED: "X",
        Outcome.XPASSED: "U",
        Outcome.TIMED_OUT: "T",
        Outcome.CRASHED: "C",
        Outcome.NOT_COLLECTED: "N",
        Outcome.NOT_RUN: "?",
    }
)
BLANK = "-"
"""Stands where there is nothing to say, as for a test that is excluded."""

Columns = dict[EnvironmentName, int]


def columns(findings: Sequence[Finding]) -> Columns:
    """Say how many attempts of each environment there are, environments in the order in which findings name them."""
    found: Columns = {}
    for finding in findings:
        for env, outcomes in finding.outcomes.items():
            found[env] = max(found.get(env, 0), len(outcomes))
    return found


def letters(finding: Finding, wanted: Columns) -> str:
    """Write what a test did in a letter for each cell."""
    return "".join(
        "".join(LETTERS[outcome] for outcome in finding.outcomes.get(env, ())).ljust(count, BLANK)
        for env, count in wanted.items()
    )
