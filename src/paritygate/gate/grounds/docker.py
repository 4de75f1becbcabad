"""Engines as the ground of cells: finds or makes on each an image for each environment, with its tree in it."""

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
from paritygate.gate.grounds import engines
from paritygate.gate.grounds.engines import Engines, Served
from paritygate.gate.grounds.parts import Beside, Packages, Part, Trees
from paritygate.gate.request import World
from paritygate.gate.settled import Settled
from paritygate.host.lacking import Environments, Held
from paritygate.images import baking, carrying, keeping, preparing, projects
from paritygate.images.baking import BakeRequest
from paritygate.images.carrying import Route
from paritygate.images.installing import Way
from paritygate.images.layers import PrepareRequest
from paritygate.images.names import Kind
from paritygate.images.preparing import ImageSet
from paritygate.outcomes import artifact
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import Axis, RunnerName, Worktree
from paritygate.runners.docker import CellImage, DockerRunner
from paritygate.runners.pool import Member
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


class Stock(msgspec.Struct, frozen=True):
    """What an engine has for a run: the images with the trees, and those beneath."""

    images: Images
    beneath: ImageSet


def find_engine(world: World) -> Engine:
    """Find the engine, say which, and remove what runs whose owner is dead have left on it."""
    engine = world.connect()
    greet(engine, world)
    return engine


def greet(engine: Engine, world: World) -> None:
    """Say which engine it is, and remove what runs whose owner is dead have left on it."""
    info = engine.info
    world.say(f"engine: {info.name} {info.version} at {info.endpoint.url} ({info.endpoint.why})")
    _sweep(engine, world)


def find_engines(settled: Settled, world: World, only: str) -> Engines:
    """Find the engines of a run, and greet each."""
    return engines.find(settled, world, only, partial(greet, world=world))


class DockerGround:
    """Engines that answer."""

    name = RunnerName.DOCKER

    def __init__(self, found: Engines) -> None:
        self._engines = found
        self._stocks: dict[str, Stock] = {}

    def lacks(self, _mine: Environments, _every: Environments, _world: World) -> Mapping[Axis, Held]:
        """Say that every axis can vary, or that the cells themselves will say why not."""
        return {}

    def prepare(self, settled: Settled, trees: Trees, world: World, beside: Beside) -> Part:
        """Find or make the images, on every engine."""
        for each in self._engines.served:
            self._prepare_one(each, Wanted(settled, trees, world, beside.only))
        served = self._engines.served
        first, images = served[0], self._stocks[served[0].name].images
        members = tuple(
            Member(
                runner=(runner := DockerRunner(each.engine, self._stocks[each.name].images.of)),
                processors=each.engine.info.cpus,
                name=each.name,
                environments=frozenset(EnvironmentName(name) for name in each.environments),
                answers=runner.answers,
            )
            for each in served
        )
        several = len(members) > 1
        return Part(
            runner=members[0].runner,
            machine=engines.machine([each.engine.info for each in served]),
            images={name: self._recorded(name) for name in images.by_environment},
            notes=(*self._engines.notes, *images.notes),
            packages=lambda: packages_of(first.engine, images, settled),
            members=members if several else (),
            engines=tuple(each.record for each in served) if several else (),
        )

    def tidy(self, world: World) -> None:
        """Remove older snapshots of the project, which every change of its tree adds to, and what has no name."""
        several = len(self._engines.served) > 1
        for each in self._engines.served:
            if each.name in self._stocks and (not several or each.engine.answers()):
                keep_few_trees(each.engine, self._stocks[each.name].images, world)

    def _prepare_one(self, served: Served, wanted: Wanted) -> None:
        """Have the images on one engine: carried over from one of its platform, where there is one; else made there."""
        platform = served.engine.info.platform
        ready = (each for each in self._engines.served if each.name in self._stocks and each.engine.info.platform == platform)
        source = next(ready, None)
        try:
            if source is None:
                made = build_images(served.engine, wanted)
            else:
                made = carry_images(Route(source.engine, served.engine, served.name), self._stocks[source.name], wanted)
        except EngineError as error:
            if len(self._engines.served) == 1 or served.engine.answers():
                raise
            self._engines = self._engines.without(served, error.message)
            wanted.world.say(f"warning: {self._engines.notes[-1]}")
        else:
            self._stocks[served.name] = made

    def _recorded(self, name: EnvironmentName) -> artifact.CellImage:
        """Say the image of an environment as the first of its engines has it."""
        served = next((each for each in self._engines.served if name in each.environments), self._engines.served[0])
        images = self._stocks[served.name].images
        image = images.by_environment[name]
        return artifact.CellImage(name=image.tag, identity=images.trees[name].identity, tree=image.sentinel)


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


class Wanted(msgspec.Struct, frozen=True):
    """What images are wanted: those of the environments of some settings, or `only` of some, with these trees in them."""

    settled: Settled
    trees: Trees
    world: World
    only: frozenset[str] = frozenset()

    def request(self) -> PrepareRequest:
        """Ask for them."""
        some = next(iter(self.trees.values()))
        settled = self.settled
        return project_images.wanted(settled.project, Path(some.root), some.directory, settled.settings, self.world.variables)


def build_images(engine: Engine, wanted: Wanted) -> Stock:
    """Find or make the image of each environment with its tree in it."""
    return with_trees(engine, preparing.prepare(engine, wanted.request(), wanted.world.say), wanted, {})


def carry_images(route: Route, stock: Stock, wanted: Wanted) -> Stock:
    """Carry the images of the environments over to another engine, and put the trees into them as it was done on the first.

    Where a project is installed in a way that may come to something else there, the images with the trees are carried, too.
    """
    say = wanted.world.say
    prepared = carrying.environments(route, stock.beneath, say)
    trees = stock.images.trees
    ways = {name: Way(image.labels[baking.WAY_LABEL]) for name, image in trees.items()}
    if all(way in carrying.ALIKE_EVERYWHERE for way in ways.values()):
        return with_trees(route.target, prepared, wanted, ways)
    there = carrying.carry(route, tuple(trees.values()), say)
    return Stock(msgspec.structs.replace(stock.images, trees=dict(zip(trees, there, strict=True))), prepared)


def with_trees(engine: Engine, prepared: ImageSet, wanted: Wanted, ways: Mapping[EnvironmentName, Way]) -> Stock:
    """Put its tree into the image of each environment, in the way that is given for it, if one is."""
    request = wanted.request()
    by_environment: dict[EnvironmentName, CellImage] = {}
    by_tree: dict[Worktree, CellImage] = {}
    kept: dict[EnvironmentName, ImageRecord] = {}
    notes = list(prepared.notes)
    for name, each in wanted.settled.settings.environments.items():
        if wanted.only and name not in wanted.only:
            continue
        one = wanted.trees[each.worktree]
        bake = BakeRequest(
            images=prepared,
            environment=name,
            tree=one,
            pack=partial(snapshot_archive.pack, one, wanted.world.variables),
            access=request.access,
            logs=request.logs,
            fresh=_moment(wanted.world, FRESH),
            way=ways.get(EnvironmentName(name)),
        )
        baked = baking.bake(engine, bake, wanted.world.say)
        kept[EnvironmentName(name)] = baked
        image = CellImage(baking.name_of(bake), one.digest)
        notes += [f"{name}: {note}"] if (note := baking.note_of(baked)) else []
        by_environment[EnvironmentName(name)] = by_tree[each.worktree] = image
    images = Images(project=prepared.project, by_environment=by_environment, by_tree=by_tree, trees=kept, notes=tuple(notes))
    return Stock(images, prepared)


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
