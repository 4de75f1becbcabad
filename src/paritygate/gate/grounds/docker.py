"""Engines as the ground of cells: finds or makes on each an image for each environment, with its tree in it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import msgspec
from packaging.utils import canonicalize_name

from paritygate import case_trial
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import EngineError, NoVerdictError
from paritygate.gate.grounds import engines
from paritygate.gate.grounds.engines import Engines, Served
from paritygate.gate.grounds.parts import Beside, Packages, Part, Trees
from paritygate.gate.grounds.stock import Images, Stock, Wanted, build_images, carry_images, keep_few_trees, sweep
from paritygate.gate.request import World
from paritygate.gate.settled import Settled
from paritygate.host.lacking import Environments, Held
from paritygate.images import entry_points, projects
from paritygate.images.carrying import Route
from paritygate.outcomes import artifact
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.words import Axis, RunnerName
from paritygate.runners.docker import CellImage, DockerRunner
from paritygate.runners.pool import Member


def find_engine(world: World) -> Engine:
    """Find the engine, say which, and remove what runs whose owner is dead have left on it."""
    engine = world.connect()
    greet(engine, world)
    return engine


def greet(engine: Engine, world: World) -> None:
    """Say which engine it is, and remove what runs whose owner is dead have left on it."""
    info = engine.info
    world.say(f"engine: {info.name} {info.version} at {info.endpoint.url} ({info.endpoint.why})")
    sweep(engine, world)


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
            some = (each for each in (source, served) if each is not None and not each.engine.answers())
            lost = next(some, None) if len(self._engines.served) > 1 else None
            if lost is None:
                raise
            self._engines = self._engines.without(lost, error.message)
            self._stocks.pop(lost.name, None)
            wanted.world.say(f"warning: {self._engines.notes[-1]}")
            if lost is source:
                self._prepare_one(served, wanted)
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
        entry_points={name: text} if (text := entry_points.of(settled.project)) else {},
    )
