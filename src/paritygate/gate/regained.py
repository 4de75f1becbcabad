"""The engines of a run found again from its report, so that more of its cells can be run where its images are."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from paritygate import recorded
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import NoVerdictError
from paritygate.gate.grounds.docker import find_engine, greet
from paritygate.gate.request import World
from paritygate.outcomes.artifact import Artifact, EngineRecord, Material
from paritygate.outcomes.cells import EnvironmentName
from paritygate.runners.docker import DockerRunner
from paritygate.runners.pool import Member, Pool


def pool(artifact: Artifact, material: Material, world: World) -> Pool:
    """Find the engines of a report, or the usual one where it names none; raises `NoVerdictError` where no image is left."""
    if not artifact.engines:
        engine = find_engine(world)
        for plan in recorded.gate_plans(material):
            recorded.image_of(material, engine, plan)
        runner = DockerRunner(engine, partial(recorded.image_of, material, engine))
        return Pool((Member(runner=runner, processors=engine.info.cpus),), world.say)
    members = tuple(_members(artifact.engines, material, world))
    without = {plan.environment.name for plan in recorded.gate_plans(material) if not any(each.takes(plan) for each in members)}
    if without:
        listed = ", ".join(f"`{name}`" for name in sorted(without))
        raise NoVerdictError(f"no engine of the report is left for {listed}", recorded.AGAIN)
    return Pool(members, world.say)


def _members(engines: tuple[EngineRecord, ...], material: Material, world: World) -> Iterator[Member]:
    """Give those that answer and have the images of their environments, each once, and say which do not."""
    there: dict[str, Engine] = {}
    served: dict[str, tuple[str, frozenset[EnvironmentName]]] = {}
    for record in engines:
        try:
            engine = world.connect_to(record.name)
            _look(engine, record, material)
        except NoVerdictError as error:
            world.say(f"warning: the engine `{record.name}` was left out: {' '.join(error.message.split())}")
            continue
        url = engine.info.endpoint.url
        there.setdefault(url, engine)
        name, environments = served.get(url, (record.name, frozenset()))
        served[url] = (name, environments.union(record.environments))
    for url, engine in there.items():
        greet(engine, world)
        runner = DockerRunner(engine, partial(recorded.image_of, material, engine))
        name, environments = served[url]
        yield Member(runner=runner, processors=engine.info.cpus, name=name, environments=environments, answers=runner.answers)


def _look(engine: Engine, record: EngineRecord, material: Material) -> None:
    for plan in recorded.gate_plans(material):
        if plan.environment.name in record.environments:
            recorded.image_of(material, engine, plan)
