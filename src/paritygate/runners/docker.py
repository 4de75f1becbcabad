"""Runs cells in containers: one fresh container a cell, made, listened to and removed here.

What a cell does is the launcher's affair, and what its events mean that of `events`.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from functools import partial

import msgspec

from paritygate import case_folding
from paritygate.docker_engine.requests import ContainerRequest, EngineInfo
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import EngineError
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import CellStatus, RunnerName
from paritygate.runners.conversation import End, Patience, Running, Visit
from paritygate.runners.protocol import Watch
from paritygate.runners.specification import ROOT, Place, specification
from paritygate.witnesses.values import NOBODYS_HOME

CAPABILITIES = ("KILL", "SETGID", "SETPCAP", "SETUID")
OF_ROOT = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID")
"""What root in any container goes by, for tests that are to run as root."""
MOUNTING = ("SYS_ADMIN", "SYS_PTRACE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID")
"""What a cell's own filesystem takes besides; the launcher and the daemon have it, and tests nothing of it."""
DEVICES = ("/dev/fuse",)


class CellImage(msgspec.Struct, frozen=True):
    """The image that a cell starts from, and the sentinel that its tree holds."""

    tag: str
    sentinel: str = ""


ImageOf = Callable[[CellPlan], CellImage]


class DockerRunner:
    """Runs cells on one engine; safe to use from several threads."""

    def __init__(self, engine: Engine, image_of: ImageOf, place: Place | None = None, patience: Patience | None = None) -> None:
        self._engine = engine
        self._image_of = image_of
        self._place = place or Place()
        self._patience = patience or Patience()
        self.running = Running()

    def run(self, plan: CellPlan, watch: Watch) -> Cell:
        """Run one cell to its end; an engine that fails makes a dead cell, not an error."""
        visit = Visit(plan, watch, self._patience, self.running)
        cell = self._advised(plan, visit.cell(RunnerName.DOCKER, partial(self._converse, plan, visit)))
        visit.tell_end(cell)
        return cell

    def answers(self) -> bool:
        """Say whether the engine is still there."""
        return self._engine.answers()

    def stop(self) -> None:
        """End every cell that is running, and let none begin."""
        self.running.stop()

    def _advised(self, plan: CellPlan, cell: Cell) -> Cell:
        """Say of a cell that could not have its filesystem what is in the way, and what to do: it is not pytest that failed."""
        failure = case_folding.failure_in(cell.detail)
        if plan.filesystem is None or cell.status is not CellStatus.UNUSABLE or not failure.step:
            return cell
        info = self._engine.info
        advice = case_folding.explain(failure, rootless=info.rootless, security=info.security)
        detail = f"{advice.what}; {advice.hint} ({cell.detail})"
        return msgspec.structs.replace(cell, status=CellStatus.ENVIRONMENT_MISMATCH, detail=detail)

    def _converse(self, plan: CellPlan, visit: Visit) -> End | None:
        """Make the container, listen until it has ended, and say how; None where it could not be seen to end."""
        image = self._image_of(plan)
        place = msgspec.structs.replace(self._place, sentinel=image.sentinel)
        request = request_of(plan, image.tag, place, visit.seconds + self._patience.end)
        if plan.filesystem is None:
            return self._in_container(plan, place, request, visit)
        request = with_filesystem(request, self._engine.info)
        try:
            return self._in_container(plan, place, request, visit)
        except EngineError as error:
            if visit.begun or case_folding.failure_in(error.message).step != "device":
                raise
        # Without the device the launcher says what it lacks, and tries what the kernel may offer.
        return self._in_container(plan, place, msgspec.structs.replace(request, devices=()), visit)

    def _in_container(self, plan: CellPlan, place: Place, request: ContainerRequest, visit: Visit) -> End | None:
        with self._engine.container(request) as container, self.running.registered(container):
            container.put("/etc", [zone_files(plan.environment.timezone)])
            streams = container.attach()
            if self.running.stopped:
                return None
            container.start()
            return visit.hold(container, streams, specification(plan, place, visit.nonce))


def request_of(plan: CellPlan, image: str, place: Place, seconds: float) -> ContainerRequest:
    """Ask for a cell's container: no network unless asked for, and of the capabilities only what becoming another user takes."""
    environment = plan.environment
    limits = plan.limits
    return ContainerRequest(
        image=image,
        command=(place.supervisor, "-I", "-S", "-B", place.launcher),
        kind="cell",
        name=plan.name,
        network=plan.network,
        capabilities=(*CAPABILITIES, *OF_ROOT) if environment.user == ROOT else CAPABILITIES,
        processes=limits.processes,
        memory=environment.memory or limits.memory,
        cpus=environment.cpus,
        shared_memory=limits.shared_memory,
        empty=(NOBODYS_HOME,) if environment.variables.get("HOME") == NOBODYS_HOME else (),
        stdin=True,
        seconds=seconds,
    )


def with_filesystem(request: ContainerRequest, engine: EngineInfo) -> ContainerRequest:
    """Let the launcher make a filesystem; AppArmor, where the engine has it, forbids containers to mount anything."""
    armoured = any(option.startswith("name=apparmor") for option in engine.security)
    return msgspec.structs.replace(
        request,
        capabilities=tuple(dict.fromkeys((*request.capabilities, *MOUNTING))),
        devices=DEVICES,
        security=(*request.security, "apparmor=unconfined") if armoured else request.security,
    )


def zone_files(zone: str) -> bytes:
    """Pack what tells programs the time zone that do not look at `TZ`: `/etc/localtime` and `/etc/timezone`."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        link = tarfile.TarInfo("localtime")
        link.type, link.linkname, link.mode = tarfile.SYMTYPE, f"/usr/share/zoneinfo/{zone}", 0o777
        tar.addfile(link)
        name = tarfile.TarInfo("timezone")
        content = f"{zone}\n".encode()
        name.size, name.mode = len(content), 0o644
        tar.addfile(name, io.BytesIO(content))
    return packed.getvalue()
