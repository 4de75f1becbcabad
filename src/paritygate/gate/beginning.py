"""What a run knows before any place for its cells is looked for, so that what was asked for in vain costs no engine."""

from __future__ import annotations

import msgspec

from paritygate.disciplines.freezing import Frozen
from paritygate.gate import guesses, ledger, locking, material, narrowing
from paritygate.gate.grounds.parts import Trees
from paritygate.gate.request import Request, World
from paritygate.gate.settled import Settled
from paritygate.outcomes.artifact import Changed
from paritygate.outcomes.plans import Selection


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """The request, settings, paths that must be locked, freezes, trees, and what of them is run and why."""

    request: Request
    settled: Settled
    locked: tuple[str, ...]
    frozen: Frozen
    trees: Trees
    asked: Selection
    changed: Changed | None


def begin(settled: Settled, request: Request, world: World) -> Begun:
    """Hold the locks, read the freezes, take the trees, and resolve against them what was asked for."""
    locked, frozen = locking.hold(settled, world), ledger.freezes_of(settled, request, world)
    trees = material.take_trees(settled, world)
    asked, changed = narrowing.narrow(material.select(settled, trees, request), request, settled, trees, world)
    for line in guesses.not_spelled(asked, trees):
        world.say(f"warning: {line}")
    return Begun(request=request, settled=settled, locked=locked, frozen=frozen, trees=trees, asked=asked, changed=changed)
