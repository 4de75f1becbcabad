"""What became of the frozen tests, in every report: who answers for each, until when, and whether it is still what was frozen."""

from __future__ import annotations

from collections.abc import Iterator

from paritygate.outcomes.artifact import Artifact, Freeze
from paritygate.outcomes.words import FreezeState
from paritygate.reports.text import spell_out

SAYS = {
    FreezeState.STABLE: "green and equal this time",
    FreezeState.LET_THROUGH: "diverged as was frozen, and was let through",
    FreezeState.DRIFTED: "does otherwise than was frozen, and blocks",
    FreezeState.NOT_RUN: "was not run",
    FreezeState.UNKNOWN: "there is no such test",
}


def frozen(artifact: Artifact) -> Iterator[str]:
    """List the frozen tests with what became of them."""
    if artifact.freezes:
        yield f"frozen ({len(artifact.freezes)}):"
    for nodeid, freeze in artifact.freezes.items():
        yield f"  {spell_out(nodeid)}: {spell_out(_said(freeze))}"
        yield f"    until {freeze.expires}, {spell_out(f'{freeze.owner}: {freeze.reason}')}{_extended(freeze)}"


def _said(freeze: Freeze) -> str:
    return f"{SAYS[freeze.state]} ({freeze.why})" if freeze.why else SAYS[freeze.state]


def _extended(freeze: Freeze) -> str:
    if not freeze.extended:
        return ""
    return f"; extended {freeze.extended} time{'s' * (freeze.extended != 1)}"
