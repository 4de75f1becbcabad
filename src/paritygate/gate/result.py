"""Puts everything that a run knows into its artifact, with the verdict that follows."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from paritygate import environments
from paritygate.classifier import labels, surroundings, verdicts
from paritygate.confirm.flow import Confirmation
from paritygate.docker_engine.requests import EngineInfo
from paritygate.environments import folds_case
from paritygate.gate.ledger import Judged
from paritygate.gate.material import Images, Planned, Trees, colliding_names, mismatched_names
from paritygate.gate.request import World
from paritygate.gate.settled import Settled
from paritygate.locks import drift
from paritygate.outcomes.artifact import SCHEMA, Artifact, EnvironmentRecord, Subject, Varied
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import Selection


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the steps of a run have made."""

    settled: Settled
    trees: Trees
    asked: Selection
    images: Images
    planned: Planned
    engine: EngineInfo


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the cells of a run have shown; `cells` are those of the gate."""

    cells: tuple[Cell, ...]
    confirmation: Confirmation
    judged: Judged = Judged()


def artifact(made: Made, found: Found, seconds: Mapping[str, float], world: World) -> Artifact:
    """Weigh the run and describe it."""
    cells, confirmation, judged = found.cells, found.confirmation, found.judged
    records = _records(made)
    varied = varied_axes(made, cells)
    differences = surroundings.undeclared_differences(cells, frozenset(each.axis for each in varied if each.varied))
    excluded = labels.excluded(cells)
    facts = verdicts.Facts(
        cells=cells,
        varied=varied,
        excluded=len(excluded),
        blocking=differences.blocking,
        collisions=colliding_names(made.trees) if folds_case(made.settled.settings.environments.values()) else (),
        frozen=judged.let_through,
        refused=judged.refused,
    )
    return Artifact(
        schema=SCHEMA,
        paritygate=world.version,
        created=world.now().isoformat(timespec="seconds"),
        verdict=verdicts.verdict(confirmation.findings, facts),
        subject=_subject(made),
        environments=records,
        axes=varied,
        images={each.name: each.image for each in records},
        cells=(*cells, *confirmation.cells),
        tests=confirmation.findings,
        labels=labels.counts(confirmation.findings, excluded),
        excluded=excluded,
        freezes=judged.freezes,
        notes=(
            *_notes(made),
            *judged.notes,
            *drift.remarks(cells),
            *differences.notes,
            *verdicts.bounds(confirmation.findings, cells),
        ),
        engine={"name": made.engine.name, "version": made.engine.version, "platform": made.engine.platform},
        timings=dict(seconds),
    )


def _records(made: Made) -> tuple[EnvironmentRecord, ...]:
    images = made.images.by_environment
    return tuple(environments.record(each, images[each.name].tag) for each in made.planned.resolution.environments)


def varied_axes(made: Made, cells: tuple[Cell, ...]) -> tuple[Varied, ...]:
    """Ask the probes which axes varied; of those that nobody set apart only the five that people expect are listed."""
    found = surroundings.varied(_records(made), cells, {state.value: one.digest for state, one in made.trees.items()})
    reasons = made.planned.resolution.reasons
    return tuple(each for each in environments.explain(found, reasons) if each.varied or each.axis in environments.EXPECTED)


def _subject(made: Made) -> Subject:
    trees = made.trees.values()
    return Subject(
        project=made.settled.project.name,
        commit=next(iter(trees)).commit,
        trees={state.value: one.digest for state, one in made.trees.items()},
        selection=(
            *made.asked.paths,
            *(("-k", made.asked.keyword) if made.asked.keyword else ()),
            *(("-m", made.asked.marker) if made.asked.marker else ()),
            *made.asked.arguments,
        ),
        withheld=tuple(sorted({path for one in trees for path in one.withheld})),
        mismatched_names=mismatched_names(made.trees),
        colliding_names=colliding_names(made.trees),
    )


def _notes(made: Made) -> tuple[str, ...]:
    """Gather what the steps had to remark, each once."""
    remarks = [*made.settled.notes, *made.images.notes, *made.planned.resolution.notes]
    for one in made.trees.values():
        remarks += one.notes
        remarks += [f"`{path}` is not in the {one.state} tree: {why}" for path, why in one.left_out.items()]
    remarks += [f"{name} lacks `{path}`" for name, paths in made.planned.lacking.items() for path in paths]
    return tuple(dict.fromkeys(remarks))
