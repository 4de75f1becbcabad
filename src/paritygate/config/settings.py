"""The configuration: what a project may set, with every default and what it means.

It reads nothing: `config.file` does, and `docs/configuration.md` is generated from what stands here.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from paritygate.outcomes.words import Axis, OrderRule, RunnerChoice, Worktree

Count = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(gt=0)]
Seed = Annotated[int, Meta(ge=0, le=2**32 - 1)]
Workers = Annotated[int, Meta(ge=0)]
USUAL_REPORT = "parity_report.json"
USUAL_SWEEP = "parity_sweep.json"


class ImageSettings(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """`[tool.paritygate.image]`: from what the images are made, where that is not found out."""

    base: Annotated[str, Meta(description="Image to start from; empty: `python:X-slim`, or the bootstrapped one")] = ""
    python: Annotated[str, Meta(description="Python version, such as `3.12`, from 3.8 up; empty: what the project asks for")] = ""
    system_packages: Annotated[tuple[str, ...], Meta(description="Packages of the distribution to install")] = ()
    install: Annotated[tuple[str, ...], Meta(description="Commands that install the dependencies, instead of those found")] = ()
    install_project: Annotated[
        bool | str,
        Meta(
            description="Whether the project itself is installed, editable, in its tree; text: the command that does it instead, "
            "run in the project's folder"
        ),
    ] = True
    extra_ca_certs: Annotated[
        str, Meta(description="File with further certificates (PEM) to trust while installing, relative to the project")
    ] = ""


class HostSettings(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """`[tool.paritygate.host]`: with what cells run on this computer itself, where they do."""

    python: Annotated[
        str,
        Meta(
            description="Interpreter that runs the tests, relative to the project; empty: that of `VIRTUAL_ENV`, of the "
            "project's `.venv`, or the one that runs paritygate"
        ),
    ] = ""


class EnvironmentSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[tool.paritygate.environments.NAME]`: a value for each axis."""

    timezone: Annotated[
        str,
        Meta(
            description="Zone of the tz database, or `auto`: one whose calendar date differs, during the whole run, from that "
            "of the first environment with a fixed zone"
        ),
    ] = "UTC"
    locale: Annotated[str, Meta(description="`C`, `POSIX`, `C.UTF-8` or a name such as `de_DE.UTF-8`")] = "C.UTF-8"
    case_sensitive: Annotated[
        bool | Literal["any"], Meta(description="Whether file names differ by case; `any`: as the engine's filesystem has it")
    ] = True
    workers: Annotated[
        Workers | Literal["auto"],
        Meta(description="Workers of pytest-xdist; 0: run without it; `auto`: the cell's processors, at least 2"),
    ] = 0
    worktree: Annotated[
        Worktree,
        Meta(description="`dirty`: the working tree as it lies; `clean`: what a fresh clone with the patch would hold"),
    ] = Worktree.CLEAN
    cpus: Annotated[float, Meta(ge=0, description="Processors that the cell may use; 0: all")] = 0.0
    memory: Annotated[str, Meta(description="Memory of the cell, such as `512m` or `2g`; empty: the setting for all")] = ""
    umask: Annotated[str, Meta(description="File mode mask, octal, as text")] = "022"
    directory_order: Annotated[
        Literal["", "created", "sorted", "reversed", "shuffled"],
        Meta(description="Order in which folders list their names; empty: the filesystem's own, which nobody meant"),
    ] = ""
    clock: Annotated[
        str,
        Meta(
            description="Local time at which each cell begins and from which it moves on, such as `2028-02-29T23:59:30`; "
            "empty: the true one"
        ),
    ] = ""
    variables: Annotated[dict[str, str], Meta(description='Environment variables of the tests, such as `CI = "true"`')] = {}
    runner: Annotated[
        Literal["", "docker", "host", "ssh"], Meta(description="Where its cells run; empty: where the setting for all says")
    ] = ""
    engine: Annotated[
        str,
        Meta(
            description="With `docker`, on which engine: a Docker context, or an address such as `tcp://HOST:2376`; empty: "
            "where the setting for all says"
        ),
    ] = ""
    target: Annotated[
        str,
        Meta(
            description="With `ssh`, on which computer: `user@host`, or a name of the ssh configuration; empty: "
            "`PARITY_SSH_TARGET`"
        ),
    ] = ""


