"""Drives the live view as a run of four cells does, quickly: not a test, but what tests put on a terminal."""

from __future__ import annotations

import sys

from paritygate.cli.user import Streams
from paritygate.outcomes.cells import EnvironmentName, NodeId, TestId
from paritygate.outcomes.plans import Progress
from paritygate.reports.live import Live
from tests.support.plans import a_plan, an_environment

SLOW = TestId(NodeId("tests/test_orders.py::test_all_of_them_at_once"))


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def main() -> None:
    clock = Clock()
    verbose = "-v" in sys.argv
    with Live(Streams().progress, verbose=verbose, clock=clock) as live:
        live.say("engine: Docker Engine 20.10.24 at unix:///var/run/docker.sock")
        live.step("putting the dirty tree into the image of `local-like`")
        clock.now += 9
        environments = [an_environment(name=EnvironmentName(name)) for name in ("local-like", "server-like")]
        plans = [a_plan(environment, attempt=attempt) for attempt in (1, 2) for environment in environments]
        live.expect(dict.fromkeys((plan.name for plan in plans), 40.0))
        live.announce(plans)
        for name in ("local-like-1", "server-like-1"):
            live.watch(Progress(cell=name, step="running", collected=120, done=0))
        clock.now += 10
        live.watch(Progress(cell="local-like-1", step="running", collected=120, done=60, red=1))
        live.watch(Progress(cell="server-like-1", step="running", collected=120, done=31, running=(SLOW,)))
        clock.now += 7
        live.watch(Progress(cell="local-like-1", step="finished", collected=120, done=120, red=2))
        if "--hold" in sys.argv:
            clock.now += 100
            live.tick()


main()
