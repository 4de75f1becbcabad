"""A reproduction as a whole: read, choose, plan, run, compare."""

from __future__ import annotations

from functools import partial

import msgspec

from paritygate import archive, recorded
from paritygate.outcomes.artifact import Material
from paritygate.repro.choosing import Chosen, choose
from paritygate.repro.judging import judge
from paritygate.repro.planning import Planned, plan
from paritygate.repro.request import Answer, Wanted, World
from paritygate.runners.docker import DockerRunner


class Ready(msgspec.Struct, frozen=True):
    """A test, its cell, and how that is made once more."""

    chosen: Chosen
    material: Material
    planned: Planned


def prepare(wanted: Wanted) -> Ready:
    """Find out what is to be run; raises `UsageError` for what is no report, or not in it."""
    artifact = archive.read(wanted.report)
    material = recorded.material_of(artifact, wanted.report)
    chosen = choose(artifact, wanted)
    filled = recorded.with_variables(material, wanted.variables, wanted.report)
    return Ready(chosen, filled, plan(filled, chosen, alone=wanted.alone))


def run(wanted: Wanted, world: World) -> Answer:
    """Run a test once more in its cell, and say whether it does what it did; raises `NoVerdictError` where its image is gone."""
    ready = prepare(wanted)
    engine = world.connect()
    image = recorded.image_of(ready.material, engine, ready.planned.plan)
    cell = ready.chosen.cell
    world.say(f"running `{ready.chosen.test.nodeid}` once more in {cell.env}-{cell.attempt}, from the image `{image.tag}`")
    runner = DockerRunner(engine, partial(recorded.image_of, ready.material, engine))
    return judge(ready.chosen, ready.planned, runner.run(ready.planned.plan, world.watch))
