"""Looks for causes afterwards, from an artifact: the gate's own search, in its images, whatever the disk holds by now.

What ran without an engine left no images: it is run from the checkout, while that holds what was tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from paritygate import archive, places, recorded
from paritygate.causes.files import rules_in, with_rules
from paritygate.classifier import labels, surroundings, verdicts
from paritygate.classifier.sides import DIVERGENT, laid_side_by_side
from paritygate.confirm.flow import Confirmation
from paritygate.environments import Resolution
from paritygate.freezes import judging
from paritygate.gate import hints, regained, spread
from paritygate.gate.again import Checkout, found_again
from paritygate.gate.cells import Cells
from paritygate.gate.explaining import Budget, Known, explain
from paritygate.gate.material import Planned
from paritygate.gate.request import Report, Stopwatch, World
from paritygate.gate.result import that_count
from paritygate.locks import drift
from paritygate.outcomes.artifact import Artifact, Material
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import Axis, Purpose, VerdictName
from paritygate.runners.pool import Pool

LONGEST_SECONDS = 3600.0
"""What bounds a search for which no time was given: begun batches of cells end, and no other begins."""


class Afterwards(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for: the report, where to write it (the same place, if nowhere else), for how many seconds, secret values.

    `project` is the checkout, for cells that ran without an engine.
    """

    report: Path
    project: Path
    place: Path | None = None
    seconds: float | None = None
    variables: Mapping[str, str] = {}


def run(asked: Afterwards, world: World) -> Report:
    """Look for the causes of all that diverges in a report, and write the report with them.

    Raises `UsageError` for what is no report or does not know its cells, `NoVerdictError` where their images are gone.
    """
    watch = Stopwatch(world.monotonic)
    artifact = archive.read(asked.report)
    place = places.plain(asked.report if asked.place is None else asked.place)
    places.check(place)
    seconds = LONGEST_SECONDS if asked.seconds is None else asked.seconds
    if not is_open(artifact) or seconds <= 0:
        world.say("nothing that diverges is without its cause" if seconds > 0 else "no time was given to look for causes")
        return Report(artifact, place, archive.record(artifact, place) if asked.place is not None else None)

    material = recorded.with_variables(recorded.material_of(artifact, asked.report), asked.variables, asked.report)
    known = _known(artifact, material)
    with _pool(artifact, material, asked, world) as pool:
        cells = Cells(pool, material.nothing, world, material.runners)
        found = explain(known, cells.explain, Budget(seconds=seconds, monotonic=world.monotonic))
    watch.lap("causes")

    explained = msgspec.structs.replace(
        _explained(artifact, material, found, cells.plans),
        timings=artifact.timings | {"causes": watch.seconds["causes"]},
        engines=spread.with_losses(artifact.engines, pool.lost),
    )
    return Report(explained, place, archive.record(explained, place))


@contextmanager
def _pool(artifact: Artifact, material: Material, asked: Afterwards, world: World) -> Iterator[Pool]:
    """Have what runs further cells: from images, which hold the trees, or on the same runners from the checkout."""
    if material.runners:
        with found_again(artifact, material, Checkout(asked.project, asked.report.resolve()), world) as ready:
            yield ready.pool
        return
    pool = regained.pool(artifact, material, world)
    said = ", ".join(f"{state} {digest[:12]}" for state, digest in artifact.subject.trees.items())
    world.say(f"the trees are those of the report, whatever the disk holds by now: {said}")
    yield pool


def is_open(artifact: Artifact) -> bool:
    """Say whether anything that diverges has no cause."""
    return any(each.cause is None for each in artifact.tests if each.label in DIVERGENT)


def _known(artifact: Artifact, material: Material) -> Known:
    plans = recorded.gate_plans(material)
    resolution = Resolution(environments=tuple({plan.environment.name: plan.environment for plan in plans}.values()))
    return Known(
        planned=Planned(plans=plans, resolution=resolution, lacking={}, nothing=material.nothing, shadowed=material.shadowed),
        varied=_varied(artifact),
        gate=tuple(cell for cell in artifact.cells if cell.purpose is Purpose.GATE),
        confirmation=Confirmation(
            findings=archive.before_causes(artifact),
            cells=tuple(cell for cell in artifact.cells if cell.purpose is not Purpose.GATE),
        ),
        different=material.different,
    )


def _varied(artifact: Artifact) -> frozenset[Axis]:
    return frozenset(each.axis for each in artifact.axes if each.varied)


def _explained(artifact: Artifact, material: Material, found: Confirmation, ran: Mapping[str, CellPlan]) -> Artifact:
    """Put what was found into the report, and weigh it again as the gate does."""
    gate = tuple(cell for cell in artifact.cells if cell.purpose is Purpose.GATE)
    explained = drift.attributed(found.findings, gate)
    findings = laid_side_by_side(with_rules(explained, lambda _: rules_in(artifact.tests)), gate)
    findings = hints.carried_over(findings, artifact.tests)
    facts = verdicts.Facts(
        cells=gate,
        varied=artifact.axes,
        excluded=len(artifact.excluded),
        blocking=surroundings.undeclared_differences(gate, _varied(artifact)).blocking,
        collisions=that_count(artifact.subject.colliding_names, (plan.environment for plan in material.plans)),
        frozen=judging.still_let_through(artifact.freezes, findings),
        refused=artifact.verdict.reasons if artifact.verdict.name is VerdictName.REFUSED else (),
    )
    plans = (*material.plans, *ran.values())
    return msgspec.structs.replace(
        artifact,
        verdict=verdicts.verdict(findings, facts),
        cells=(*gate, *found.cells),
        tests=findings,
        freezes=judging.since(artifact.freezes, artifact.tests, findings),
        labels=labels.counts(findings, artifact.excluded),
        material=msgspec.structs.replace(material, plans=recorded.plans_for_the_record(plans)),
    )
