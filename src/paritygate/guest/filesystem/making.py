"""Put all that a cell may write on one filesystem that folds the case of names, or on the same one without folding.

What the image holds below one folder, the top, is copied into a tmpfs that no path leads to; over the top a daemon is mounted
that serves it, or, where that cannot be, the tmpfs itself with the kernel's own folding.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import struct
from typing import Any, Dict, Iterable, Optional

from .copying import Copy
from .daemon import start_daemon
from .kinds import Filesystem
from .mounting import MS_BIND, Store, UnavailableError, mount, named

DEVICE = "/dev/fuse"
TEMPORARY = "/tmp"  # noqa: S108 - what tests write there by name is to meet the same filesystem
KERNEL_UNICODE = "12.1.0"
FS_IOC_SETFLAGS, FS_CASEFOLD_FL = 0x40086602, 0x40000000


def make(wish: Optional[Dict[str, Any]], workspace: str) -> Filesystem:
    """Mount what is wished for over the workspace's parent folder, by the first way that is open.

    A wish that is `shared` is that of a cell on a computer that others use: it leaves alone what is theirs. Raises
    UnavailableError where no way is open, OSError where the files could not be copied.
    """
    if wish is None:
        return Filesystem()
    top = os.path.dirname(os.path.normpath(workspace))
    with contextlib.closing(Hidden(workspace)) as hidden:
        try:
            made = with_daemon(wish, top, workspace)
        except UnavailableError as first:
            try:
                made = with_kernel(wish, top, workspace)
            except UnavailableError as second:
                raise UnavailableError("%s; %s" % (first, second)) from None
            made.instead_of = str(first)
        if not wish.get("shared"):
            with contextlib.suppress(OSError):
                os.chmod(DEVICE, 0o600)
            mount(os.path.join(top, "tmp"), TEMPORARY, "", MS_BIND)
        hidden.merge(wish.get("shadowed") or ())
    return made


def fill(store: str, wish: Dict[str, Any], top: str, workspace: str) -> None:
    """Copy everything below the top into a store, and make a folder for temporary files."""
    Copy(top, {os.path.join(workspace, name) for name in wish.get("shadowed") or ()}).to(store)
    temporary = os.path.join(store, "tmp")
    os.makedirs(temporary, exist_ok=True)
    os.chmod(temporary, 0o1777)  # noqa: S103 - as every folder for temporary files


class Hidden:
    """The image's workspace, which can still be read when something is mounted over it."""

    def __init__(self, workspace: str) -> None:
        self.workspace = workspace
        self.descriptor = os.open(workspace, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)

    def merge(self, names: Iterable[str]) -> None:
        """Put what was left out under the names that the mounted filesystem takes for theirs, as a checkout there would.

        Folders become one; of files the first stays.
        """
        for name in names:
            source = os.path.join("/proc/self/fd/%d" % self.descriptor, name)
            target = os.path.join(self.workspace, name)
            status = os.lstat(source)
            if stat.S_ISDIR(status.st_mode):
                os.makedirs(target, exist_ok=True)
                Copy(source, set(), merging=True).to(target)
            else:
                Copy(source, set(), merging=True).unless_there(source, target, status)

    def close(self) -> None:
        """Let go of it."""
        os.close(self.descriptor)


def with_daemon(wish: Dict[str, Any], top: str, workspace: str) -> Filesystem:
    """Serve a copy of the top by the daemon."""
    store = Store(wish["size"])
    try:
        fill(store.path, wish, top, workspace)
        return start_daemon(store.path, wish, top, workspace)
    finally:
        store.hide()


def fold_names_in(folder: str) -> None:
    """Make an empty folder, and all that will be made in it, fold the case of names; raise UnavailableError where it cannot."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.ioctl(descriptor, FS_IOC_SETFLAGS, struct.pack("i", FS_CASEFOLD_FL))
    except OSError as error:
        raise UnavailableError("the kernel: set FS_CASEFOLD_FL: %s" % named(error.errno or 0)) from None
    finally:
        os.close(descriptor)


def with_kernel(wish: Dict[str, Any], top: str, workspace: str) -> Filesystem:
    """Put a copy of the top on a tmpfs, which the kernel itself lets fold; renames that change case alone then do nothing."""
    if wish["order"] not in ("", "created"):
        raise UnavailableError("the kernel: it cannot list folders in the order `%s`" % wish["order"])
    try:
        store = Store(wish["size"], ("casefold=utf8-" + KERNEL_UNICODE,) if wish["fold"] else ())
    except UnavailableError as error:
        raise UnavailableError("the kernel: %s" % error) from None
    try:
        if wish["fold"]:
            fold_names_in(store.path)
        fill(store.path, wish, top, workspace)
        mount(store.path, top, "", MS_BIND)
    finally:
        store.hide()
    made = Filesystem()
    made.way, made.unicode, made.case_rename = "kernel", KERNEL_UNICODE if wish["fold"] else "", not wish["fold"]
    return made
