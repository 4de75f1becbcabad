"""The fixture lock of a run: held before any cell starts, and a cause where the tests themselves break it."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from paritygate.confirm.flow import Confirmation
from paritygate.disciplines import fixtures, records
from paritygate.gate.grounds.parts import Trees
from paritygate.gate.material import Planned
from paritygate.gate.request import World
from paritygate.gate.settled import Settled
from paritygate.locks import drift
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import LockedFile


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


def with_locked(planned: Planned, paths: Collection[str], trees: Trees) -> Planned:
    """Let the cells look after their tests whether locked files are still what was sent; a link is what it leads to, once."""
    if not paths:
        return planned
    wanted = frozenset(paths)
    locked = {
        state: tuple(
            LockedFile(entry.path, entry.sha256, entry.size)
            for entry in one.entries
            if entry.path in wanted and entry.kind == "file"
        )
        for state, one in trees.items()
    }
    return msgspec.structs.replace(planned, plans=tuple(msgspec.structs.replace(plan, locked=locked) for plan in planned.plans))


def attribute(confirmation: Confirmation, cells: tuple[Cell, ...]) -> Confirmation:
    """Say of divergences that come from locked files which tests have changed that they do."""
    return msgspec.structs.replace(confirmation, findings=drift.attributed(confirmation.findings, cells))
