"""What cells are made of: the engine, the trees, the images, and the plans that follow from them."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path

import msgspec

from paritygate import environments, project_images, selection
from paritygate.docker_engine.requests import EngineInfo, ImageRecord
from paritygate.docker_engine.verbs import Engine
from paritygate.environments import Facts, Resolution
from paritygate.errors import EngineError, NoVerdictError
from paritygate.gate.request import Request, World
from paritygate.gate.settled import Settled
from paritygate.images import baking, keeping, preparing
from paritygate.images.baking import BakeRequest
from paritygate.images.names import Kind
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.plans import CellPlan, Environment, Filesystem, Selection
from paritygate.outcomes.trees import Tree
from paritygate.outcomes.words import Worktree
from paritygate.runners.docker import CellImage, DockerRunner
from paritygate.selection import Asked
from paritygate.snapshot import archive as snapshot_archive
from paritygate.snapshot import names, survey, tree

LONGEST_WAIT = 120.0
TREES_KEPT = 8
SHOWN = 5
# What a run uses was made not long ago, and what is removed at a run's end was made longer ago than any run may last: so no
# gate takes another's image away, though nothing on the engine says that it is in use between two cells.
FRESH = timedelta(hours=3)
KEPT = timedelta(hours=9)

Trees = dict[Worktree, Tree]


class Images(msgspec.Struct, frozen=True, kw_only=True):
    """The image of each environment, with the tree that it holds; `project` is the project's name in theirs.

    `trees` are the images as the engine described them, by environment, `notes` says what is remarkable about them.
    """

    project: str
    by_environment: dict[EnvironmentName, CellImage]
    by_tree: dict[Worktree, CellImage]
    base: str
    dependencies: str
    trees: dict[EnvironmentName, ImageRecord]
    notes: tuple[str, ...] = ()

    def of(self, plan: CellPlan) -> CellImage:
        """Choose the image that a cell starts from: its environment's, or any that holds the tree that it is to see."""
        return self.by_environment.get(plan.environment.name) or self.by_tree[plan.environment.worktree]

    def runner(self, engine: Engine) -> DockerRunner:
        """Make the runner that starts cells from these images."""
        return DockerRunner(engine, self.of)


class Planned(msgspec.Struct, frozen=True, kw_only=True):
    """The cells of the gate.

    `lacking` says for each environment which of the paths asked for its tree does not have, `nothing` of a tree that has none
    of them why. `shadowed` are the paths of each tree that where case does not count are those of others.
    """

    plans: tuple[CellPlan, ...]
    resolution: Resolution
    lacking: dict[EnvironmentName, tuple[str, ...]]
    nothing: dict[Worktree, str]
    shadowed: dict[Worktree, tuple[str, ...]] = {}

    def filesystem_of(self, environment: Environment) -> Filesystem | None:
        """Say which filesystem a cell of a further environment has beside those of the gate."""
        seed = next((each.filesystem.seed for each in self.plans if each.filesystem is not None), 0)
        return environments.filesystem_of(environment, self.resolution.environments, self.shadowed, seed)


def find_engine(world: World) -> Engine:
    """Find the engine, say which, and remove what runs whose owner is dead have left on it."""
    engine = world.connect()
    info = engine.info
    world.say(f"engine: {info.name} {info.version} at {info.endpoint.url} ({info.endpoint.why})")
    _sweep(engine, world)
    return engine


def take_trees(settled: Settled, world: World) -> Trees:
    """Take every state of the working tree that an environment sees."""
    states = {each.worktree for each in settled.settings.environments.values()}
    own = (settled.report.name,) if settled.report.parent == settled.project else ()
    request = survey.Request(
        project=str(settled.project),
        environ=dict(world.variables),
        include=settled.settings.include,
        own=(*survey.OWN, *own),
    )
    trees = tree.take_all(request, sorted(states))
    for line in mismatched_names(trees):
        world.say(f"warning: {line}")
    if pairs := colliding_names(trees):
        more = f" and {len(pairs) - SHOWN} more" if len(pairs) > SHOWN else ""
        world.say(f"warning: one name where case does not count: {', '.join(pairs[:SHOWN])}{more}")
    return trees


