"""Looks for causes afterwards, from an artifact: the gate's own search, in its images, whatever the disk holds by now.

What ran without an engine left no images: it is run from the checkout, while that holds what was tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from paritygate import archive, places, recorded
from paritygate.classifier.sides import DIVERGENT
from paritygate.gate import regained, spread
from paritygate.gate.again import Checkout, found_again
from paritygate.gate.cells import Cells
from paritygate.gate.explaining import Budget
from paritygate.gate.going_on import GoingOn, told_by_rules
from paritygate.gate.request import Report, Stopwatch, World
from paritygate.outcomes.artifact import Artifact, Material
from paritygate.outcomes.words import Purpose
from paritygate.process import Interruption
from paritygate.runners.pool import Pool

LONGEST_SECONDS = 3600.0
"""What bounds a search for which no time was given: begun batches of cells end, and no other begins."""


class Afterwards(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for: the report, where to write it (the same place, if nowhere else), for how many seconds, secret values.

    `project` is the checkout, for cells that ran without an engine.
    """

    report: Path
    project: Path
    place: Path | None = None
    seconds: float | None = None
    variables: Mapping[str, str] = {}


def run(asked: Afterwards, world: World) -> Report:
    """Look for the causes of all that diverges in a report, and write the report with them.

    Raises `UsageError` for what is no report or does not know its cells, `NoVerdictError` where their images are gone.
    """
    watch = Stopwatch(world.monotonic)
    artifact = archive.read(asked.report)
    place = places.plain(asked.report if asked.place is None else asked.place)
    places.check(place)
    seconds = LONGEST_SECONDS if asked.seconds is None else asked.seconds
    if not is_open(artifact) or seconds <= 0:
        world.say("nothing that diverges is without its cause" if seconds > 0 else "no time was given to look for causes")
        return Report(artifact, place, archive.record(artifact, place) if asked.place is not None else None)

    material = recorded.with_variables(recorded.material_of(artifact, asked.report), asked.variables, asked.report)
    with _pool(artifact, material, asked, world) as pool:
        if known := sum(cell.purpose is Purpose.HYBRID for cell in artifact.cells):
            world.say(f"the search goes on from the report: {known} cells of it, which do not run again, and its causes")
        if ruled := len(told_by_rules(artifact)):
            say_of_rules = f"{ruled} test{'s part' if ruled != 1 else ' parts'} by the rules of the sweep"
            world.say(f"{say_of_rules}: these are the causes, and nothing further is looked for there")
        going_on = GoingOn(artifact, material, Cells(pool, material.nothing, world, material.runners).explain)
        try:
            explained = going_on.explained(Budget(seconds=seconds, monotonic=world.monotonic))
        except Interruption:
            kept = msgspec.structs.replace(going_on.so_far(), engines=spread.with_losses(artifact.engines, pool.lost))
            if archive.record(kept, place) is None:
                world.say(f"report: {place}, with what was found so far: `paritygate explain {place}` goes on")
            raise
    watch.lap("causes")
    explained = msgspec.structs.replace(
        explained,
        timings=artifact.timings | {"causes": watch.seconds["causes"]},
        engines=spread.with_losses(artifact.engines, pool.lost),
    )
    return Report(explained, place, archive.record(explained, place))


@contextmanager
def _pool(artifact: Artifact, material: Material, asked: Afterwards, world: World) -> Iterator[Pool]:
    """Have what runs further cells: from images, which hold the trees, or on the same runners from the checkout."""
    if material.runners:
        with found_again(artifact, material, Checkout(asked.project, asked.report.resolve()), world) as ready:
            yield ready.pool
        return
    pool = regained.pool(artifact, material, world)
    said = ", ".join(f"{state} {digest[:12]}" for state, digest in artifact.subject.trees.items())
    world.say(f"the trees are those of the report, whatever the disk holds by now: {said}")
    yield pool


def is_open(artifact: Artifact) -> bool:
    """Say whether anything that diverges has no cause."""
    return any(each.cause is None for each in artifact.tests if each.label in DIVERGENT)
