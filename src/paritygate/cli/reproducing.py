"""What `paritygate repro` needs of its process: an engine for cells that have images, and the gate's runners for all others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from paritygate.cli.options import ReproOptions
from paritygate.cli.user import engine_at, world
from paritygate.gate.again import Checkout, found_again
from paritygate.outcomes.artifact import Artifact, Material
from paritygate.reports.live import Live
from paritygate.repro.request import World
from paritygate.runners.pool import Pool


def repro_world(options: ReproOptions, live: Live) -> World:
    """Gather it."""
    wanted = options.wanted()

    @contextmanager
    def runner_of(artifact: Artifact, material: Material) -> Iterator[Pool]:
        checkout = Checkout(wanted.project, wanted.report.resolve())
        with found_again(artifact, material, checkout, world(options.host, live)) as ready:
            yield ready.pool

    return World(
        connect=lambda: engine_at(options.host),
        runner_of=runner_of,
        say=live.say,
        watch=live.watch,
        connect_to=lambda named: engine_at(options.host, named),
    )
