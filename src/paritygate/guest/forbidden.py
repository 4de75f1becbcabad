"""System calls that processes of the tests may not make, though their container may.

A container that may mount is given the system calls that go with it, by the engine's seccomp profile, and with them an ordinary
user could make namespaces in which it is root. In an ordinary cell nobody can; so it is here, with the same answers.
"""

from __future__ import annotations

import errno
import os
import struct
from typing import Any, Dict, List, Tuple

try:
    import ctypes

    LIBC: Any = ctypes.CDLL(None)
except (ImportError, OSError):  # an interpreter built without libffi
    LIBC = None

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
LOAD, AND, IS, HAS_ANY, ANSWER = 0x20, 0x54, 0x15, 0x45, 0x06
NUMBER_AT, ARCHITECTURE_AT, FIRST_ARGUMENT_AT = 0, 4, 16
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
NAMESPACES = 0x7E020000  # flags of clone
WITHOUT_X32 = 0xBFFFFFFF
X86_64, X86, AARCH64 = 0xC000003E, 0x40000003, 0xC00000B7

# mount_setattr, quotactl_fd, open_tree, move_mount, fsopen, fsconfig, fsmount, fspick: the same number everywhere
EVERYWHERE = (442, 443, 428, 429, 430, 431, 432, 433)
CLONE3 = 435
# mount, umount and umount2, unshare, setns, pivot_root, sethostname, setdomainname, quotactl, perf_event_open, fanotify_init,
# bpf, lookup_dcookie, syslog; then clone
CALLS: Dict[int, Tuple[Tuple[int, ...], int]] = {
    X86_64: ((165, 166, 272, 308, 155, 170, 171, 179, 298, 300, 321, 212, 103), 56),
    X86: ((21, 22, 52, 310, 346, 217, 74, 121, 131, 336, 338, 357, 253, 103), 120),
    AARCH64: ((40, 39, 97, 268, 41, 161, 162, 60, 241, 262, 280, 18, 116), 220),
}
MACHINES = {"x86_64": (X86_64, X86), "aarch64": (AARCH64,)}


def instruction(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    """Write one instruction of the kernel's filter language; jumps count the instructions that are left out."""
    return struct.pack("=HBBI", code, then, otherwise, value)


def rules(calls: Tuple[int, ...], clone: int) -> List[bytes]:
    """Write what one architecture's calls are answered."""
    refused = [*calls, *EVERYWHERE]
    ending = [
        instruction(IS, CLONE3, 3),
        instruction(IS, clone, 0, 4),
        instruction(LOAD, FIRST_ARGUMENT_AT),
        instruction(HAS_ANY, NAMESPACES, 1, 2),
        instruction(ANSWER, REFUSE | errno.ENOSYS),  # so that the C library takes `clone`, whose flags can be seen
        instruction(ANSWER, REFUSE | errno.EPERM),
        instruction(ANSWER, ALLOW),
    ]
    place_of_refusal = len(refused) + 5
    checks = [instruction(IS, number, place_of_refusal - at - 1) for at, number in enumerate(refused)]
    return [instruction(LOAD, NUMBER_AT), instruction(AND, WITHOUT_X32), *checks, *ending]


def program(machine: str) -> bytes:
    """Write the filter for a machine; empty where its numbers are not known here."""
    written: List[bytes] = []
    for architecture in MACHINES.get(machine, ()):
        block = rules(*CALLS[architecture])
        written += [instruction(IS, architecture, 0, len(block)), *block]
    return b"".join([instruction(LOAD, ARCHITECTURE_AT), *written, instruction(ANSWER, ALLOW)]) if written else b""


class Filter:
    """A filter that a process can put on itself, for good, once it can gain no privileges any more."""

    def __init__(self) -> None:
        self.code = program(os.uname().machine) if LIBC is not None else b""

    def put_on(self) -> None:
        """Ask the kernel; one without such filters is no reason not to run."""
        if not self.code:
            return
        buffer = ctypes.create_string_buffer(self.code, len(self.code))
        described = ctypes.create_string_buffer(struct.pack("@HP", len(self.code) // 8, ctypes.addressof(buffer)))
        LIBC.prctl(PR_SET_SECCOMP, ctypes.c_ulong(SECCOMP_MODE_FILTER), described, 0, 0)
