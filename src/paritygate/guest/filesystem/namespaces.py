"""Namespaces for a cell that shares its computer with others: its mounts, ports and shared memory are nobody else's."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import signal
import socket
import struct
from typing import Any, Dict, Iterable

from .mounting import LIBC, MS_BIND, MS_NODEV, MS_NOSUID, UnavailableError, mount, named

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x8000000, 0x10000000, 0x40000000
SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 1, 64
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - by this name everybody has it
MS_REC, MS_PRIVATE = 0x4000, 0x40000
PR_SET_PDEATHSIG, PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE = 1, 47, 2
CAPABILITIES = (0, 1, 3, 19, 21)  # CHOWN, DAC_OVERRIDE, FOWNER, SYS_PTRACE, SYS_ADMIN: what the daemon takes
LINUX_CAPABILITY_VERSION_3 = 0x20080522


def enter(network: bool = False) -> None:  # noqa: FBT001, FBT002
    """Leave the computer's mounts alone from here on: whatever is mounted by this thread and its children, only they see.

    What is shared by name or number goes with it: queues and shared memory, and, unless the `network` is asked for, ports. Who is
    not root gets a user namespace as well, in which the own user is everybody there is, and may mount. Raises UnavailableError
    where the kernel does not allow it. A process that has threads already cannot do it.
    """
    if LIBC is None:
        raise UnavailableError("namespaces: the interpreter of the launcher has no ctypes")
    user, group, root = os.getuid(), os.getgid(), os.geteuid() == 0
    flags = CLONE_NEWNS | CLONE_NEWIPC | (0 if network else CLONE_NEWNET) | (0 if root else CLONE_NEWUSER)
    if LIBC.unshare(flags) != 0:
        raise UnavailableError("namespaces: %s" % named(ctypes.get_errno()))
    if not root:
        for name, text in (("setgroups", "deny"), ("uid_map", "%d %d 1" % (user, user)), ("gid_map", "%d %d 1" % (group, group))):
            with contextlib.suppress(FileNotFoundError), open("/proc/self/" + name, "w", encoding="ascii") as stream:
                stream.write(text)
    if LIBC.mount(b"none", b"/", None, ctypes.c_ulong(MS_REC | MS_PRIVATE), None) != 0:
        raise UnavailableError("namespaces: make / private: %s" % named(ctypes.get_errno()))
    if not network:
        raise_loopback()


def raise_loopback() -> None:
    """Let processes reach each other on this computer, where they have a network of their own with nobody else in it."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP | IFF_RUNNING))


def show(apart: Dict[str, Any]) -> None:
    """Enter them, and have a cell's folder where its processes are to see it. Raises UnavailableError where that cannot be."""
    enter(bool(apart.get("network")))
    mount(apart["folder"], apart["as"], "", MS_BIND)
    if os.path.isdir(SHARED_MEMORY):
        size = "size=%d," % apart["shared_memory"] if apart.get("shared_memory") else ""
        mount("tmpfs", SHARED_MEMORY, "tmpfs", MS_NOSUID | MS_NODEV, size + "mode=1777")


def cover(folder: str, place: str, kept: Iterable[str]) -> None:
    """Have a folder over another one, as that of temporary files, in which some paths stay what they are."""
    below = [path for path in sorted(set(kept)) if path.startswith(place + "/")]
    outermost = [path for path in below if not any(path.startswith(other + "/") for other in below)]
    opened = [(path, os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)) for path in outermost if os.path.isdir(path)]
    try:
        mount(folder, place, "", MS_BIND)
        for path, descriptor in opened:
            os.makedirs(path, exist_ok=True)
            mount("/proc/self/fd/%d" % descriptor, path, "", MS_BIND | MS_REC)
    except OSError as error:
        raise UnavailableError("make folders in %s: %s" % (place, named(error.errno or 0))) from None
    finally:
        for _, descriptor in opened:
            os.close(descriptor)


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
