"""The freezes of a run: checked before any cell starts, held against what the cells say, and remembered."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence

import msgspec

from paritygate.classifier.surroundings import power
from paritygate.confirm.flow import Confirmation
from paritygate.disciplines import freezing, records, thawing
from paritygate.disciplines.freezing import Check, Frozen
from paritygate.freezes import checking, judging
from paritygate.gate.explaining import Known
from paritygate.gate.request import Request, World
from paritygate.gate.settled import Settled
from paritygate.outcomes.artifact import Finding, Freeze
from paritygate.outcomes.cells import Cell, NodeId, TestId
from paritygate.outcomes.plans import Selection
from paritygate.outcomes.words import FreezeState, Purpose


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the frozen tests, which of them are let through, what is wrong with the ledger, and remarks."""

    freezes: dict[NodeId, Freeze] = {}
    let_through: frozenset[TestId] = frozenset()
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def freezes_of(settled: Settled, request: Request, world: World) -> Frozen:
    """Take the freezes that hold in this run; raises `RefusedError` where one cannot be relied upon."""
    place = records.of(settled.project, world.variables)
    wanted = Check(settings=settled.settings, today=checking.today_of(world.now()), exists=freezing.on_disk(place))
    frozen = freezing.holding(place, wanted, request.ledger_from)
    for note in frozen.notes:
        world.say(note)
    return frozen


def explain_others(frozen: Frozen, known: Known, explain: Callable[[Known], Confirmation]) -> Confirmation:
    """Look for the causes of all but what is let through: that costs many cells, and would be found anew in every run."""
    confirmation = known.confirmation
    through = judging.let_through(frozen.entries, confirmation.findings, (*known.gate, *confirmation.cells))
    others = tuple(each for each in confirmation.findings if TestId(each.nodeid, each.occurrence) not in through)
    found = explain(msgspec.structs.replace(known, confirmation=msgspec.structs.replace(confirmation, findings=others)))
    explained = {TestId(each.nodeid, each.occurrence): each for each in found.findings}
    findings = tuple(explained.get(TestId(each.nodeid, each.occurrence), each) for each in confirmation.findings)
    return msgspec.structs.replace(found, findings=findings)


def judge(frozen: Frozen, findings: Sequence[Finding], cells: Sequence[Cell], asked: Selection, settled: Settled) -> Judged:
    """Hold the freezes against what a run found."""
    if not frozen.entries:
        return Judged(notes=frozen.notes)
    judged = judging.judge(frozen.entries, findings, cells, asked)
    judged = thawing.counted(judged, thawing.recall(settled.project))
    thawing.remember(settled.project, judged)
    return Judged(
        freezes=judged,
        let_through=judging.let_through(frozen.entries, findings, cells),
        refused=refusals(frozen, judged),
        notes=(*frozen.notes, *_proposals(judged, settled.settings.thaw_after, cells)),
    )


def refusals(frozen: Frozen, judged: Mapping[NodeId, Freeze]) -> tuple[str, ...]:
    """Say which entries are about no test that there is."""
    return tuple(
        f"`{nodeid}` is frozen in `{frozen.path}`: {freeze.why} (mend the id, or take the entry out: "
        f"`paritygate freeze remove {shlex.quote(nodeid)}`)"
        for nodeid, freeze in judged.items()
        if freeze.state is FreezeState.UNKNOWN
    )


def _proposals(judged: dict[NodeId, Freeze], enough: int, cells: Sequence[Cell]) -> tuple[str, ...]:
    """Propose to thaw what has been stable, and say how much that is worth."""
    each = sum(cell.purpose is Purpose.GATE for cell in cells)
    stable = {nodeid: judged[nodeid].stable for nodeid in thawing.proposals(judged, enough)}
    return tuple(
        f"`{nodeid}` was stable in {checking.number(gates, 'gate')} in a row: `paritygate freeze prune --stable` thaws it"
        f" ({power(gates * each)})"
        for nodeid, gates in stable.items()
    )
