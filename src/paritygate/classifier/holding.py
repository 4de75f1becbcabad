"""What a ledger of frozen tests makes of a verdict, whoever holds it; the ledger itself is read elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from paritygate.outcomes.artifact import Finding, Freeze, Subject
from paritygate.outcomes.cells import Cell, NodeId, TestId


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """What a ledger of frozen tests says of a run: what became of each, which are let through, what is wrong with it."""

    freezes: dict[NodeId, Freeze] = {}
    let_through: frozenset[TestId] = frozenset()
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


Hold = Callable[[Subject, Sequence[Finding], Sequence[Cell]], Held]


def nothing_held(_subject: Subject, _findings: Sequence[Finding], _cells: Sequence[Cell]) -> Held:
    """Hold no ledger against anything."""
    return Held()
