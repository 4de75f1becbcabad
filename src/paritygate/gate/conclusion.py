"""Weighs what a run found into its artifact, and keeps that where the search for causes is interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from paritygate import archive
from paritygate.confirm.flow import Confirmation
from paritygate.disciplines.freezing import Frozen
from paritygate.gate import guesses, hints, ledger, result
from paritygate.gate.cells import Cells
from paritygate.gate.request import Stopwatch, World
from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.cells import Cell
from paritygate.process import Interruption


class Conclusion(msgspec.Struct, frozen=True, kw_only=True):
    """All that an artifact is made of but the findings, which may still be given their causes."""

    made: result.Made
    frozen: Frozen
    gate: tuple[Cell, ...]
    cells: Cells
    watch: Stopwatch
    world: World

    def artifact(self, confirmation: Confirmation) -> Artifact:
        """Weigh the findings, hold the freezes against them, and describe the run."""
        made, known = self.made, (*self.gate, *confirmation.cells)
        judged = ledger.judge(self.frozen, confirmation.findings, known, made.asked, made.settled)
        ran = result.Ran(gate=self.gate, confirmation=confirmation, plans=self.cells.plans, judged=judged)
        artifact = result.artifact(made, ran, self.watch.seconds, self.world)
        return hints.with_hazards(guesses.with_guesses(artifact, made.trees), made.trees, self.world.variables)

    @contextmanager
    def kept_if_interrupted(self, confirmation: Confirmation) -> Iterator[None]:
        """Write the artifact as it is where a signal ends the run from here on: it lacks nothing but causes."""
        try:
            yield
        except Interruption:
            place = self.made.settled.report
            if archive.record(self.artifact(confirmation), place) is None:
                self.world.say(f"report: {place}, complete but for causes: `paritygate explain {place}` looks for them")
            raise
