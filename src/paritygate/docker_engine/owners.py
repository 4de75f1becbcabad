"""Who owns what an engine holds: a process, so told apart that nobody else's things are ever removed.

An owner is a process on one computer, in one process namespace, since one boot, with its own start time: a process id alone
is used again, and two containers on one computer share its boot. It decides only about this computer; elsewhere a deadline does.
"""

from __future__ import annotations

import os
import platform
import subprocess
import time
import uuid
from contextlib import suppress
from pathlib import Path

import msgspec

from paritygate.docker_engine.requests import DEADLINE_LABEL, KIND_LABEL, OWNER_LABEL, RUN_LABEL, TEMPORARY

TEMPORARY_SECONDS = 24 * 3600.0


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """A process; `place` is its computer since its boot and its process namespace, `started` empty where nobody can say."""

    place: str
    pid: int
    started: str

    def label(self) -> str:
        """Write it as the value of a label."""
        return msgspec.json.encode(self).decode()


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One run of this program: an identity for its objects, and the process that owns them."""

    identity: str
    owner: Owner

    def labels(self, kind: str, deadline: float) -> dict[str, str]:
        """Make the labels of an object that must not outlive this run; `deadline` in seconds of the epoch."""
        return {
            RUN_LABEL: self.identity,
            KIND_LABEL: kind,
            OWNER_LABEL: self.owner.label(),
            DEADLINE_LABEL: str(int(deadline)),
        }


def owned(run: Run, labels: dict[str, str]) -> dict[str, str]:
    """Add to the labels of an image who owns it, where it is a temporary one."""
    if labels.get(KIND_LABEL) != TEMPORARY:
        return dict(labels)
    return run.labels(TEMPORARY, time.time() + TEMPORARY_SECONDS) | labels


def this_run() -> Run:
    """Describe this process."""
    pid = os.getpid()
    return Run(identity=uuid.uuid4().hex, owner=Owner(place=_place(), pid=pid, started=started(pid)))


def abandoned(labels: dict[str, str], here: Owner, now: float) -> bool:
    """Decide whether an object may be swept.

    | owner                        | swept                    |
    |------------------------------|--------------------------|
    | on this computer, alive      | never, it removes its own |
    | on this computer, dead       | yes                      |
    | elsewhere, or not to be read | once its deadline passed |
    """
    try:
        owner = msgspec.json.decode(labels.get(OWNER_LABEL, ""), type=Owner)
    except msgspec.DecodeError:
        owner = None
    if owner is not None and owner.place == here.place and owner.started:
        return started(owner.pid) != owner.started
    deadline = labels.get(DEADLINE_LABEL, "")
    return deadline.isdecimal() and now > int(deadline)


def started(pid: int) -> str:
    """Say when a process started, in whatever unit its system has; empty when there is no such process."""
    if Path("/proc/self/stat").exists():
        try:
            status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
        # The second field is the name in brackets and may hold anything; the state is the first after it, the start the 20th.
        fields = status.rpartition(")")[2].split()
        return "" if fields[0] in {"Z", "X"} else fields[19]
    try:
        answer = subprocess.run(  # noqa: S603 - the command is fixed, the argument a number
            ["/bin/ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False, env={"LC_ALL": "C"}
        )
    except OSError:
        return ""
    return " ".join(answer.stdout.split())


def _place() -> str:
    parts = [platform.node()]
    with suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
    with suppress(OSError):
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return " ".join(parts)
