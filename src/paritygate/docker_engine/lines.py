"""A container as a line for a shell: what the engine's own program has to be told to make the same one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from paritygate.docker_engine.containers import READ_ONLY
from paritygate.docker_engine.requests import ContainerRequest, EngineInfo

CHOSEN_BY_FLAG = "flag"


def run_line(request: ContainerRequest, engine: EngineInfo) -> str:
    """Write a request, its variables included, as one `docker run` line; it asks for what `containers.configuration` does."""
    chosen = ("--host", engine.endpoint.url) if engine.endpoint.why == CHOSEN_BY_FLAG else ()
    return shlex.join(("docker", *chosen, "run", "--rm", "--init", *_options(request), request.image, *request.command))


def _options(request: ContainerRequest) -> Iterator[str]:
    given = (
        ("--network", "bridge" if request.network else "none"),
        ("--hostname", request.hostname),
        ("--add-host", f"{request.hostname}:127.0.0.1"),
        ("--ipc", "private"),
        ("--cap-drop", "ALL"),
        *(("--cap-add", each) for each in request.capabilities),
        *(("--device", each) for each in request.devices),
        *(("--security-opt", each) for each in request.security),
        ("--pids-limit", str(request.processes)),
        *((("--memory", str(request.memory)), ("--memory-swap", str(request.memory))) if request.memory else ()),
        *((("--cpus", f"{request.cpus:g}"),) if request.cpus else ()),
        ("--shm-size", str(request.shared_memory)),
        *(("--tmpfs", f"{each}:{READ_ONLY}") for each in request.empty),
        ("--user", request.user),
        ("--workdir", request.workdir),
        *(("--env", f"{name}={value}") for name, value in request.environment.items()),
    )
    yield from (f"--{word}" for word, wanted in (("interactive", request.stdin), ("tty", request.tty)) if wanted)
    for option, value in given:
        yield from (option, value)
