"""Finding the engine: asks the candidates in order and takes the first that answers."""

from __future__ import annotations

import re
import time

import msgspec

from paritygate.docker_engine.client import Client, Says, open_client
from paritygate.docker_engine.endpoints import Candidate, EndpointSearch, candidates
from paritygate.docker_engine.engine import DockerEngine
from paritygate.docker_engine.failures import FOREIGN, GONE, explain, hint_for
from paritygate.docker_engine.owners import this_run
from paritygate.docker_engine.requests import EngineInfo
from paritygate.errors import EngineError, EngineUnavailableError

FIRST_PAUSE = 0.25
LONGEST_PAUSE = 4.0

_LOOPBACK = re.compile(r"(?:tcp|https?)://(?:localhost|127\.[0-9.]+|\[::1\]):")


class _Info(msgspec.Struct, frozen=True, kw_only=True):
    NCPU: int = 0
    MemTotal: int = 0
    SecurityOptions: tuple[str, ...] | None = None
    DockerRootDir: str | None = None
    ID: str | None = None
    Name: str | None = None


def connect(search: EndpointSearch) -> DockerEngine:
    """Find an engine.

    Raises `EngineUnavailableError` with everything that was tried, and `ConfigError` for a context that does not exist. A
    chosen engine that is too old is an `EngineError`; one that was only come upon is passed over.
    """
    tried: list[str] = []
    for candidate in candidates(search):
        where = f"`{candidate.endpoint.url}` ({candidate.endpoint.why})"
        try:
            return _open(candidate, search.ready_seconds if candidate.may_wait else 0.0)
        except EngineError as error:
            if candidate.explicit:
                raise
            tried.append(f"{where}: {error.message}")
        except FOREIGN as error:
            says = explain(error)
            tried.append(f"{where}: {says}")
            if candidate.explicit:
                message = f"the engine chosen by {candidate.endpoint.why} does not answer:"
                hint = hint_of(candidate, says, contained=search.contained)
                raise EngineUnavailableError(message, tuple(tried), hint, named=True) from error
    raise EngineUnavailableError("no Docker engine answers; tried, in this order:", tuple(tried), _permission_hint(tried))


def nobody_named(name: str) -> DockerEngine:
    """Know of no engine by any name."""
    raise EngineUnavailableError(f"nothing is known of an engine `{name}`", named=True)


def _open(candidate: Candidate, ready_seconds: float) -> DockerEngine:
    give_up = time.monotonic() + ready_seconds
    pause = FIRST_PAUSE
    while True:
        try:
            client, says = open_client(candidate)
            return DockerEngine(client, _info(candidate, client, says), this_run())
        except FOREIGN:
            if time.monotonic() + pause > give_up:
                raise
        time.sleep(pause)
        pause = min(pause * 2, LONGEST_PAUSE)


def _info(candidate: Candidate, client: Client, says: Says) -> EngineInfo:
    info = msgspec.convert(client.info(), _Info, strict=False)
    components = {str(component.get("Name", "")) for component in says.Components or ()}
    security = info.SecurityOptions or ()
    return EngineInfo(
        endpoint=candidate.endpoint,
        name="Podman" if "Podman Engine" in components else "Docker Engine",
        version=says.Version,
        api=says.ApiVersion,
        platform=f"{says.Os}/{says.Arch}",
        cpus=info.NCPU,
        memory=info.MemTotal,
        rootless=any(option.split(",")[0] == "name=rootless" for option in security),
        security=security,
        root=info.DockerRootDir or "",
        # Neither is enough: copies of a machine share the first, and so do two engines on one computer.
        identity=f"{info.ID} {info.Name} {info.DockerRootDir}" if info.ID else "",
    )


def hint_of(candidate: Candidate, says: str, *, contained: bool) -> str:
    """Say what to do about an engine that was chosen and does not answer."""
    url = candidate.endpoint.url
    if url.startswith("ssh://"):
        return "ssh needs the package `paramiko`; or make a tunnel: `ssh -nNT -L /tmp/engine.sock:/var/run/docker.sock HOST`"
    if contained and _LOOPBACK.match(url):
        return "inside a container `localhost` is the container itself: name the host or service on which the engine runs"
    if (known := hint_for(says)) and known != GONE:
        return known
    if candidate.endpoint.why == "DOCKER_HOST":
        return "start that engine, or unset `DOCKER_HOST` to let the usual places be tried"
    if candidate.endpoint.why == "flag":
        return "start that engine, or leave out `--host` to let the usual places be tried"
    return "start that engine, or choose another one: `docker context ls` lists them"


def _permission_hint(tried: list[str]) -> str:
    return next((hint_for(line) for line in tried if "permission denied" in line.lower()), "")
