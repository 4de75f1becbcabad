"""What an engine has for a run: an image for each environment, with its tree in it; made there, or carried over from another."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path

import msgspec

from paritygate import project_images
from paritygate.docker_engine.requests import ImageRecord
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import EngineError
from paritygate.gate.grounds.parts import Trees
from paritygate.gate.request import World
from paritygate.gate.settled import Settled
from paritygate.images import baking, carrying, keeping, preparing
from paritygate.images.baking import BakeRequest
from paritygate.images.carrying import Route
from paritygate.images.installing import Way
from paritygate.images.layers import PrepareRequest
from paritygate.images.names import Kind
from paritygate.images.preparing import ImageSet
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import Worktree
from paritygate.runners.docker import CellImage
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
        asked = project_images.wanted(settled.project, Path(some.root), some.directory, settled.settings, self.world.variables)
        folding, clocks = asked.case_folding or settled.own_filesystem, asked.clocks or settled.clocks
        return msgspec.structs.replace(asked, locales=settled.locales, case_folding=folding, clocks=clocks)


def build_images(engine: Engine, wanted: Wanted) -> Stock:
    """Find or make the image of each environment with its tree in it."""
    return with_trees(engine, preparing.prepare(engine, wanted.request(), wanted.world.begin), wanted, {})


def carry_images(route: Route, stock: Stock, wanted: Wanted) -> Stock:
    """Carry the images of the environments over to another engine, and put the trees into them as it was done on the first.

    Where a project is installed in a way that may come to something else there, the images with the trees are carried, too.
    """
    say = wanted.world.begin
    prepared = carrying.environments(route, stock.beneath, say)
    trees = stock.images.trees
    ways = {name: Way(image.labels[baking.WAY_LABEL]) for name, image in trees.items()}
    if all(way in carrying.ALIKE_EVERYWHERE for way in ways.values()):
        return with_trees(route.target, prepared, wanted, ways)
    there = carrying.carry(route, tuple(trees.values()), say)
    wanted.world.end_step()
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
        baked = baking.bake(engine, bake, wanted.world.begin)
        kept[EnvironmentName(name)] = baked
        image = CellImage(baking.name_of(bake), one.digest)
        notes += [f"{name}: {note}"] if (note := baking.note_of(baked)) else []
        by_environment[EnvironmentName(name)] = by_tree[each.worktree] = image
    wanted.world.end_step()
    images = Images(project=prepared.project, by_environment=by_environment, by_tree=by_tree, trees=kept, notes=tuple(notes))
    return Stock(images, prepared)


def sweep(engine: Engine, world: World) -> None:
    """Remove what runs whose owner is dead have left on an engine."""
    for line in engine.sweep():
        world.say(f"removed what an earlier run left: {line}")


def keep_few_trees(engine: Engine, images: Images, world: World) -> None:
    """Remove older snapshots of the project and what has no name; all else stays."""
    try:
        keeping.drop_nameless(engine, tuple(images.trees.values()))
        sweep(engine, world)
        keeping.prune(engine, TREES_KEPT, images.project, frozenset({Kind.TREE}), _moment(world, KEPT))
    except EngineError as error:
        world.say(f"older snapshots were not looked at: {error.message}")


def _moment(world: World, ago: timedelta) -> str:
    """Say a moment in the past as engines write it."""
    return (world.now() - ago).strftime("%Y-%m-%dT%H:%M:%S")
