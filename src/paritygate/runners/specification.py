"""The specification of a cell, as docs/cell-protocol.md describes it: made of a plan and of what a place looks like.

Pure, and the same for every runner; the launcher in the guest is its only reader.
"""

from __future__ import annotations

from typing import Any

import msgspec

from paritygate.outcomes.cells import TestId
from paritygate.outcomes.plans import CellPlan

PROTOCOL = 1
HEARTBEAT_SECONDS = 5.0
TIMEOUTS = 3
ROOT = "root"
SYSTEM_PATH = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")


class User(msgspec.Struct, frozen=True, kw_only=True):
    """The tests' user; it has an entry in the password file."""

    uid: int = 1000
    gid: int = 1000
    name: str = "parity"
    home: str = "/parity/home"


class Apart(msgspec.Struct, frozen=True, kw_only=True, rename={"place": "as"}):
    """A cell's own folder on a computer that others use, and the place at which its processes alone see it.

    They have a `/dev/shm` of so many bytes, the computer's `network` or none, and their temporary folder for `/tmp`, in which
    what is `kept` stays visible.
    """

    folder: str
    place: str
    network: bool
    shared_memory: int
    kept: tuple[str, ...]


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where things are in the guest; `path` is searched for programs after the folder of `python`.

    `workspace`, the user's home and `temporary` (for cells with a filesystem of their own) lie in one folder, so that one holds
    them; `stack_directory` does not, because the launcher uses it, and that filesystem may hang.
    `clock` is the library that moves the clock of programs, empty where there is none.
    `supervisor` is the interpreter that runs the launcher as root: one that tests cannot write, started without site packages.
    Where tests run as whoever starts them, `user` is None and `home` their home folder. `variables` are what the
    place itself takes, over those of the environment.
    """

    python: str = "/opt/paritygate/venv/bin/python"
    supervisor: str = "/opt/paritygate/python"
    launcher: str = "/opt/paritygate/guest/launcher.py"
    clock: str = "/opt/paritygate/clock.so"
    workspace: str = "/parity/workspace"
    temporary: str = "/parity/tmp"
    stack_directory: str = "/var/tmp"  # noqa: S108 - in the guest
    path: tuple[str, ...] = SYSTEM_PATH
    user: User | None = User()
    home: str = ""
    apart: Apart | None = None
    variables: dict[str, str] = {}
    sentinel: str = ""


def specification(plan: CellPlan, place: Place, nonce: str) -> bytes:
    """Write a cell's specification as the launcher reads it: one line, newline included."""
    environment = plan.environment
    selection = plan.selection
    limits = plan.limits
    content: dict[str, Any] = {
        "protocol": PROTOCOL,
        "nonce": nonce,
        "python": place.python,
        "workspace": place.workspace,
        "directory": selection.directory,
        "user": _user(plan, place),
        "environment": variables(plan, place),
        "filesystem": filesystem(plan),
        "clock": clock(plan, place),
        "expect": {
            "timezone": environment.timezone,
            "locale": environment.locale,
            "umask": environment.umask,
            "case_sensitive": environment.case_sensitive,
            "sentinel": place.sentinel,
        },
        "umask": environment.umask,
        "workers": environment.workers,
        "seed": plan.seed,
        "hash_seed": next(seed for seed in (plan.hash_seed, environment.hash_seed, plan.seed) if seed is not None),
        "reseeds": plan.reseeds,
        "order": {
            "seed": plan.order.seed,
            "reversed": plan.order.reversed,
            "exactly": _pairs(plan.order.exactly),
            "only": _pairs(plan.order.only),
            "shares": {worker: _pairs(tests) for worker, tests in plan.order.shares if tests} or None,
        },
        "pytest": {
            "paths": selection.paths,
            "keyword": selection.keyword,
            "marker": selection.marker,
            "arguments": selection.arguments,
            "exclude": selection.exclude,
            "share": selection.share,
        },
        "locked": {each.path: (each.sha256, each.size) for each in plan.locked.get(environment.worktree, ())},
        "watched": plan.watched,
        "respect_pins": plan.respect_pins,
        "limits": {
            "cell_seconds": limits.cell_seconds,
            "test_seconds": limits.test_seconds,
            "idle_seconds": limits.idle_seconds,
            "open_files": limits.open_files,
            "timeouts": TIMEOUTS,
        },
        "stack_directory": place.stack_directory,
        "heartbeat_seconds": HEARTBEAT_SECONDS,
    }
    if place.apart is not None:
        content["apart"] = place.apart
    return msgspec.json.encode(content) + b"\n"


def variables(plan: CellPlan, place: Place) -> dict[str, str]:
    """Make the whole environment of the tests; nothing of this computer's goes in."""
    environment = plan.environment
    folder = place.python.rpartition("/")[0]
    git = {"safe.directory": "*"}  # the tree belongs to the tests' user, but its parents need not; git would refuse it
    if plan.filesystem is not None:
        git["core.ignorecase"] = str(plan.filesystem.fold).lower()
    made = {
        "PATH": ":".join((folder, *place.path)),
        "LANG": environment.locale,
        "LC_ALL": environment.locale,
        "TZ": environment.timezone,
        "PYTHONDONTWRITEBYTECODE": "1",
        "GIT_CONFIG_COUNT": str(len(git)),
        **{f"GIT_CONFIG_KEY_{number}": key for number, key in enumerate(git)},
        **{f"GIT_CONFIG_VALUE_{number}": value for number, value in enumerate(git.values())},
        # pytest-xdist would count the processors of the whole machine, in a pytest that tests start as well.
        "PYTEST_XDIST_AUTO_NUM_WORKERS": str(max(1, environment.workers)),
    }
    if (user := _user(plan, place)) is not None:
        made |= {"HOME": user.home, "USER": user.name, "LOGNAME": user.name}
    elif place.home:
        made["HOME"] = place.home
    if plan.filesystem is not None or place.home:
        made["TMPDIR"] = place.temporary
    return made | environment.variables | place.variables


def _user(plan: CellPlan, place: Place) -> User | None:
    """Say as whom tests run; as root they keep the home that the cell has for them."""
    if place.user is None or plan.environment.user != ROOT:
        return place.user
    return User(uid=0, gid=0, name=ROOT, home=place.user.home)


def clock(plan: CellPlan, place: Place) -> dict[str, Any] | None:
    """Say which library programs are to ask for the time, what it is to be, and whether the whole system is the cell's own."""
    if not plan.clocks:
        return None
    return {
        "library": place.clock,
        "moment": plan.environment.clock,
        "files": plan.clock_files,
        "system": place.user is not None,
    }


def filesystem(plan: CellPlan) -> dict[str, Any] | None:
    """Say what the launcher is to make for the cell's files; as Linux does, it gets half of the memory, if that has a limit."""
    if plan.filesystem is None:
        return None
    memory = plan.environment.memory or plan.limits.memory
    return {**msgspec.structs.asdict(plan.filesystem), "size": memory // 2}


def _pairs(tests: tuple[TestId, ...]) -> list[tuple[str, int]] | None:
    return [(test.nodeid, test.occurrence) for test in tests] or None
