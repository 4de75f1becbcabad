"""A reproduction as a whole: read, choose, plan, run, compare."""

from __future__ import annotations

import shlex
from functools import partial

import msgspec

from paritygate import archive, console, recorded
from paritygate.docker_engine.lines import run_line
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import UsageError
from paritygate.outcomes.artifact import Finding, Material
from paritygate.repro import command
from paritygate.repro.choosing import Chosen, choose
from paritygate.repro.judging import judge
from paritygate.repro.planning import Planned, plan
from paritygate.repro.request import Answer, Wanted, World
from paritygate.runners.docker import DockerRunner


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """A test, its cell, and how that is made once more; `alike` says how many tests have its id."""

    finding: Finding
    chosen: Chosen
    material: Material
    planned: Planned
    alike: int

    @property
    def image(self) -> str:
        """Say the name of the cell's image."""
        return recorded.name_of(self.material, self.planned.plan)

    @property
    def cell(self) -> str:
        """Say which cell it is."""
        return f"{self.chosen.cell.env}-{self.chosen.cell.attempt}"


def prepare(wanted: Wanted) -> Ready:
    """Find out what is to be run; raises `UsageError` for what is no report, or not in it."""
    artifact = archive.read(wanted.report)
    material = recorded.material_of(artifact, wanted.report)
    chosen = choose(artifact, wanted)
    filled = recorded.with_variables(material, wanted.variables, wanted.report)
    some = [each for each in artifact.tests if each.nodeid == chosen.test.nodeid]
    return Ready(
        finding=next(each for each in some if each.occurrence == chosen.test.occurrence),
        chosen=chosen,
        material=filled,
        planned=plan(filled, chosen, alone=wanted.alone),
        alike=len(some),
    )


def engine_of(ready: Ready, world: World) -> Engine:
    """Find the engine on which the cell ran."""
    name = ready.chosen.cell.engine
    return world.connect_to(name) if name else world.connect()


def run(wanted: Wanted, world: World) -> Answer:
    """Run a test once more in its cell, and say whether it does what it did; raises `NoVerdictError` where its image is gone."""
    ready = prepare(wanted)
    engine = engine_of(ready, world)
    recorded.image_of(ready.material, engine, ready.planned.plan)
    world.say(f"running `{ready.chosen.test.nodeid}` once more in {ready.cell}, from the image `{ready.image}`")
    runner = DockerRunner(engine, partial(recorded.image_of, ready.material, engine))
    return judge(ready.chosen, ready.planned, runner.run(ready.planned.plan, world.watch), ready.finding.cause)


def line(wanted: Wanted, world: World) -> str:
    """Write a line that runs the test in the same cell without paritygate, and say what that lacks."""
    ready = prepare(wanted)
    engine = engine_of(ready, world)
    recorded.image_of(ready.material, engine, ready.planned.plan)
    test = command.pytest_command(ready.planned, ready.chosen.cell, ready.chosen.test.nodeid)
    for lack in command.lacking(ready.planned, ready.finding, ready.alike):
        world.say(f"note: {lack}")
    return run_line(command.request(ready.planned.plan, ready.image, engine.info, test), engine.info)


def shell(wanted: Wanted, world: World) -> None:
    """Open a shell in the cell, on the user's terminal, until it ends."""
    ready = prepare(wanted)
    if not console.is_there():
        raise UsageError("a shell takes a terminal, and stdin or stdout is none", "run it from a terminal, or use `--print`")
    engine = engine_of(ready, world)
    image = recorded.image_of(ready.material, engine, ready.planned.plan)
    test = command.pytest_command(ready.planned, ready.chosen.cell, ready.chosen.test.nodeid)
    world.say(f"a shell in {ready.cell}, from the image `{ready.image}`; nothing that is changed in it stays")
    world.say(f"the test: {shlex.join(test)}")
    with engine.container(command.shell(ready.planned.plan, image.tag, engine.info)) as container:
        streams = container.attach()
        container.start()
        console.lend(streams.write, (piece for _, piece in streams.frames()), container.resize)
