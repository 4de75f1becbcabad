"""The fixture lock of a run: held before any cell starts, and a cause where the tests themselves break it."""

from __future__ import annotations

import msgspec

from paritygate.confirm.flow import Confirmation
from paritygate.disciplines import fixtures, records
from paritygate.gate.request import World
from paritygate.gate.settled import Settled
from paritygate.locks import drift
from paritygate.outcomes.cells import Cell


def hold(settled: Settled, world: World) -> tuple[str, ...]:
    """Make sure that the lock holds and list the locked files, from the tree's top; raises `RefusedError` where it does not."""
    place = records.of(settled.project, world.variables)
    shelf = fixtures.open_shelf(place, settled.settings)
    if shelf is None:
        return ()
    checked = fixtures.check(shelf)
    fixtures.refuse_broken(shelf, checked)
    for path in checked.converted:
        world.say(f"`{path}` has other line endings here than in git, which converts them")
    return tuple(place.from_top(path) for path in checked.digests)


def attribute(confirmation: Confirmation, cells: tuple[Cell, ...]) -> Confirmation:
    """Say of divergences that come from locked files which tests have changed that they do."""
    return msgspec.structs.replace(confirmation, findings=drift.attributed(confirmation.findings, cells))
