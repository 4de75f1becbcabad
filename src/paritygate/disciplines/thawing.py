"""How many gates in a row a frozen test has been stable: remembered on this computer, and proposed for thawing when enough.

The memory is a convenience: what cannot be read counts as none, and what cannot be written is not missed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path

import msgspec

from paritygate import places
from paritygate.errors import ParityError
from paritygate.outcomes.artifact import Freeze
from paritygate.outcomes.cells import NodeId
from paritygate.outcomes.words import FreezeState

MEMORY = Path(".paritygate", "freezes.json")
"""Where the memory is, from the project; it is never sent to a cell."""


class Streak(msgspec.Struct, frozen=True, kw_only=True):
    """Gates in a row in which a test was stable, under one entry of the ledger: the one that ends on that day."""

    expires: str
    gates: int


def counted(freezes: Mapping[NodeId, Freeze], before: Mapping[str, Streak]) -> dict[NodeId, Freeze]:
    """Count on: a gate that did not run a test says nothing of it, and a divergence begins anew."""
    counts = {FreezeState.STABLE: 1, FreezeState.NOT_RUN: 0}
    return {
        nodeid: msgspec.structs.replace(
            freeze, stable=_so_far(freeze, before.get(nodeid)) + counts[freeze.state] if freeze.state in counts else 0
        )
        for nodeid, freeze in freezes.items()
    }


def recall(project: Path) -> dict[str, Streak]:
    """Read the memory."""
    try:
        return msgspec.json.decode(places.read(project / MEMORY), type=dict[str, Streak])
    except (ParityError, msgspec.DecodeError):
        return {}


def remember(project: Path, freezes: Mapping[NodeId, Freeze]) -> None:
    """Write the memory, of the tests that are frozen now."""
    streaks = {nodeid: Streak(expires=freeze.expires, gates=freeze.stable) for nodeid, freeze in freezes.items()}
    try:
        places.write(msgspec.json.encode(streaks) + b"\n", project / MEMORY)
    except ParityError:
        return


def proposals(freezes: Mapping[NodeId, Freeze], enough: int) -> tuple[NodeId, ...]:
    """List the tests that have been stable for long enough."""
    return tuple(nodeid for nodeid, freeze in freezes.items() if freeze.stable >= enough)


def gates_due(streak: Streak | None, expires: date, enough: int) -> int:
    """Say in how many gates a test was stable under its entry, which ends on that day; 0 where they are not enough to thaw it."""
    gates = 0 if streak is None or streak.expires != expires.isoformat() else streak.gates
    return gates if gates >= enough else 0


def _so_far(freeze: Freeze, streak: Streak | None) -> int:
    return streak.gates if streak is not None and streak.expires == freeze.expires else 0
