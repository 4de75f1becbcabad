"""The whole flow. It decides the order of the steps and nothing else; every step is another room's."""

from __future__ import annotations

from paritygate import archive
from paritygate.causes.differences import differences_behind
from paritygate.classifier import labels
from paritygate.confirm.flow import confirm
from paritygate.gate import ledger, locking, material, misuse, pins, result
from paritygate.gate.beginning import Begun, begin
from paritygate.gate.cells import Cells
from paritygate.gate.conclusion import Conclusion
from paritygate.gate.explaining import Budget, Known, explain, name_rules
from paritygate.gate.grounds import choosing
from paritygate.gate.grounds.choosing import Grounds
from paritygate.gate.request import Report, Request, Stopwatch, World
from paritygate.gate.settled import settle
from paritygate.selection import words_of


def run(request: Request, world: World) -> Report:
    """Run the gate and write the artifact.

    Raises `ConfigError`, `UsageError`, `RefusedError` or `NoVerdictError` where it cannot begin; whatever happens in a cell is
    in the artifact.
    """
    watch = Stopwatch(world.monotonic)
    settled = settle(request, world)
    begun = begin(settled, request, world)
    watch.lap("snapshot")
    with choosing.found(settled, world) as grounds:
        return judge(begun, grounds, world, watch)


def judge(begun: Begun, grounds: Grounds, world: World, watch: Stopwatch) -> Report:
    """Run the gate's cells on the grounds that were found for them, and all that follows."""
    request, settled, trees, asked = begun.request, begun.settled, begun.trees, begun.asked
    ready = grounds.prepare(settled, trees, world)
    watch.lap("images")

    planned = locking.with_locked(
        pins.respected(material.plan(ready.settled, trees, asked, ready.machine, world), request), begun.locked, trees
    )
    world.expect(settled.last.seconds_of(words_of(asked), ready.runners))
    cells = Cells(ready.pool, planned.nothing, world, ready.runners)
    gate_cells = cells.run(planned.plans)
    misuse.check(asked, gate_cells)
    gate_cells = cells.again_where_dates_moved(planned.plans, gate_cells)
    gate_cells = cells.again_without_killers(planned.plans, gate_cells)
    watch.lap("cells")

    confirmation = confirm(labels.label(gate_cells), gate_cells, planned.plans, cells.confirm)
    watch.lap("confirm")

    made = result.Made(ready=ready, trees=trees, asked=asked, planned=planned, changed=begun.changed)
    budget = Budget.of(request.explain_budget, watch.seconds["cells"], (*gate_cells, *confirmation.cells), world.monotonic)
    known = Known(
        planned=planned,
        varied=result.really_varied(made, gate_cells),
        gate=gate_cells,
        confirmation=confirmation,
        different=differences_behind(confirmation.findings, trees),
    )
    conclusion = Conclusion(made=made, frozen=begun.frozen, gate=gate_cells, cells=cells, watch=watch, world=world)
    with conclusion.kept_if_interrupted(confirmation):
        confirmation = ledger.explain_others(begun.frozen, known, lambda some: explain(some, cells.explain, budget))
    confirmation = locking.attribute(name_rules(confirmation, trees, world), gate_cells)
    watch.lap("causes")

    artifact = conclusion.artifact(confirmation)
    unrecorded = archive.record(artifact, settled.report)
    grounds.tidy(world)
    return Report(artifact, settled.report, unrecorded)
