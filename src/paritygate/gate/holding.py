"""The ledger of a project held against cells that were run anywhere, as a whole run holds it against its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from paritygate import selection
from paritygate.classifier.holding import Held, Hold
from paritygate.gate import ledger
from paritygate.gate.request import Request, World
from paritygate.gate.settled import settle
from paritygate.outcomes.artifact import Finding, Subject
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import Selection


def of(project: Path, ledger_from: str, world: World) -> Hold:
    """Read a project's ledger; raises `RefusedError` where a freeze cannot be relied upon."""
    request = Request(project=project, ledger_from=ledger_from)
    settled = settle(request, world)
    frozen = ledger.freezes_of(settled, request, world)

    def hold(subject: Subject, findings: Sequence[Finding], cells: Sequence[Cell]) -> Held:
        words = selection.parse(subject.selection)
        asked = Selection(paths=words.paths, keyword=words.keyword, marker=words.marker, arguments=words.arguments)
        judged = ledger.judge(frozen, findings, cells, asked, settled)
        return Held(freezes=judged.freezes, let_through=judged.let_through, refused=judged.refused, notes=judged.notes)

    return hold
