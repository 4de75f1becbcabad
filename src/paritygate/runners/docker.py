"""Runs cells in containers: one fresh container a cell, made, listened to and removed here.

What a cell does is the launcher's affair, and what its events mean that of `events`.
"""

from __future__ import annotations

import io
import logging
import secrets
import tarfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import msgspec

from paritygate import case_folding
from paritygate.docker_engine.requests import ContainerEnd, ContainerRequest, EngineInfo
from paritygate.docker_engine.verbs import Container, Engine, Streams
from paritygate.errors import EngineError
from paritygate.events.ending import Ending
from paritygate.events.listener import Listener
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import CellStatus, RunnerName
from paritygate.runners.protocol import Watch
from paritygate.runners.specification import Place, specification

CAPABILITIES = ("KILL", "SETGID", "SETPCAP", "SETUID")
MOUNTING = ("SYS_ADMIN", "SYS_PTRACE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID")
"""What a cell's own filesystem takes besides; the launcher and the daemon have it, and tests nothing of it."""
DEVICES = ("/dev/fuse",)
STDOUT = 1
LONGEST_SECONDS = 24 * 3600.0

logger = logging.getLogger(__name__)


class CellImage(msgspec.Struct, frozen=True):
    """The image that a cell starts from, and the sentinel that its tree holds."""

    tag: str
    sentinel: str = ""


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """For how many seconds a cell is waited for where its launcher should have spoken.

    `grace` is what the launcher may need beyond the cell's own limit: the probe before, the ends of all processes after it.
    `silent` is many heartbeats: a connection without a sign of life for so long is dead, whatever the operating system thinks.
    `end` is for the container's end once the streams have ended, `look` how often all this is looked at.
    """

    grace: float = 240.0
    silent: float = 120.0
    end: float = 60.0
    look: float = 1.0


ImageOf = Callable[[CellPlan], CellImage]


class DockerRunner:
    """Runs cells on one engine; safe to use from several threads."""

    def __init__(self, engine: Engine, image_of: ImageOf, place: Place | None = None, patience: Patience | None = None) -> None:
        self._engine = engine
        self._image_of = image_of
        self._place = place or Place()
        self._patience = patience or Patience()
        self._running: dict[str, Container] = {}
        self._guard = threading.Lock()
        self._stopped = False

    def run(self, plan: CellPlan, watch: Watch) -> Cell:
        """Run one cell to its end; an engine that fails makes a dead cell, not an error."""
        visit = _Visit(plan, watch, self._patience)
        started = datetime.now(UTC).isoformat(timespec="seconds")
        began = time.monotonic()
        end = None
        failure = ""
        try:
            end = self._converse(plan, visit)
        except EngineError as error:
            failure = f"{error.message}; {error.hint}" if error.hint else error.message
            logger.warning("cell %s: %s", plan.name, failure)
        ending = Ending(
            runner=RunnerName.DOCKER,
            exit_code=end.exit_code if end is not None else None,
            out_of_memory=end is not None and end.out_of_memory,
            detail=failure or visit.broken or (end.detail if end is not None else ""),
            started=started,
            seconds=round(time.monotonic() - began, 3),
        )
        cell = self._advised(plan, self._judged(visit, visit.listener.cell(ending), failure))
        step = "stopped" if self._stopped and not visit.listener.ended else cell.status.value
        watch(msgspec.structs.replace(visit.listener.progress, step=step, running=()))
        return cell

    def stop(self) -> None:
        """End every cell that is running, and let none begin."""
        with self._guard:
            self._stopped = True
            running = tuple(self._running.values())
        for container in running:
            try:
                container.kill()
            except EngineError as error:
                logger.warning("a cell could not be ended: %s", error.message)

    def _judged(self, visit: _Visit, cell: Cell, failure: str) -> Cell:
        """Say of a cell that came to no end of its own what only the runner can know."""
        if visit.listener.ended:
            return cell
        if self._stopped:
            return msgspec.structs.replace(cell, status=CellStatus.CRASHED, detail="stopped before its end", passed=False)
        if visit.overdue:
            detail = f"it did not end within {visit.seconds:.0f} s, and was killed"
            return msgspec.structs.replace(cell, status=CellStatus.TIMED_OUT, detail=detail, passed=False)
        if failure and not visit.begun:
            return msgspec.structs.replace(cell, status=CellStatus.UNUSABLE, detail=failure, passed=False)
        return cell

    def _advised(self, plan: CellPlan, cell: Cell) -> Cell:
        """Say of a cell that could not have its filesystem what is in the way, and what to do: it is not pytest that failed."""
        failure = case_folding.failure_in(cell.detail)
        if plan.filesystem is None or cell.status is not CellStatus.UNUSABLE or not failure.step:
            return cell
        info = self._engine.info
        advice = case_folding.explain(failure, rootless=info.rootless, security=info.security)
        detail = f"{advice.what}; {advice.hint} ({cell.detail})"
        return msgspec.structs.replace(cell, status=CellStatus.ENVIRONMENT_MISMATCH, detail=detail)

    def _converse(self, plan: CellPlan, visit: _Visit) -> ContainerEnd | None:
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

    def _in_container(self, plan: CellPlan, place: Place, request: ContainerRequest, visit: _Visit) -> ContainerEnd | None:
        with self._engine.container(request) as container, self._registered(container):
            container.put("/etc", [zone_files(plan.environment.timezone)])
            streams = container.attach()
            if self._stopped:
                return None
            container.start()
            visit.begun = True
            with visit.watched(container, streams):
                visit.listen(streams, specification(plan, place, visit.nonce))
            return visit.end_of(container)

    @contextmanager
    def _registered(self, container: Container) -> Iterator[None]:
        with self._guard:
            self._running[container.identity] = container
        try:
            yield
        finally:
            with self._guard:
                del self._running[container.identity]


