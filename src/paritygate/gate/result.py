"""Puts everything that a run knows into its artifact, with the verdict that follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from paritygate import environments, recorded, selection
from paritygate.causes.differences import differences_behind
from paritygate.classifier import labels, moved, surroundings, verdicts
from paritygate.classifier.sides import laid_side_by_side
from paritygate.confirm.flow import Confirmation
from paritygate.environments import folds_case
from paritygate.gate import passed_over, pins, spread
from paritygate.gate.grounds.choosing import Ready
from paritygate.gate.grounds.parts import Trees
from paritygate.gate.ledger import Judged
from paritygate.gate.material import Planned, colliding_names, mismatched_names
from paritygate.gate.request import World
from paritygate.gate.settled import Settled
from paritygate.locks import drift
from paritygate.outcomes.artifact import (
    SCHEMA,
    Artifact,
    Changed,
    EnvironmentRecord,
    Finding,
    Material,
    Subject,
    Varied,
)
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import CellPlan, Environment, Selection
from paritygate.outcomes.sweeps import Sweep
from paritygate.outcomes.words import Axis, RunnerName
from paritygate.sweeps import conclusions


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the steps of a run have made."""

    ready: Ready
    trees: Trees
    asked: Selection
    planned: Planned
    changed: Changed | None = None

    @property
    def settled(self) -> Settled:
        """Say what holds for the run."""
        return self.ready.settled


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """All that was run: the gate's cells, the findings with every further cell, and the plans of them all, by name.

    `judged` is what became of the frozen tests, `sweeps` what a sweep found of its axes.
    """

    gate: tuple[Cell, ...]
    confirmation: Confirmation
    plans: Mapping[str, CellPlan]
    judged: Judged = Judged()
    sweeps: tuple[Sweep, ...] = ()


def that_count(colliding: tuple[str, ...], environments: Iterable[Environment]) -> tuple[str, ...]:
    """Say which colliding names are a difference between the environments: none where case counts in all of them."""
    return colliding if folds_case(environments) else ()


def artifact(made: Made, ran: Ran, seconds: Mapping[str, float], world: World) -> Artifact:
    """Weigh the run and describe it."""
    cells, confirmation, judged, machine = ran.gate, ran.confirmation, ran.judged, made.ready.machine
    records = _records(made)
    varied = varied_axes(made, cells)
    differences = surroundings.undeclared_differences(cells, frozenset(each.axis for each in varied if each.varied))
    excluded = labels.excluded(cells)
    facts = verdicts.Facts(
        cells=cells,
        varied=varied,
        excluded=len(excluded),
        blocking=(*differences.blocking, *conclusions.uncompared(ran.sweeps)),
        collisions=that_count(colliding_names(made.trees), made.planned.resolution.environments),
        frozen=judged.let_through,
        refused=judged.refused,
        amounts=conclusions.amounts(ran.sweeps),
    )
    findings = laid_side_by_side(confirmation.findings, cells)
    engines = spread.with_losses(made.ready.engines, made.ready.pool.lost)
    return Artifact(
        schema=SCHEMA,
        paritygate=world.version,
        created=world.now().isoformat(timespec="seconds"),
        verdict=verdicts.verdict(findings, facts),
        subject=subject(made),
        environments=records,
        axes=varied,
        images={each.name: each.image for each in records},
        cells=(*cells, *confirmation.cells),
        tests=findings,
        labels=labels.counts(findings, excluded),
        excluded=excluded,
        freezes=judged.freezes,
        sweeps=ran.sweeps,
        notes=(
            *_notes(made),
            *judged.notes,
            *pins.remarks(cells, asked=pins.are_respected(made.planned)),
            *drift.remarks(cells),
            *differences.notes,
            *surroundings.idle_workers(cells),
            *moved.passed_midnights(cells),
            *passed_over.remarks(made.asked, made.trees, cells),
            *spread.remarks(engines, (*cells, *confirmation.cells)),
            *spread.going_with_engines(findings, (*cells, *confirmation.cells)),
            *verdicts.bounds(findings, cells),
        ),
        engine={"name": machine.name, "version": machine.version, "platform": machine.platform},
        timings=dict(seconds),
        material=_material(made, ran.plans, findings),
        changed=made.changed,
        engines=engines,
        planned=dict(Counter(cell.env for cell in cells)),
    )


def _material(made: Made, plans: Mapping[str, CellPlan], findings: Sequence[Finding]) -> Material:
    """Say what cells can be made of once more."""
    runners = made.ready.runners
    return Material(
        plans=recorded.plans_for_the_record(plans.values()),
        images=made.ready.images,
        nothing=made.planned.nothing,
        shadowed=made.planned.shadowed,
        different=differences_behind(findings, made.trees),
        withheld=tuple(
            dict.fromkeys(name for plan in plans.values() for name in environments.secret_variables(plan.environment))
        ),
        runners=runners if set(runners.values()) != {RunnerName.DOCKER} else {},
    )


def _records(made: Made) -> tuple[EnvironmentRecord, ...]:
    names = {name: image.name for name, image in made.ready.images.items()}
    return tuple(environments.record(each, names.get(each.name, "")) for each in made.planned.resolution.environments)


def really_varied(made: Made, cells: tuple[Cell, ...]) -> frozenset[Axis]:
    """Ask the probes which axes varied."""
    return frozenset(each.axis for each in varied_axes(made, cells) if each.varied)


def varied_axes(made: Made, cells: tuple[Cell, ...]) -> tuple[Varied, ...]:
    """Ask the probes which axes varied; of those that nobody set apart or left out only the expected ones are listed."""
    reasons = made.ready.reasons
    found = surroundings.varied(_records(made), cells, {state.value: one.digest for state, one in made.trees.items()})
    left_out = {Axis(axis): f"left out by `--without-axis {axis}`" for axis in made.settled.left_out}
    shown = environments.EXPECTED | left_out.keys() | reasons.keys()
    rows = environments.explain(found, made.planned.resolution.reasons | reasons | pins.held_equal(cells) | left_out)
    return tuple(each for each in rows if each.varied or each.axis in shown)


def subject(made: Made) -> Subject:
    """Say what is tested."""
    trees = made.trees.values()
    return Subject(
        project=made.settled.project.name,
        commit=next(iter(trees)).commit,
        trees={state.value: one.digest for state, one in made.trees.items()},
        selection=selection.words_of(made.asked),
        withheld=tuple(sorted({path for one in trees for path in one.withheld})),
        mismatched_names=mismatched_names(made.trees),
        colliding_names=colliding_names(made.trees),
    )


def _notes(made: Made) -> tuple[str, ...]:
    """Gather what the steps had to remark, each once."""
    remarks = [*made.settled.notes, *made.ready.notes, *made.planned.resolution.notes]
    for one in made.trees.values():
        remarks += one.notes
        remarks += [f"`{path}` is not in the {one.state} tree: {why}" for path, why in one.left_out.items()]
    remarks += [f"{name} lacks `{path}`" for name, paths in made.planned.lacking.items() for path in paths]
    return tuple(dict.fromkeys(remarks))
