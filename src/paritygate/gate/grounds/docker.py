"""An engine as the ground of cells: finds or makes an image for each environment, with its tree in it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path

import msgspec
from packaging.utils import canonicalize_name

from paritygate import case_trial, project_images
from paritygate.docker_engine.requests import ImageRecord
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import EngineError, NoVerdictError
from paritygate.gate.grounds.parts import Beside, Machine, Packages, Part, Trees
from paritygate.gate.request import World
from paritygate.gate.settled import Settled
from paritygate.host.lacking import Environments, Held
from paritygate.images import baking, keeping, preparing, projects
from paritygate.images.baking import BakeRequest
from paritygate.images.names import Kind
from paritygate.outcomes import artifact
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import Axis, RunnerName, Worktree
from paritygate.runners.docker import CellImage, DockerRunner
from paritygate.snapshot import archive as snapshot_archive

TREES_KEPT = 8
# What a run uses was made not long ago, and what is removed at a run's end was made longer ago than any run may last: so no
# gate takes another's image away, though nothing on the engine says that it is in use between two cells.
FRESH = timedelta(hours=3)
KEPT = timedelta(hours=9)


class Images(msgspec.Struct, frozen=True, kw_only=True):
    """The image of each environment, with the tree that it holds; `project` is the project's name in theirs.

    `trees` are the images as the engine described them, by environment, `notes` says what is remarkable about them.
    """

    project: str
    by_environment: dict[EnvironmentName, CellImage]
    by_tree: dict[Worktree, CellImage]
    trees: dict[EnvironmentName, ImageRecord]
    notes: tuple[str, ...] = ()

    def of(self, plan: CellPlan) -> CellImage:
        """Choose the image that a cell starts from: its environment's, or any that holds the tree that it is to see."""
        return self.by_environment.get(plan.environment.name) or self.by_tree[plan.environment.worktree]


def find_engine(world: World) -> Engine:
    """Find the engine, say which, and remove what runs whose owner is dead have left on it."""
    engine = world.connect()
    info = engine.info
    world.say(f"engine: {info.name} {info.version} at {info.endpoint.url} ({info.endpoint.why})")
    _sweep(engine, world)
    return engine


class DockerGround:
    """An engine that answers."""

    name = RunnerName.DOCKER

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._images: Images | None = None

    def lacks(self, _mine: Environments, _every: Environments, _world: World) -> Mapping[Axis, Held]:
        """Say that every axis can vary, or that the cells themselves will say why not."""
        return {}

    def prepare(self, settled: Settled, trees: Trees, world: World, beside: Beside) -> Part:
        """Find or make the images."""
        images = self._images = build_images(self._engine, settled, trees, world, only=beside.only)
        info = self._engine.info
        return Part(
            runner=DockerRunner(self._engine, images.of),
            machine=Machine(name=info.name, version=info.version, platform=info.platform, cpus=info.cpus, memory=info.memory),
            images={
                name: artifact.CellImage(name=image.tag, identity=images.trees[name].identity, tree=image.sentinel)
                for name, image in images.by_environment.items()
            },
            notes=images.notes,
            packages=lambda: packages_of(self._engine, images, settled),
        )

    def tidy(self, world: World) -> None:
        """Remove older snapshots of the project, which every change of its tree adds to, and what has no name."""
        if self._images is not None:
            keep_few_trees(self._engine, self._images, world)


def packages_of(engine: Engine, images: Images, settled: Settled) -> Packages:
    """Have a cell say what it has installed: told to expect another tree, it measures itself and goes no further."""
    image = next(iter(images.by_environment.values()))
    runner = DockerRunner(engine, lambda _plan: CellImage(image.tag, "another"))
    plan = msgspec.structs.replace(case_trial.a_plan(), filesystem=None)
    cell = runner.run(plan, lambda _progress: None)
    if cell.probe is None:
        raise NoVerdictError(f"it cannot be found out what `{image.tag}` has installed: {cell.detail}")
    name = canonicalize_name(projects.read(settled.project).name or settled.project.name)
    return Packages(
        version=cell.probe.python,
        distributions={each.name: each.version for each in cell.probe.distributions},
        own=frozenset({name}),
    )


def build_images(engine: Engine, settled: Settled, trees: Trees, world: World, *, only: frozenset[str] = frozenset()) -> Images:
    """Find or make the image of each environment, or `only` of some, with its tree in it."""
    some = next(iter(trees.values()))
    settings = settled.settings
    asked = project_images.wanted(settled.project, Path(some.root), some.directory, settings, world.variables)
    folding = asked.case_folding or settled.own_filesystem
    request = msgspec.structs.replace(asked, locales=settled.locales, case_folding=folding)
    prepared = preparing.prepare(engine, request, world.say)
    by_environment: dict[EnvironmentName, CellImage] = {}
    by_tree: dict[Worktree, CellImage] = {}
    kept: dict[EnvironmentName, ImageRecord] = {}
    notes = list(prepared.notes)
    for name, each in settings.environments.items():
        if only and name not in only:
            continue
        one = trees[each.worktree]
        bake = BakeRequest(
            images=prepared,
            environment=name,
            tree=one,
            pack=partial(snapshot_archive.pack, one, world.variables),
            access=request.access,
            logs=request.logs,
            fresh=_moment(world, FRESH),
        )
        baked = baking.bake(engine, bake, world.say)
        kept[EnvironmentName(name)] = baked
        image = CellImage(baking.name_of(bake), one.digest)
        notes += [f"{name}: {note}"] if (note := baking.note_of(baked)) else []
        by_environment[EnvironmentName(name)] = by_tree[each.worktree] = image
    return Images(
        project=prepared.project,
        by_environment=by_environment,
        by_tree=by_tree,
        trees=kept,
        notes=tuple(notes),
    )


def keep_few_trees(engine: Engine, images: Images, world: World) -> None:
    """Remove older snapshots of the project and what has no name; all else stays."""
    try:
        keeping.drop_nameless(engine, tuple(images.trees.values()))
        _sweep(engine, world)
        keeping.prune(engine, TREES_KEPT, images.project, frozenset({Kind.TREE}), _moment(world, KEPT))
    except EngineError as error:
        world.say(f"older snapshots were not looked at: {error.message}")


def _sweep(engine: Engine, world: World) -> None:
    for line in engine.sweep():
        world.say(f"removed what an earlier run left: {line}")


def _moment(world: World, ago: timedelta) -> str:
    """Say a moment in the past as engines write it."""
    return (world.now() - ago).strftime("%Y-%m-%dT%H:%M:%S")