def mismatched_names(trees: Trees) -> tuple[str, ...]:
    """Say where git's index and the disk call a file by different names."""
    found = {
        f"`{each.tracked}` in git is `{each.on_disk}` on disk ({each.why})": None
        for one in trees.values()
        for each in one.mismatches
        if each.why != names.COLLISION
    }
    return tuple(found)


def colliding_names(trees: Trees) -> tuple[str, ...]:
    """Say which names in git's index are one where case does not count."""
    return tuple(dict.fromkeys(pair for one in trees.values() for pair in names.collisions(one.mismatches)))


def select(settled: Settled, trees: Trees, request: Request) -> Selection:
    """Resolve what was asked for against the trees."""
    words = selection.parse(settled.settings.selection)
    asked = Asked(
        paths=words.paths,
        keyword=request.keyword or words.keyword,
        marker=request.marker or words.marker,
        arguments=(*words.arguments, *request.arguments),
    )
    chosen = selection.select(asked, tuple(trees.values()))
    return msgspec.structs.replace(chosen, exclude=settled.settings.exclude)


def build_images(engine: Engine, settled: Settled, trees: Trees, world: World, *, only: frozenset[str] = frozenset()) -> Images:
    """Find or make the image of each environment, or `only` of some, with its tree in it."""
    some = next(iter(trees.values()))
    settings = settled.settings
    request = project_images.wanted(settled.project, Path(some.root), some.directory, settings, world.variables)
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
        base=prepared.base.identity,
        dependencies=prepared.dependencies,
        trees=kept,
        notes=tuple(notes),
    )


def keep_few_trees(engine: Engine, images: Images, world: World) -> None:
    """Remove older snapshots of the project, which every change of its tree adds to, and what has no name; all else stays."""
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


def plan(settled: Settled, trees: Trees, asked: Selection, engine: EngineInfo, world: World) -> Planned:
    """Resolve the axes for this moment and plan the gate's cells, waiting first where a short wait makes the dates differ."""
    estimate = settled.estimate
    facts = _facts(trees, engine, world, estimate)
    resolution = environments.resolve(settled.settings, facts)
    wait = min((zone.wait for zone in resolution.zones.values() if zone.wait), default=0.0)
    if 0 < wait <= LONGEST_WAIT:
        world.say(f"waiting {wait:.0f} s: until then no time zone has another date than the server's for the whole run")
        world.sleep(wait)
        resolution = environments.resolve(settled.settings, _facts(trees, engine, world, estimate))
    for note in resolution.notes:
        world.say(note)
    selections = {each.name: selection.for_tree(asked, trees[each.worktree]) for each in resolution.environments}
    kept = {name: chosen for name, (chosen, _) in selections.items() if chosen is not None}
    if not kept:
        raise NoVerdictError("nothing of the selection is in any tree that was to be tested", "name files that exist")
    return Planned(
        plans=environments.gate_plans(resolution.environments, settled.settings, kept, facts),
        resolution=resolution,
        lacking={name: lacking for name, (_, lacking) in selections.items() if lacking},
        nothing={
            each.worktree: f"its tree has none of {', '.join(f'`{path}`' for path in asked.paths) or 'the project'}"
            for each in resolution.environments
            if each.name not in kept
        },
        shadowed=facts.shadowed,
    )


def subject_of(trees: Trees) -> str:
    """Say what stands for what is tested: seeds that nobody gave follow from it."""
    return " ".join(sorted(one.digest for one in trees.values()))


def _facts(trees: Trees, engine: EngineInfo, world: World, estimate: float) -> Facts:
    some = next(iter(trees.values()))
    return Facts(
        cpus=engine.cpus,
        memory=engine.memory,
        now=world.now(),
        estimate_seconds=estimate,
        in_git=some.has_git or bool(some.commit),
        subject=subject_of(trees),
        shadowed={state: names.shadowed(entry.path for entry in one.entries) for state, one in trees.items()},
    )
