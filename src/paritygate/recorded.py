"""An artifact's cells made into plans and images once more, so that what was run can be run again.

It runs nothing, and looks at no working tree: the images hold the trees that were tested.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from paritygate import environments
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import NoVerdictError, UsageError
from paritygate.outcomes.artifact import Artifact, Material
from paritygate.outcomes.artifact import CellImage as RecordedImage
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import CellPlan, Environment
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
        mixed={name: _filled(each, given) for name, each in material.mixed.items()},
    )


def _filled(environment: Environment, given: Mapping[str, str]) -> Environment:
    variables = {name: given.get(name, value) for name, value in environment.variables.items()}
    return msgspec.structs.replace(environment, variables=variables)


def plan_of(material: Material, cell: Cell) -> CellPlan:
    """Plan a cell once more, as far as its environment, seed and limits go; its order is what it was planned with in the gate."""
    own = [plan for plan in material.plans if plan.environment.name == cell.env]
    if own:
        base = next((plan for plan in own if plan.attempt == cell.attempt), own[(cell.attempt - 1) % len(own)])
        environment = base.environment
        if cell.purpose is Purpose.HYBRID:  # an order replayed by one process, in an environment of the gate's
            environment = msgspec.structs.replace(environment, workers=0)
    else:
        environment = material.mixed[cell.env]
        alike = [plan for plan in material.plans if plan.environment.worktree is environment.worktree]
        base = alike[(cell.attempt - 1) % len(alike)]
    return msgspec.structs.replace(
        base,
        environment=environment,
        attempt=cell.attempt,
        seed=cell.seed,
        purpose=Purpose.REPRO,
        filesystem=environments.filesystem_of(
            environment, [plan.environment for plan in material.plans], material.shadowed, _filesystem_seed(material)
        ),
    )


def _filesystem_seed(material: Material) -> int:
    return next((plan.filesystem.seed for plan in material.plans if plan.filesystem is not None), 0)


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
    names = (each.environment.name for each in material.plans if each.environment.worktree is plan.environment.worktree)
    return next(material.images[name] for name in names)
