"""A reproduction as a whole: read, choose, plan, run, compare."""

from __future__ import annotations

import shlex
from functools import partial

import msgspec

from paritygate import archive, console, recorded
from paritygate.docker_engine.lines import run_line
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import UsageError
from paritygate.outcomes.artifact import Artifact, Finding, Material
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.words import RunnerName
from paritygate.repro import command, plain
from paritygate.repro.choosing import Chosen, choose
from paritygate.repro.judging import judge
from paritygate.repro.planning import Planned, plan
from paritygate.repro.request import Answer, Wanted, World
from paritygate.runners.docker import DockerRunner
from paritygate.runners.pool import run_side_by_side


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """A test, its cell, and how that is made once more; `alike` says how many tests have its id."""

    artifact: Artifact
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

    @property
    def on_engine(self) -> bool:
        """Say whether the cell ran on an engine, and so has an image."""
        return self.chosen.cell.runner is RunnerName.DOCKER


def prepare(wanted: Wanted) -> Ready:
    """Find out what is to be run; raises `UsageError` for what is no report, or not in it."""
    artifact = archive.read(wanted.report)
    material = recorded.material_of(artifact, wanted.report)
    chosen = choose(artifact, wanted)
    filled = recorded.with_variables(material, wanted.variables, wanted.report)
    some = [each for each in artifact.tests if each.nodeid == chosen.test.nodeid]
    return Ready(
        artifact=artifact,
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
    return judge(ready.chosen, ready.planned, _ran(ready, world), ready.finding.cause)


def _ran(ready: Ready, world: World) -> Cell:
    """Run the cell once more where it ran."""
    what = f"running `{ready.chosen.test.nodeid}` once more in {ready.cell}"
    if not ready.on_engine:
        with world.runner_of(ready.artifact, ready.material) as pool:
            world.say(f"{what}, on {ready.chosen.cell.runner}")
            return run_side_by_side((ready.planned.plan,), pool, world.watch)[0]
    engine = engine_of(ready, world)
    recorded.image_of(ready.material, engine, ready.planned.plan)
    world.say(f"{what}, from the image `{ready.image}`")
    return DockerRunner(engine, partial(recorded.image_of, ready.material, engine)).run(ready.planned.plan, world.watch)


def line(wanted: Wanted, world: World) -> str:
    """Write a line that runs the test in the same cell without paritygate, and say what that lacks."""
    ready = prepare(wanted)
    test = command.pytest_command(ready.planned, ready.chosen.cell, ready.chosen.test.nodeid)
    lacks = command.lacking(ready.planned, ready.finding, ready.alike)
    if not ready.on_engine:
        for lack in (*lacks, *plain.lacking(ready.planned.plan, ready.chosen.cell)):
            world.say(f"note: {lack}")
        return plain.line(ready.planned.plan, test, wanted.project)
    engine = engine_of(ready, world)
    recorded.image_of(ready.material, engine, ready.planned.plan)
    for lack in lacks:
        world.say(f"note: {lack}")
    return run_line(command.request(ready.planned.plan, ready.image, engine.info, test), engine.info)


def shell(wanted: Wanted, world: World) -> None:
    """Open a shell in the cell, on the user's terminal, until it ends."""
    ready = prepare(wanted)
    if not ready.on_engine:
        what = f"a shell is for cells in containers, and {ready.cell} ran on {ready.chosen.cell.runner}"
        raise UsageError(what, "`--print` gives a line for the shell that you are in")
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
