"""What every ground gives a run: a runner, the machine that it is on, and what is to be known of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import msgspec

from paritygate.gate.request import World
from paritygate.gate.settled import Settled
from paritygate.host.lacking import Environments, Held
from paritygate.outcomes.artifact import CellImage, EngineRecord
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.trees import Tree
from paritygate.outcomes.words import Axis, RunnerName, Worktree
from paritygate.runners.pool import Member
from paritygate.runners.protocol import Runner

Trees = dict[Worktree, Tree]


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """What cells run on; `memory` is bytes (0: unknown), `cpus` what it may use."""

    name: str
    version: str
    platform: str
    cpus: int
    memory: int


class Packages(msgspec.Struct, frozen=True, kw_only=True):
    """What an environment has installed, by name, for another one to have the same; `version` is Python's.

    `own` are those that are the project itself, installed in its tree; `roots` the folders of the tree that hold its modules,
    and `entry_points` the commands and plugins that it offers, as such files are written.
    """

    version: str
    distributions: dict[str, str]
    own: frozenset[str] = frozenset()
    roots: tuple[str, ...] = ()
    entry_points: dict[str, str] = {}


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A ground that is ready; `images` are those of its environments, by name, where it has any.

    `packages` finds out what its environments have installed, for grounds that have to be made like it.
    Where cells can run in several places of it, `members` are those, and `engines` say what they are.
    """

    runner: Runner
    machine: Machine
    images: dict[EnvironmentName, CellImage] = {}
    notes: tuple[str, ...] = ()
    packages: Callable[[], Packages] | None = None
    members: tuple[Member, ...] = ()
    engines: tuple[EngineRecord, ...] = ()


class Beside(msgspec.Struct, frozen=True):
    """What a ground is made beside: the part of the run that is ready before it, if any, and the `only` environments to run."""

    like: Part | None = None
    only: frozenset[str] = frozenset()


class Ground(Protocol):
    """A place where cells can run."""

    @property
    def name(self) -> RunnerName:
        """Say which runner its cells have."""

    def lacks(self, mine: Environments, every: Environments, world: World) -> Mapping[Axis, Held]:
        """Say which axes cannot vary because of its own environments, and what holds of them in every one instead."""

    def prepare(self, settled: Settled, trees: Trees, world: World, beside: Beside) -> Part:
        """Make it ready for the trees."""

    def tidy(self, world: World) -> None:
        """Remove what later runs will not use, at the end of one that came to it."""