class _Visit:
    """One cell while it runs: what has been heard, and how long to wait for more."""

    def __init__(self, plan: CellPlan, watch: Watch, patience: Patience) -> None:
        limit = plan.limits.cell_seconds
        self.nonce = secrets.token_hex(16)
        self.listener = Listener(plan, self.nonce)
        self.seconds = limit + patience.grace if limit > 0 else LONGEST_SECONDS
        self.begun = False
        self.overdue = False
        self.broken = ""
        self._watch = watch
        self._patience = patience
        self._heard = time.monotonic()

    def listen(self, streams: Streams, line: bytes) -> None:
        """Send the specification and take everything that comes until the streams end or break."""
        try:
            streams.write(line)
        except EngineError as error:
            # The launcher may have died at once; why, its last words on the same connection say.
            self.broken = error.message
        try:
            for stream, data in streams.frames():
                self._take(stream, data)
        except EngineError as error:
            self.broken = error.message

    def end_of(self, container: Container) -> ContainerEnd | None:
        """Wait for the container's end and, if the launcher's last word is missing, read the engine's log of it again."""
        end = container.wait(self._patience.end)
        if end is None:
            # The end of its stdin has told the launcher to end; what does not, is stuck.
            container.kill()
            end = container.wait(self._patience.end)
        if not self.listener.ended:
            self.listener.replay()
            for stream, data in container.logs():
                self._take(stream, data)
        return end

    @contextmanager
    def watched(self, container: Container, streams: Streams) -> Iterator[None]:
        """Kill a cell that is overdue, and give up a connection on which nothing comes any more."""
        done = threading.Event()
        self._heard = time.monotonic()
        watchdog = threading.Thread(target=self._look, args=(container, streams, done), name="watchdog", daemon=True)
        watchdog.start()
        try:
            yield
        finally:
            done.set()
            watchdog.join()

    def _look(self, container: Container, streams: Streams, done: threading.Event) -> None:
        deadline = time.monotonic() + self.seconds
        while not done.wait(self._patience.look):
            now = time.monotonic()
            if now > deadline:
                self.overdue = True
                try:
                    container.kill()
                except EngineError as error:
                    self.broken = error.message
                streams.close()
                return
            if now - self._heard > self._patience.silent:
                self.broken = f"nothing came for {self._patience.silent:.0f} s, not even a sign of life"
                streams.close()
                return

    def _take(self, stream: int, data: bytes) -> None:
        self._heard = time.monotonic()
        if stream != STDOUT:
            self.listener.stderr(data)
        elif (progress := self.listener.stdout(data)) is not None:
            self._watch(progress)


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
        capabilities=CAPABILITIES,
        processes=limits.processes,
        memory=environment.memory or limits.memory,
        cpus=environment.cpus,
        shared_memory=limits.shared_memory,
        stdin=True,
        seconds=seconds,
    )


def with_filesystem(request: ContainerRequest, engine: EngineInfo) -> ContainerRequest:
    """Let the launcher make a filesystem; AppArmor, where the engine has it, forbids containers to mount anything."""
    armoured = any(option.startswith("name=apparmor") for option in engine.security)
    return msgspec.structs.replace(
        request,
        capabilities=(*request.capabilities, *MOUNTING),
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
