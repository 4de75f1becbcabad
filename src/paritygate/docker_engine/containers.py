"""The life of a container: created, used and always removed.

Creation and removal bear repetition: a request that timed out may have been carried out all the same.
"""

from __future__ import annotations

import logging
import re
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from docker.errors import APIError, NotFound
from docker.types import LogConfig

from paritygate.docker_engine.client import Client
from paritygate.docker_engine.container import DockerContainer, Inside
from paritygate.docker_engine.environment import sourced
from paritygate.docker_engine.failures import FOREIGN, engine_errors, explain, lost
from paritygate.docker_engine.owners import Run
from paritygate.docker_engine.requests import ContainerRequest
from paritygate.errors import EngineError

REMOVAL_SECONDS = 30.0
LOST_SECONDS = 5.0
LATE_SECONDS = 2.0
PAUSE = 0.2

READ_ONLY = "ro,nosuid,nodev,noexec,mode=0555,size=4k"

logger = logging.getLogger(__name__)


@contextmanager
def created(client: Client, run: Run, request: ContainerRequest) -> Iterator[DockerContainer]:
    """Create a container and remove it on leaving, whatever happened in between."""
    name = f"paritygate-{re.sub('[^a-zA-Z0-9_.-]+', '-', request.name)}-{uuid.uuid4().hex[:8]}"
    # Where creation is cut off, the engine may still be at it: look a little longer, unless it has answered.
    patience = LATE_SECONDS
    container = None
    try:
        _, variables = sourced(request)
        try:
            container = DockerContainer(client, run, _create(client, run, request, name), Inside(variables, tty=request.tty))
        except EngineError as error:
            patience = 0.0 if isinstance(error.__cause__, APIError) else LATE_SECONDS
            raise
        patience = 0.0
        yield container
    finally:
        remove(client, name, patience)
        if container is not None:
            container.release()


def _create(client: Client, run: Run, request: ContainerRequest, name: str) -> str:
    settings = configuration(client, run, request)
    try:
        with engine_errors(f"create a container of `{request.image}`"):
            return str(client.create_container_from_config(settings, name)["Id"])
    except Exception:
        found = _find(client, name)
        if found:
            return found
        raise


def _find(client: Client, name: str) -> str:
    try:
        return str(client.inspect_container(name)["Id"])
    except FOREIGN:
        return ""


def configuration(client: Client, run: Run, request: ContainerRequest) -> dict[str, Any]:
    """Write a request as the engine's API wants it."""
    command, variables = sourced(request)
    host = client.create_host_config(
        init=True,
        network_mode="bridge" if request.network else "none",
        extra_hosts={request.hostname: "127.0.0.1"},
        ipc_mode="private",
        cap_drop=["ALL"],
        cap_add=list(request.capabilities),
        devices=list(request.devices),
        security_opt=list(request.security),
        pids_limit=request.processes,
        mem_limit=request.memory or None,
        memswap_limit=request.memory or None,
        nano_cpus=int(request.cpus * 1_000_000_000),
        shm_size=request.shared_memory,
        tmpfs=dict.fromkeys(request.empty, READ_ONLY) or None,
        # The daemon's default may rotate, or be a driver that cannot be read again.
        log_config=LogConfig(type=LogConfig.types.JSON, config={"max-size": "2g", "max-file": "1"}),
    )
    settings: dict[str, Any] = client.create_container_config(
        image=request.image,
        command=command,
        entrypoint=[],
        hostname=request.hostname,
        user=request.user,
        working_dir=request.workdir,
        environment={} if variables else request.environment,
        stdin_open=request.stdin or bool(variables),
        tty=request.tty,
        labels=run.labels(request.kind, time.time() + request.seconds),
        host_config=host,
    )
    return settings


def remove(client: Client, name: str, patience: float = 0.0) -> bool:
    """Remove a container and its volumes, for a bounded time, and say whether it is gone.

    A failure is logged and not raised: it must not hide what happened before, and the next sweep tries again.
    """
    started = time.monotonic()
    while True:
        try:
            client.remove_container(name, v=True, force=True)
        except NotFound:
            if time.monotonic() - started >= patience:
                return True
        except FOREIGN as error:
            # 409 is a removal under way; others (a busy file system, a slow engine) mostly pass. An engine that nobody reaches
            # any more may be starting again, but is not waited for: the next run sweeps.
            gone = lost(error)
            if time.monotonic() - started > (LOST_SECONDS if gone else REMOVAL_SECONDS):
                # That an engine is lost is said where its cells move, or end.
                logger.log(
                    logging.INFO if gone else logging.WARNING, "container `%s` could not be removed: %s", name, explain(error)
                )
                return False
        else:
            patience = 0.0
            if not _exists(client, name):
                return True
        time.sleep(PAUSE)


def _exists(client: Client, name: str) -> bool:
    try:
        client.inspect_container(name)
    except NotFound:
        return False
    except FOREIGN:
        return True
    return True
