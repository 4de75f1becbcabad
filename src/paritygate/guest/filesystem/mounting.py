"""Mounts by the system call itself, since an image need not have the program, and the tmpfs that no path leads to."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from typing import Any, Tuple

try:
    import ctypes

    LIBC: Any = ctypes.CDLL(None, use_errno=True)
except (ImportError, OSError):  # an interpreter built without libffi
    LIBC = None

FILES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MS_NOSUID, MS_NODEV, MS_BIND, MNT_DETACH = 2, 4, 4096, 2


class UnavailableError(Exception):
    """A way to such a filesystem is closed; the text says which step failed and why."""


def mount(source: str, target: str, kind: str, flags: int = 0, options: str = "") -> None:
    """Mount something, as the system call does; raise UnavailableError where it fails."""
    step = "mount %s on %s" % (kind or source, target)
    if LIBC is None:
        raise UnavailableError("%s: the interpreter of the launcher has no ctypes" % step)
    words = [os.fsencode(word) for word in (source, target, kind)]
    if LIBC.mount(*words, ctypes.c_ulong(flags), os.fsencode(options)) != 0:
        raise UnavailableError("%s: %s" % (step + (" -o " + options if options else ""), named(ctypes.get_errno())))


def detach(target: str) -> None:
    """Take a mount out of the tree; who has it open keeps it."""
    if LIBC is not None:
        LIBC.umount2(os.fsencode(target), MNT_DETACH)


def named(number: int) -> str:
    """Write an error number for people and programs."""
    return "%s (%s)" % (errno.errorcode.get(number, "E%d" % number), os.strerror(number))


class Store:
    """A tmpfs on a folder that only root may enter."""

    def __init__(self, size: int, options: Tuple[str, ...] = ()) -> None:
        self.path = tempfile.mkdtemp(prefix="store-", dir=FILES)
        given = ["mode=0700", *(["size=%d" % size] if size > 0 else []), *options]
        try:
            mount("tmpfs", self.path, "tmpfs", MS_NOSUID | MS_NODEV, ",".join(given))
        except UnavailableError as error:
            os.rmdir(self.path)
            raise UnavailableError(str(error).replace(self.path, FILES)) from None  # the same words in every cell

    def hide(self) -> None:
        """Leave no path to it: what is mounted elsewhere, or open, lives on."""
        detach(self.path)
        with contextlib.suppress(OSError):
            os.rmdir(self.path)
