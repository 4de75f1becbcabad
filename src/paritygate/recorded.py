"""An artifact's cells made into plans and images once more, so that what was run can be run again.

It runs nothing, and looks at no working tree: the images hold the trees that were tested.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from paritygate import environments
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import NoVerdictError, UsageError
from paritygate.outcomes.artifact import Artifact, Material
from paritygate.outcomes.artifact import CellImage as RecordedImage
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import CellPlan, Environment, Order
from paritygate.outcomes.words import Purpose
from paritygate.runners.docker import CellImage

AGAIN = "run the gate again (`paritygate run`): it makes the images, and a report that knows them"


def material_of(artifact: Artifact, path: Path) -> Material:
    """Take what the cells were made of; raises `UsageError` where the report does not know it."""
    if artifact.material is None or not artifact.material.plans:
        raise UsageError(f"`{path}` does not say what its cells were made of, so none can be run once more", AGAIN)
    return artifact.material


def with_variables(material: Material, given: Mapping[str, str], path: Path) -> Material:
    """Put back the values that the report withholds; raises `UsageError` for one that is lacking, or that nobody withheld."""
    for name in given:
        if name not in material.withheld:
            raise UsageError(f"`{path}` withholds no variable `{name}`", "leave it out: all others are in the report")
    for name in material.withheld:
        if name not in given:
            what = f"the value of the variable `{name}` is not in `{path}`, since it sounds secret"
            raise UsageError(what, f"give it with `--variable {name}=VALUE`")
    return msgspec.structs.replace(
        material,
        plans=tuple(msgspec.structs.replace(plan, environment=_filled(plan.environment, given)) for plan in material.plans),
    )


def _filled(environment: Environment, given: Mapping[str, str]) -> Environment:
    variables = {name: given.get(name, value) for name, value in environment.variables.items()}
    return msgspec.structs.replace(environment, variables=variables)


def plans_for_the_record(plans: Iterable[CellPlan]) -> tuple[CellPlan, ...]:
    """Leave out of plans secrets, and lists of paths and of tests, which the cells have as they ran."""
    return tuple(
        msgspec.structs.replace(
            plan,
            environment=environments.without_secrets(plan.environment),
            order=Order(seed=plan.order.seed, reversed=plan.order.reversed),
            locked={},
            watched=None if plan.watched is None else (),
            selection=msgspec.structs.replace(plan.selection, share=None),
        )
        for plan in plans
    )


def gate_plans(material: Material) -> tuple[CellPlan, ...]:
    """Choose the plans of the gate."""
    return tuple(plan for plan in material.plans if plan.purpose is Purpose.GATE)


def plan_of(material: Material, cell: Cell) -> CellPlan:
    """Find how a cell was planned, its lists of tests aside; raises `UsageError` where the report has the cell from elsewhere."""
    name = f"{cell.env}-{cell.attempt}"
    for plan in material.plans:
        if plan.name == name:
            return msgspec.structs.replace(plan, purpose=Purpose.REPRO, watched=None)
    raise UsageError(f"the report does not say how its cell `{name}` was made", AGAIN)


def image_of(material: Material, engine: Engine, plan: CellPlan) -> CellImage:
    """Find the image that a cell started from, or that was made anew of the same since; raises `NoVerdictError` if it is gone."""
    recorded = _recorded(material, plan)
    # The name says the content, so another image of that name holds the same; yet the very same one comes first.
    for reference in (recorded.identity, recorded.name):
        if reference and engine.image(reference) is not None:
            return CellImage(reference, recorded.tree)
    raise NoVerdictError(f"the image `{recorded.name}`, in which `{plan.environment.name}` ran, is gone from the engine", AGAIN)


def name_of(material: Material, plan: CellPlan) -> str:
    """Say the name of the image that a cell started from."""
    return _recorded(material, plan).name


def _recorded(material: Material, plan: CellPlan) -> RecordedImage:
    """Choose the image of a cell's environment, or any that holds the tree that it is to see."""
    known = material.images.get(plan.environment.name)
    if known is not None:
        return known
    alike = (each.environment for each in gate_plans(material) if each.environment.worktree is plan.environment.worktree)
    return next(material.images[each.name] for each in alike if each.name in material.images)