class PinSettings(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """`[tool.paritygate.pins]`: what a pinned pytest has, whoever's machine it runs on."""

    timezone: Annotated[str, Meta(description="Zone of the tz database, for `TZ`")] = "UTC"
    locale: Annotated[str, Meta(description="Locale, for `LC_ALL` and `LANG`")] = "C.UTF-8"
    hash_seed: Annotated[Seed, Meta(description="What strings are hashed with, for `PYTHONHASHSEED`; 0: not at random")] = 0
    random_seed: Annotated[
        Seed, Meta(description="Seed of `random`, of numpy once it is loaded, and of pytest-randomly where nobody gives it one")
    ] = 0
    bytecode: Annotated[bool, Meta(description="Whether bytecode is written; else `PYTHONDONTWRITEBYTECODE` is set")] = False


def _swept(what: str) -> object:
    return Meta(description=f"{what}; empty: those of the table")


class SweepSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`[tool.paritygate.sweeps]`: the values of a project's own that an axis is swept over."""

    timezone: Annotated[tuple[str, ...], _swept("Zones of the tz database")] = ()
    locale: Annotated[tuple[str, ...], _swept("Locales, also with Python's UTF-8 mode, as `C+PYTHONUTF8=0`")] = ()
    hash_seed: Annotated[tuple[str, ...], _swept("Numbers for `PYTHONHASHSEED`, as texts")] = ()
    workers: Annotated[tuple[str, ...], _swept("Numbers of workers as texts, or `auto`")] = ()
    clock: Annotated[
        tuple[str, ...],
        _swept("Local times such as `2028-02-29T12:00:00`, `short-day`, `long-day` as the zone has them, or `true`"),
    ] = ()
    directory_order: Annotated[tuple[str, ...], _swept("`sorted`, `reversed`, `shuffled`")] = ()
    umask: Annotated[tuple[str, ...], _swept("File mode masks, octal")] = ()
    cpus: Annotated[tuple[str, ...], _swept("Numbers of processors as texts, such as `0.5`, or `all`")] = ()
    memory: Annotated[tuple[str, ...], _swept("Amounts such as `512m`, or `all`")] = ()
    variables: Annotated[tuple[str, ...], _swept("`NAME=VALUE` each, `HOME=read-only`, or `none`")] = ()
    user: Annotated[tuple[str, ...], _swept("`tests`, `root`")] = ()

    def of(self, axis: Axis) -> tuple[str, ...]:
        """Give the values of one axis."""
        found = getattr(self, axis.value, ())
        return tuple(str(each) for each in found)


LOCAL_LIKE = EnvironmentSettings(timezone="auto", locale="en_US.UTF-8", case_sensitive=False, workers=0, worktree=Worktree.DIRTY)
SERVER_LIKE = EnvironmentSettings(timezone="UTC", locale="C.UTF-8", case_sensitive=True, workers="auto", worktree=Worktree.CLEAN)


def default_environments() -> dict[str, EnvironmentSettings]:
    """Make the pair that a project has without saying anything."""
    return {"local-like": LOCAL_LIKE, "server-like": SERVER_LIKE}


class Settings(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """`[tool.paritygate]`. Seconds for every timeout; `memory` and `shared-memory` as `512m` or `2g`."""

    selection: Annotated[tuple[str, ...], Meta(description="What pytest is asked for: paths, node ids, `-k` and `-m`")] = ()
    attempts: Annotated[Count, Meta(description="Runs in each environment")] = 2
    seeds: Annotated[
        tuple[Seed, ...],
        Meta(
            description="Seeds of the first attempts, further ones follow from the last; empty: they follow from the content "
            "of the working tree"
        ),
    ] = ()
    order: Annotated[
        OrderRule,
        Meta(description="Order of every second attempt: that of the one before `reversed`, or `seeded` by its own seed"),
    ] = OrderRule.REVERSED
    runner: Annotated[
        RunnerChoice,
        Meta(
            description="Where cells run: `docker`, `host` (this computer itself, which keeps less apart), `ssh` (the `target` "
            "of each environment), or `auto`: where an engine answers on that, else, except under `CI`, on `host`"
        ),
    ] = RunnerChoice.AUTO
    engines: Annotated[
        tuple[str, ...],
        Meta(
            description="Engines that share the cells: Docker contexts, or addresses such as `tcp://HOST:2376`; empty: "
            "the one that is found"
        ),
    ] = ()
    report: Annotated[str, Meta(description="Where the artifact is written, relative to the project")] = USUAL_REPORT
    network: Annotated[bool, Meta(description="Whether tests may reach a network")] = False
    include: Annotated[tuple[str, ...], Meta(description="Secret-like files that are sent all the same")] = ()
    cell_timeout: Annotated[Seconds, Meta(description="Seconds for one cell")] = 1800.0
    test_timeout: Annotated[Seconds, Meta(description="Seconds for one test")] = 300.0
    idle_timeout: Annotated[Seconds, Meta(description="Seconds without a word from a cell")] = 600.0
    processes: Annotated[Count, Meta(description="Processes and threads that a cell may have at a time")] = 512
    memory: Annotated[str, Meta(description="Memory of each cell; empty: the engine's, divided by the cells at once")] = ""
    shared_memory: Annotated[str, Meta(description="Size of `/dev/shm`")] = "1g"
    open_files: Annotated[Count, Meta(description="Files that a process may hold open")] = 65536
    exclude: Annotated[
        dict[str, str],
        Meta(
            description='Markers of the project whose tests are left out and listed, each with the reason: `gpu = "needs a GPU"`'
        ),
    ] = {}
    lock: Annotated[str, Meta(description="The lock of the files that tests read, relative to the project")] = (
        "tests/fixtures.lock.json"
    )
    locked: Annotated[
        tuple[str, ...],
        Meta(description="Files, folders and globs that must be locked; empty: what the lock holds and its kind beside it"),
    ] = ()
    freezes: Annotated[str, Meta(description="The ledger of frozen tests, relative to the project")] = "tests/flake_freeze.json"
    freeze_days: Annotated[Count, Meta(description="For how many days from today a test may be frozen")] = 90
    thaw_after: Annotated[
        Count, Meta(description="After how many gates in a row without divergence it is proposed to thaw a test")
    ] = 5
    image: Annotated[ImageSettings, Meta(description="See below")] = ImageSettings()
    host: Annotated[HostSettings, Meta(description="See below")] = HostSettings()
    environments: Annotated[dict[str, EnvironmentSettings], Meta(description="See below")] = msgspec.field(
        default_factory=default_environments
    )
    pins: Annotated[PinSettings, Meta(description="See below")] = PinSettings()
    sweeps: Annotated[SweepSettings, Meta(description="See below")] = SweepSettings()
