"""Weighs what a sweep found into its artifact, and keeps what there is where a signal ends the sweep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec

from paritygate import archive
from paritygate.classifier import labels
from paritygate.classifier.evidence import gate_of, judge, sides
from paritygate.confirm.flow import Confirmation
from paritygate.disciplines.freezing import Frozen
from paritygate.freezes import judging
from paritygate.gate import hints, ledger, result
from paritygate.gate.cells import Cells
from paritygate.gate.grounds.choosing import Ready
from paritygate.gate.ledger import Judged
from paritygate.gate.material import Planned
from paritygate.gate.request import Stopwatch, World
from paritygate.gate.sweeping import rounds
from paritygate.gate.sweeping.rounds import Ran
from paritygate.gate.sweeping.values import Breadth
from paritygate.outcomes.artifact import Artifact, Finding
from paritygate.outcomes.cells import TestId
from paritygate.outcomes.plans import CellPlan, Selection
from paritygate.outcomes.sweeps import Sweep
from paritygate.outcomes.words import Axis
from paritygate.process import Interruption
from paritygate.sweeps import conclusions
from paritygate.witnesses.table import UTF8_MODE


class Conclusion(msgspec.Struct, frozen=True, kw_only=True):
    """All that the artifact of a sweep is made of but what its cells did."""

    made: result.Made
    frozen: Frozen
    spread: Breadth
    cells: Cells
    watch: Stopwatch
    world: World

    def artifact(self, ran: Ran, confirmation: Confirmation) -> Artifact:
        """Weigh the findings, find the rules, hold the freezes against them, and describe the sweep."""
        found = told(self.spread, ran, confirmation)
        made = msgspec.structs.replace(self.made, planned=proven(self.made.planned, ran))
        gathered = result.Ran(
            gate=ran.cells,
            confirmation=found.confirmation,
            plans=self.cells.plans,
            judged=judged(self.frozen, found.confirmation, ran, made.asked),
            sweeps=found.sweeps,
        )
        artifact = result.artifact(made, gathered, self.watch.seconds, self.world)
        return hints.with_hazards(artifact, made.trees, self.world.variables)

    @contextmanager
    def kept_if_interrupted(self) -> Iterator[None]:
        """Write an artifact of what was seen where a signal ends the sweep; what was to be confirmed is undecided in it."""
        try:
            yield
        except Interruption:
            self._keep(rounds.so_far(self.spread, self.cells.ended))
            raise

    def _keep(self, ran: Ran) -> None:
        if not ran.cells:
            return
        findings = unconfirmed(ran, self.made.planned.plans)
        artifact = self.artifact(ran, Confirmation(findings=findings, cells=()))
        place = self.made.settled.report
        if archive.record(artifact, place) is None:
            seen = len({cell.env for cell in ran.cells})
            self.world.say(f"report: {place}, with the {seen} of {len(self.spread.environments)} values that were seen")


def unconfirmed(ran: Ran, plans: Sequence[CellPlan]) -> tuple[Finding, ...]:
    """Label tests by what was seen, and leave undecided whatever further attempts would have had to confirm."""
    findings = labels.label(ran.cells)
    gate = gate_of(findings, ran.cells, plans)
    judged = {test: judge(gate.flagged[test], {}, envs) for test, envs in sides(gate.flagged.values()).items()}
    return tuple(judged.get(TestId(each.nodeid, each.occurrence), each) for each in findings)


def proven(planned: Planned, ran: Ran) -> Planned:
    """Leave out what tells of nothing: the environments that no cell has proven."""
    there = {cell.env for cell in ran.cells}
    known = tuple(each for each in planned.resolution.environments if each.name in there)
    return msgspec.structs.replace(planned, resolution=msgspec.structs.replace(planned.resolution, environments=known))


def for_all(ready: Ready, spread: Breadth) -> Ready:
    """Say that the cells of every value start from the one image that there is, and what varies without being an axis."""
    image = next(iter(ready.images.values()), None)
    images = {} if image is None else {each.name: image for each in spread.environments}
    runner = next(iter(ready.runners.values()))
    swept = {each.axis for each in spread.axes}
    known = {axis: why for axis, why in ready.reasons.items() if axis not in swept}
    aside = {Axis.VARIABLES: f"`{UTF8_MODE}` goes with the locale"} if Axis.LOCALE in swept else {}
    return msgspec.structs.replace(
        ready,
        images=images,
        runners={each.name: runner for each in spread.environments},
        reasons=known | ({} if Axis.VARIABLES in swept else aside),
    )


class Told(msgspec.Struct, frozen=True):
    """The findings with their causes, every further cell, and the rules."""

    confirmation: Confirmation
    sweeps: tuple[Sweep, ...]


def told(spread: Breadth, ran: Ran, confirmation: Confirmation) -> Told:
    """Find the rules, and give each coupling the axes over which it parts for its cause."""
    described = [rounds.described(each, ran) for each in spread.axes]
    sweeps = tuple(conclusions.conclude(each, confirmation.findings, ran.cells) for each in described)
    findings = conclusions.with_causes(confirmation.findings, sweeps)
    return Told(Confirmation(findings=findings, cells=confirmation.cells), sweeps)


def judged(frozen: Frozen, confirmation: Confirmation, ran: Ran, asked: Selection) -> Judged:
    """Hold the freezes against what was found; a sweep is no gate, and counts for none."""
    if not frozen.entries:
        return Judged(notes=frozen.notes)
    known = (*ran.cells, *confirmation.cells)
    freezes = judging.judge(frozen.entries, confirmation.findings, known, asked)
    return Judged(
        freezes=freezes,
        let_through=judging.let_through(frozen.entries, confirmation.findings, known),
        refused=ledger.refusals(frozen, freezes),
        notes=frozen.notes,
    )
