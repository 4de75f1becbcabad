"""The folder in which the cells of one run live on this computer, and the removal of those that dead runs have left.

Whoever uses a run's folder holds a lock on a file in it: the gate, and each launcher, which may outlive a gate that was killed.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Self

from paritygate.errors import RunnerError
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import Worktree
from paritygate.runners.host import Berth
from paritygate.runners.processes import end_marked

LOCK = "lock"
SHOWN = "fs"
"""The name of the folder in which every cell sees its files."""
PACKED = "parity/workspace"
"""Where a packed tree has its files."""


class Quarters:
    """One run's folder. Leaving the context removes it with all that is in it."""

    def __init__(self, temporary: str, guest: Mapping[str, bytes]) -> None:
        self.top = top_of(temporary)
        with _locked(self.top / LOCK):  # so that nobody takes a folder for a dead run's whose own lock is still to come
            self.swept = tuple(sweep(self.top))
            self.folder = Path(tempfile.mkdtemp(prefix="", dir=self.top))
            self.lock = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self.lock, fcntl.LOCK_EX)
        self._shown = self.top / SHOWN
        self._digests: dict[Worktree, str] = {}
        self._numbers = itertools.count(1)
        for name, content in guest.items():
            path = self.folder / "guest" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        self.obstacle = obstacle_to_namespaces(self.folder / "guest")
        self.apart = not self.obstacle

    def __enter__(self) -> Self:
        """Give itself."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Remove the folder; cells that still end remove nothing and leave nothing that the next run would not remove."""
        remove(self.folder)
        os.close(self.lock)

    def have_daemon(self, program: Path) -> None:
        """Let cells have the daemon that serves filesystems."""
        shutil.copy2(program, self.folder / "casefs")

    def keep(self, state: Worktree, digest: str, packed: Iterable[bytes]) -> None:
        """Keep a tree, as it is packed, for the cells that are to have it."""
        with self._packed(state).open("wb") as stream:
            for piece in packed:
                stream.write(piece)
        self._digests[state] = digest

    @contextmanager
    def empty(self, state: Worktree) -> Iterator[None]:
        """Have an empty tree for cells that test nothing, while the context lasts."""
        with tarfile.open(self._packed(state), "w"):
            self._digests[state] = ""
        try:
            yield
        finally:
            del self._digests[state]
            self._packed(state).unlink()

    def _packed(self, state: Worktree) -> Path:
        return self.folder / f"{state}.tar"

    @contextmanager
    def berth(self, plan: CellPlan) -> Iterator[Berth]:
        """Make the folder of a cell, with a fresh copy of its tree; raises `RunnerError` where it cannot be.

        Where no cell can be shown its folder at a place of its own, there is one such folder, and cells have it one by one.
        """
        folder = self.folder / f"{next(self._numbers):04}"
        digest = self._digests[plan.environment.worktree]
        with ExitStack() as stack:
            if not self.apart:
                stack.enter_context(_locked(self.top / f"{SHOWN}.lock"))
                stack.callback(remove, self._shown)
            stack.callback(remove, folder)
            self._furnish(folder, folder / SHOWN if self.apart else self._shown, plan.environment.worktree)
            yield Berth(folder, self._shown, digest, self.lock, self.apart)

    def _furnish(self, folder: Path, files: Path, state: Worktree) -> None:
        try:
            folder.mkdir()
            self._shown.mkdir(exist_ok=True)
            for each in (folder / "stacks", files / "workspace", files / "home", files / "tmp"):
                each.mkdir(parents=True)
            (folder / "guest").symlink_to("../guest")
            (folder / "casefs").symlink_to("../casefs")
            unpack(self._packed(state), files / "workspace")
            (folder / "sentinel").write_text(self._digests[state], encoding="ascii")
        except OSError as error:
            said = (error.strerror or str(error)).lower()
            hint = f"free space in `{self.top}`, or set `TMPDIR` to a folder that has some"
            raise RunnerError(f"the folder of a cell cannot be made in `{self.top}`: {said}", hint) from error


def unpack(packed: Path, workspace: Path) -> None:
    """Unpack a tree into an empty folder; all of it becomes the own user's."""
    user, group = os.getuid(), os.getgid()

    def own(member: tarfile.TarInfo, _path: str) -> tarfile.TarInfo:
        below = member.name.removeprefix(PACKED).lstrip("/")
        return member.replace(name=below or ".", uid=user, gid=group, uname="", gname="", deep=False)

    with tarfile.open(packed, errors="surrogateescape") as tar:
        tar.extractall(workspace, filter=own)  # noqa: S202 - our own, of a tree that lay on this computer just so


def top_of(temporary: str) -> Path:
    """Find or make the own user's folder for runs; raises `RunnerError` for one that is somebody else's."""
    top = Path(temporary).resolve() / f"parity-{os.getuid()}"  # short, for sockets have paths of 107 bytes at most
    with suppress(FileExistsError):
        top.mkdir(mode=0o700)
    status = top.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise RunnerError(f"`{top}` is not a folder that only you can enter", "remove it, or set `TMPDIR` to another folder")
    return top


def sweep(top: Path) -> Iterator[str]:
    """Remove the folders of runs that nobody has any more, and say which."""
    for folder in sorted(path for path in top.iterdir() if path.is_dir() and path.name != SHOWN):
        with suppress(BlockingIOError), _locked(folder / LOCK, fcntl.LOCK_EX | fcntl.LOCK_NB):
            end_marked(str(folder))
            remove(folder)
            yield str(folder)


def obstacle_to_namespaces(guest: Path) -> str:
    """Say why a process of this computer cannot have mounts of its own, empty where it can; the guest's own way is tried."""
    trial = f"import sys; sys.path.insert(0, {str(guest)!r}); from filesystem import namespaces; namespaces.enter()"
    done = subprocess.run(  # noqa: S603 - our own interpreter and lines
        (sys.executable, "-I", "-S", "-B", "-c", trial), capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False
    )
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return (said[-1].rpartition("Error: ")[2] if said else "it was killed") if done.returncode else ""


@contextmanager
def _locked(path: Path, how: int = fcntl.LOCK_EX) -> Iterator[int]:
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, how)
        yield lock
    finally:
        os.close(lock)


def remove(folder: Path) -> None:
    """Remove a folder, whatever modes its folders have been given."""
    with suppress(OSError):
        for place, names, _ in os.walk(folder):
            for name in names:
                path = Path(place, name)
                if not path.is_symlink():
                    path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
