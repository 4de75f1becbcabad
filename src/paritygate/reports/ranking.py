"""Which tests are told first, and the command that runs one of them once more."""

from __future__ import annotations

import shlex

from paritygate.classifier.sides import DIVERGENT
from paritygate.outcomes.artifact import Artifact, Finding
from paritygate.outcomes.words import FreezeState, Label

WORST_FIRST = (
    Label.UNDECIDED,
    Label.NONDETERMINISM_EVERYWHERE,
    Label.NONDETERMINISM,
    Label.COUPLING,
    Label.CONSISTENT_RED,
)


def is_let_through(artifact: Artifact, finding: Finding) -> bool:
    """Say whether a test is frozen and diverges as was frozen, so that it stops nothing."""
    freeze = artifact.freezes.get(finding.nodeid)
    return freeze is not None and freeze.state is FreezeState.LET_THROUGH and finding.label is Label.NONDETERMINISM


def ranked(artifact: Artifact) -> list[Finding]:
    """List the tests that are not consistent green, worst first; those that a freeze lets through come last."""
    place = {label: number for number, label in enumerate(WORST_FIRST)}
    return sorted(
        (each for each in artifact.tests if each.label in place),
        key=lambda each: (is_let_through(artifact, each), place[each.label], each.nodeid, each.occurrence),
    )


def reproduction(finding: Finding, report: str) -> str:
    """Write the command that runs a test that diverges once more where it shows; empty where none can be written.

    `report` is the path of the artifact, empty where it lies nowhere or does not know what its cells were made of.
    """
    if finding.label not in DIVERGENT or not report or not finding.nodeid.isprintable():
        return ""
    which = ("--number", str(finding.occurrence + 1)) if finding.occurrence else ()
    return shlex.join(("paritygate", "repro", report, finding.nodeid, *which))
