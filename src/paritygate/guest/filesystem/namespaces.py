"""A namespace of its own for the mounts of a cell that shares its computer with others, so that nobody else sees them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal

from .mounting import LIBC, MS_BIND, UnavailableError, mount, named

CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_REC, MS_PRIVATE = 0x4000, 0x40000
PR_SET_PDEATHSIG, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 1, 47, 2
CAPABILITIES = (0, 1, 3, 19, 21)  # CHOWN, DAC_OVERRIDE, FOWNER, SYS_PTRACE, SYS_ADMIN: what the daemon takes
LINUX_CAPABILITY_VERSION_3 = 0x20080522


def show(folder: str, place: str) -> None:
    """Enter such a namespace, and have a folder at another place in it. Raises UnavailableError where that cannot be."""
    enter()
    mount(folder, place, "", MS_BIND)


def enter() -> None:
    """Leave the computer's mounts alone from here on: whatever is mounted by this thread and its children, only they see.

    Who is not root gets a user namespace as well, in which the own user is everybody there is, and may mount. Raises
    UnavailableError where the kernel does not allow it. A process that has threads already cannot do it.
    """
    if LIBC is None:
        raise UnavailableError("a namespace for mounts: the interpreter of the launcher has no ctypes")
    user, group, root = os.getuid(), os.getgid(), os.geteuid() == 0
    if LIBC.unshare(CLONE_NEWNS if root else CLONE_NEWNS | CLONE_NEWUSER) != 0:
        raise UnavailableError("a namespace for mounts: %s" % named(ctypes.get_errno()))
    if not root:
        for name, text in (("setgroups", "deny"), ("uid_map", "%d %d 1" % (user, user)), ("gid_map", "%d %d 1" % (group, group))):
            with contextlib.suppress(FileNotFoundError), open("/proc/self/" + name, "w", encoding="ascii") as stream:
                stream.write(text)
    if LIBC.mount(b"none", b"/", None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None) != 0:
        raise UnavailableError("a namespace for mounts: make / private: %s" % named(ctypes.get_errno()))


def become_daemon() -> None:
    """Prepare a child to become the daemon of a cell that shares its computer: it ends with the launcher, however that ends.

    It keeps what it may do in the namespace, which any program would lose that is executed by somebody else than root.
    """
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.geteuid() != 0:
        mask = sum(1 << number for number in CAPABILITIES)
        header = (ctypes.c_uint32 * 2)(LINUX_CAPABILITY_VERSION_3, 0)
        LIBC.capset(header, (ctypes.c_uint32 * 6)(mask, mask, mask, 0, 0, 0))
        for number in CAPABILITIES:
            LIBC.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, number, 0, 0)
