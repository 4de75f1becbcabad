"""The folders of cells on a computer that others use: made, shown, and removed again, with all that runs in them.

A run has one folder; whoever uses it holds a lock on a file in it, so that what a dead run has left is known by its lock.
It imports nothing of paritygate, which imports it where the computer is its own.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
import time
from typing import Any, Dict, Iterator, List, Set, Tuple

MARK = "PARITYGATE_CELL"
"""The variable by which processes of a cell are known; probes leave variables of such names out."""
LOCK = "lock"
SHOWN = "fs"
"""The name of the folder in which every cell sees its files."""
APART, ALONE, TOGETHER = "apart", "alone", "together"
"""How far a cell is from others on its computer."""
PACKED = "parity/workspace"
"""Where a packed tree has its files."""


class LodgingError(Exception):
    """A folder is not what it has to be; the text says which and why."""


def top_of(temporary: str) -> str:
    """Find or make the own user's folder for runs; raises `LodgingError` for one that is somebody else's."""
    # Short, for sockets have paths of 107 bytes at most.
    top = os.path.join(os.path.realpath(temporary), "parity-%d" % os.getuid())
    with contextlib.suppress(FileExistsError):
        os.mkdir(top, 0o700)
    status = os.lstat(top)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise LodgingError("`%s` is not a folder that only you can enter" % top)
    return top


@contextlib.contextmanager
def locked(path: str, how: int = fcntl.LOCK_EX) -> Iterator[int]:
    """Hold a lock on a file, which is made where it is not there."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, how)
        yield lock
    finally:
        os.close(lock)


def begin(top: str, name: str) -> Tuple[str, int, List[str]]:
    """Make the folder of a run; gives it, the descriptor of its lock, and what dead runs had left, which is removed."""
    with locked(os.path.join(top, LOCK)):  # so that nobody takes a folder for a dead run's whose own lock is still to come
        swept = list(sweep(top))
        folder = os.path.join(top, name)
        os.mkdir(folder, 0o700)
        lock = os.open(os.path.join(folder, LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_SH)
    return folder, lock, swept


def sweep(top: str) -> Iterator[str]:
    """Remove the folders of runs that nobody has any more, and say which."""
    for name in sorted(os.listdir(top)):
        folder = os.path.join(top, name)
        if name != SHOWN and os.path.isdir(folder):
            with contextlib.suppress(BlockingIOError), locked(os.path.join(folder, LOCK), fcntl.LOCK_EX | fcntl.LOCK_NB):
                end_marked(folder)
                remove(folder)
                yield folder


def remove(folder: str) -> None:
    """Remove a folder, whatever modes its folders have been given."""
    with contextlib.suppress(OSError):
        for place, names, _ in os.walk(folder):
            for path in (os.path.join(place, name) for name in names):
                if not os.path.islink(path):
                    os.chmod(path, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def furnished(folder: str, shown: str, packed: str, sentinel: str, company: str) -> Iterator[None]:
    """Make the folder of a cell with a fresh copy of its tree, and in the end remove it with all that runs in it.

    `guest` and `casefs` are links to those of the run; tests may write below `fs/`. In the `company` of others a cell is `apart`
    from them, or `alone`: apart, but for what there is only once, as ports, so that they run one by one. Where it is `together`
    with them no cell can be shown its files at a place of its own: they lie at `shown`, for one after the other. Raises OSError.
    """
    with contextlib.ExitStack() as stack:
        if company != APART:
            stack.enter_context(locked(shown + ".lock"))
        if company == TOGETHER:
            stack.callback(remove, shown)
            remove(shown)
        os.makedirs(shown, exist_ok=True)
        stack.callback(remove, folder)
        stack.callback(end_marked, folder)
        files = shown if company == TOGETHER else os.path.join(folder, SHOWN)
        for path in (os.path.join(folder, "stacks"), *(os.path.join(files, name) for name in ("workspace", "home", "tmp"))):
            os.makedirs(path)
        for name in ("guest", "casefs"):
            os.symlink("../" + name, os.path.join(folder, name))
        unpack(packed, os.path.join(files, "workspace"))
        with open(os.path.join(folder, "sentinel"), "w", encoding="ascii") as stream:
            stream.write(sentinel)
        yield


def company_of(obstacle: str, network: bool) -> str:  # noqa: FBT001
    """Say how far cells can be from others: an `obstacle` keeps them from namespaces; who reaches the `network` shares ports."""
    if obstacle:
        return TOGETHER
    return ALONE if network else APART


def unpack(packed: str, workspace: str) -> None:
    """Unpack a tree into an empty folder; all of it becomes the own user's."""
    known: Dict[str, Any] = {"filter": "fully_trusted"} if hasattr(tarfile, "fully_trusted_filter") else {}
    with tarfile.open(packed, errors="surrogateescape") as tar:
        members = tar.getmembers()
        for member in members:
            member.name = member.name[len(PACKED) :].lstrip("/") or "."
            member.uid, member.gid, member.uname, member.gname = os.getuid(), os.getgid(), "", ""
        tar.extractall(workspace, members=members, **known)  # noqa: S202 - our own, of a tree that lay somewhere just so


def obstacle_to_namespaces(guest: str) -> str:
    """Say why a process of this computer cannot have mounts of its own, empty where it can; the guest's own way is tried."""
    trial = "import sys; sys.path.insert(0, %r); from filesystem import namespaces; namespaces.enter()" % guest
    command = [sys.executable, "-I", "-S", "-B", "-c", trial]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return (said[-1].rpartition("Error: ")[2] if said else "it was killed") if done.returncode else ""


def end_marked(mark: str) -> None:
    """Kill the own processes that were started with a mark, or with one that begins as a path below it."""
    wanted = ("\0%s=%s" % (MARK, mark)).encode()
    for _ in range(100):
        victims = [pid for pid, given in variables() if any(wanted + end in given for end in (b"\0", b"/"))]
        for pid in victims:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not victims:
            return
        time.sleep(0.01)


def variables() -> Iterator[Tuple[int, bytes]]:
    """Yield the living processes whose variables may be read, with these; every one of them begins with a null character."""
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else []:
        if name.isdigit():
            with contextlib.suppress(OSError), open("/proc/%s/environ" % name, "rb") as stream:
                yield int(name), b"\0" + stream.read() + b"\0"


def below(ancestor: int) -> Set[int]:
    """List the living processes below one."""
    parents: Dict[int, int] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else []:
        if name.isdigit():
            with contextlib.suppress(OSError):
                with open("/proc/%s/stat" % name, "rb") as stream:
                    state, parent = stream.read().rpartition(b")")[2].split()[:2]
                if state not in (b"Z", b"X"):
                    parents[int(name)] = int(parent)
    found = {ancestor}
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return found - {ancestor}
