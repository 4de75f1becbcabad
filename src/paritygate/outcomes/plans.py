"""What is about to run: environments with every axis resolved, and cells planned from them.

Pure values that every runner takes; nothing here decides what to run.
"""

from __future__ import annotations

import msgspec

from paritygate.outcomes.cells import EnvironmentName, TestId
from paritygate.outcomes.words import Axis, Purpose, Worktree


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """A name and a resolved value for every axis.

    `case_sensitive` is None where the axis is not provided and both sides take what the filesystem gives. `directory_order` is
    that in which folders list their names, empty for the filesystem's own.
    `cpus` is a number of processors and `memory` bytes, 0 for no limit of their own. `umask` is the number itself. `hash_seed` is
    None where each attempt's seed feeds PYTHONHASHSEED as well, and `user` is `root` or empty for the tests' own.
    `cpus` is a number of processors and `memory` bytes, 0 for no limit of their own. `umask` is the number itself.
    `clock` is the local time at which a cell begins, ISO 8601, empty for the true one.
    """

    name: EnvironmentName
    timezone: str
    locale: str
    case_sensitive: bool | None
    workers: int
    worktree: Worktree
    umask: int = 0o022
    directory_order: str = ""
    cpus: float = 0.0
    memory: int = 0
    clock: str = ""
    variables: dict[str, str] = {}
    hash_seed: int | None = None
    user: str = ""

    def value(self, axis: Axis) -> str:
        """Say the value of an axis as text, equal for equal values."""
        match axis:
            case Axis.CASE_SENSITIVE:
                return "any" if self.case_sensitive is None else str(self.case_sensitive).lower()
            case Axis.UMASK:
                return f"{self.umask:03o}"
            case Axis.VARIABLES:
                return " ".join(f"{name}={value}" for name, value in sorted(self.variables.items()))
            case Axis.CLOCK:
                return self.clock or "true"
            case Axis.HASH_SEED | Axis.IMAGE | Axis.TIMEZONE | Axis.LOCALE | Axis.WORKERS | Axis.WORKTREE | Axis.CPUS:
                return self._plain(axis)
            case Axis.MEMORY | Axis.DIRECTORY_ORDER | Axis.USER:
                return self._plain(axis)

    def _plain(self, axis: Axis) -> str:
        found = getattr(self, axis.value, None)
        return "" if found is None else str(found)


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What bounds a cell: seconds for the cell, for one test, and without any event; processes; bytes."""

    cell_seconds: float = 1800.0
    test_seconds: float = 300.0
    idle_seconds: float = 600.0
    processes: int = 512
    memory: int = 0
    shared_memory: int = 1 << 30
    open_files: int = 65536


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """In which order a cell runs its tests.

    `seed` orders by hashing ids; `reversed` turns that order round. `exactly`, when given, is the order itself and nothing
    else runs. `only`, when given, leaves out every other test and keeps the order. `shares`, when given, is `exactly` for each
    worker by its name (`gw0`), so that nothing is shared out anew.
    """

    seed: int
    reversed: bool = False
    exactly: tuple[TestId, ...] = ()
    only: tuple[TestId, ...] = ()
    shares: tuple[tuple[str, tuple[TestId, ...]], ...] = ()


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a selection that one shard runs: shard `number` (from 1) of `total`.

    `files` says of test files, by their paths from the tree's top, to which shard they belong; a digest of its path decides of
    any other, so that whatever is collected is in exactly one.
    """

    number: int
    total: int
    files: dict[str, int]


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """Which tests pytest is asked for; `directory` is the project's place in the tree, empty for its top.

    `exclude` are markers whose tests are left out and listed, each with its reason. Of what is selected only `share` runs, where
    there is one.
    """

    paths: tuple[str, ...] = ()
    keyword: str = ""
    marker: str = ""
    arguments: tuple[str, ...] = ()
    directory: str = ""
    exclude: dict[str, str] = {}
    share: Share | None = None


class Filesystem(msgspec.Struct, frozen=True, kw_only=True):
    """The filesystem of a cell whose names are looked after: whether it takes names for one that differ by case alone (`fold`).

    `order` is that in which folders list their names: `created`, `sorted`, `reversed`, `shuffled` by `seed`, or empty for one
    that never changes and that nobody meant, as that of ordinary filesystems is. `shadowed` are the paths of the workspace whose
    names are those of others where case does not count: folders become one, of files the first stays.
    """

    fold: bool
    order: str = ""
    seed: int = 0
    shadowed: tuple[str, ...] = ()


class LockedFile(msgspec.Struct, frozen=True):
    """A locked file as it is sent: its path from the tree's top, sha256 and bytes."""

    path: str
    sha256: str
    size: int


class CellPlan(msgspec.Struct, frozen=True, kw_only=True):
    """One cell to run: everything but the place where it runs; without `filesystem` it is on the engine's own.

    `seed` feeds pytest-randomly, and PYTHONHASHSEED where `hash_seed` is None and the environment has none. Without `reseeds`
    pytest-randomly seeds random numbers at the start alone, and not before each test. With `watched` each test is to say which
    of these paths of the tree it touches (whole folders have `/` at their ends), and which fixtures it uses that a process sets
    up once.
    `locked` are, for each state of the tree, the files that have to be after the tests what they were before. With `respect_pins`
    the pins that a suite asks for go over the environment. With `clocks` programs ask a library of ours for
    the time, whether it is moved or not, so that nothing but the time differs from an environment where it is; with `clock_files`
    what the cell writes has its clock's time as well, instead of the true one.
    """

    environment: Environment
    attempt: int
    seed: int
    order: Order
    purpose: Purpose
    selection: Selection
    limits: Limits
    network: bool = False
    filesystem: Filesystem | None = None
    hash_seed: int | None = None
    reseeds: bool = True
    locked: dict[Worktree, tuple[LockedFile, ...]] = {}
    watched: tuple[str, ...] | None = None
    respect_pins: bool = False
    clocks: bool = False
    clock_files: bool = False

    @property
    def name(self) -> str:
        """Say which cell this is, for people and for container names."""
        return f"{self.environment.name}-{self.attempt}"


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """Where one cell stands: `step` says what it does, `running` the tests under way by worker."""

    cell: str
    step: str
    collected: int = 0
    done: int = 0
    red: int = 0
    running: tuple[TestId, ...] = ()
