"""What every ground gives a run: a runner, the machine that it is on, and what is to be known of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import msgspec

from paritygate.gate.request import World
from paritygate.gate.settled import Settled
from paritygate.host.lacking import Held
from paritygate.outcomes.artifact import CellImage
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.trees import Tree
from paritygate.outcomes.words import Axis, RunnerName, Worktree
from paritygate.runners.protocol import Runner

Trees = dict[Worktree, Tree]


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """What cells run on; `memory` is bytes (0: unknown), `cpus` what it may use."""

    name: str
    version: str
    platform: str
    cpus: int
    memory: int


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A ground that is ready; `images` are those of its environments, by name, where it has any."""

    runner: Runner
    machine: Machine
    images: dict[EnvironmentName, CellImage] = {}
    notes: tuple[str, ...] = ()


class Ground(Protocol):
    """A place where cells can run."""

    @property
    def name(self) -> RunnerName:
        """Say which runner its cells have."""

    def lacks(self, settled: Settled, world: World) -> Mapping[Axis, Held]:
        """Say which axes cannot vary there, and what holds of them instead."""

    def prepare(self, settled: Settled, trees: Trees, world: World) -> Part:
        """Make it ready for the trees; `settled` has its own environments alone."""

    def tidy(self, world: World) -> None:
        """Remove what later runs will not use, at the end of one that came to it."""
