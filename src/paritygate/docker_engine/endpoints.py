"""Where an engine may be: the candidates, in order, with the reason for each.

It reads the Docker configuration and looks which sockets exist; it connects to nothing.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from paritygate.docker_engine.requests import Endpoint
from paritygate.errors import ConfigError, UsageError

DEFAULT_SOCKET = "npipe:////./pipe/docker_engine" if sys.platform == "win32" else "unix:///var/run/docker.sock"
DEFAULT_CONTEXT = "default"
SETTINGS = "the settings"
"""Why an engine is asked that somebody has named in them."""

EXAMPLES = "such as `unix:///var/run/docker.sock` or `tcp://HOST:2376`"

# What the SDK makes of anything else is a surprise: it takes a word without a scheme for the name of a computer.
_URL = re.compile(
    r"(?:unix|npipe|http\+unix)://[^?#]*"
    r"|ssh://(?:[^\s/@]+@)?[^\s/@:]+(?::(?P<ssh>\d{1,5}))?/?"
    r"|(?:tcp|http|https)://(?:\[[0-9a-fA-F:.]+\]|[^\s/@:\[\]]+):(?P<port>\d{1,5})(?:/[^\s?#]*)?"
)
_PORTS = range(1, 1 << 16)


class EndpointSearch(msgspec.Struct, frozen=True, kw_only=True):
    """What the search for an engine starts from.

    `host` is an explicit choice, empty for none; `engine` one that the settings name, a context or an address, which goes over
    all else. `environment` gives `DOCKER_HOST` and its like, `home` the user's folder.
    `ready_seconds` is for how long a `DOCKER_HOST` or `host` that does not answer yet is asked again: an engine that is
    started beside the gate, as in a CI job, needs some seconds. `contained` says that this is asked inside a container.
    `system_sockets` are the places outside the home.
    """

    environment: Mapping[str, str]
    home: Path
    host: str = ""
    engine: str = ""
    ready_seconds: float = 0.0
    contained: bool = False
    default: str = DEFAULT_SOCKET
    system_sockets: tuple[Path, ...] = (Path("/run/podman/podman.sock"),)


class Certificates(msgspec.Struct, frozen=True, kw_only=True):
    """The files for TLS, empty where there are none; `verify` says whether the engine has to prove who it is."""

    authority: str = ""
    certificate: str = ""
    key: str = ""
    verify: bool = True


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """One place to ask. An explicit one must answer: it was asked for, and another engine would be a surprise."""

    endpoint: Endpoint
    certificates: Certificates | None = None
    explicit: bool = False
    may_wait: bool = False


class _DockerEndpoint(msgspec.Struct, frozen=True):
    Host: str = ""
    SkipTLSVerify: bool = False


class _ContextFile(msgspec.Struct, frozen=True):
    Name: str
    Endpoints: dict[str, _DockerEndpoint] = {}


class _DockerConfig(msgspec.Struct, frozen=True):
    currentContext: str = ""  # noqa: N815 - the name in the file


def inside_container(root: Path = Path("/")) -> bool:
    """Say whether this process runs in a container, as far as one can see."""
    if any(root.joinpath(mark).exists() for mark in (".dockerenv", "run/.containerenv")):
        return True
    try:
        groups = root.joinpath("proc/1/cgroup").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return any(word in groups for word in ("/docker", "/kubepods", "/containerd", "/libpod"))


def candidates(search: EndpointSearch) -> tuple[Candidate, ...]:
    """List the places to ask: only one where it was chosen explicitly, else the usual ones that exist, in order."""
    chosen = _chosen(search)
    if chosen is not None and chosen.explicit:
        return (chosen,)
    found = [] if chosen is None else [chosen]
    found.append(Candidate(endpoint=Endpoint(search.default, "default socket")))
    found += [Candidate(endpoint=Endpoint(f"unix://{path}", "usual socket")) for path in _usual_sockets(search)]
    first = {candidate.endpoint.url: candidate for candidate in reversed(found)}
    return tuple(candidate for candidate in found if first[candidate.endpoint.url] is candidate)


def _chosen(search: EndpointSearch) -> Candidate | None:
    if search.engine:
        return _named(search)
    variables = search.environment
    for url, why in ((search.host, "flag"), (variables.get("DOCKER_HOST", ""), "DOCKER_HOST")):
        if url:
            _check_url(url, "--host" if why == "flag" else why)
            certificates = _certificates_of(variables, search.home)
            return Candidate(endpoint=Endpoint(url, why), certificates=certificates, explicit=True, may_wait=True)
    if name := variables.get("DOCKER_CONTEXT", ""):
        return _context(search, name, "DOCKER_CONTEXT")
    if name := _current_context(search):
        return _context(search, name, "")
    return None


def _named(search: EndpointSearch) -> Candidate:
    """Take the engine that the settings name; what has no slash is a context."""
    if "/" not in search.engine:
        return _context(search, search.engine, SETTINGS)
    _check_url(search.engine, "engine")
    certificates = _certificates_of(search.environment, search.home)
    return Candidate(endpoint=Endpoint(search.engine, SETTINGS), certificates=certificates, explicit=True, may_wait=True)


def _check_url(url: str, source: str) -> None:
    """Refuse what is no address of an engine, before it is taken for one that does not answer."""
    found = _URL.fullmatch(url)
    if found is not None and all(int(port) in _PORTS for port in found.groups() if port is not None):
        return
    hint = f"write `unix://{url}`" if url.startswith("/") else f"write a URL, {EXAMPLES}"
    raise UsageError(f"`{source}` is `{url}`, which is no address of an engine", hint)


def _certificates_of(variables: Mapping[str, str], home: Path) -> Certificates | None:
    verify = bool(variables.get("DOCKER_TLS_VERIFY"))
    folder = variables.get("DOCKER_CERT_PATH", "")
    if not verify and not folder:
        return None
    return _certificates_in(Path(folder) if folder else home / ".docker", verify=verify)


def _certificates_in(folder: Path, *, verify: bool) -> Certificates:
    authority, certificate, key = (
        str(folder / name) if (folder / name).is_file() else "" for name in ("ca.pem", "cert.pem", "key.pem")
    )
    return Certificates(authority=authority, certificate=certificate, key=key, verify=verify)


def _configuration_folder(search: EndpointSearch) -> Path:
    folder = search.environment.get("DOCKER_CONFIG", "")
    return Path(folder) if folder else search.home / ".docker"


def _current_context(search: EndpointSearch) -> str:
    path = _configuration_folder(search) / "config.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=_DockerConfig).currentContext
    except FileNotFoundError:
        return ""
    except (OSError, msgspec.DecodeError) as error:
        raise ConfigError(str(path), (f"cannot be read: {error}",)) from error


def _context(search: EndpointSearch, name: str, variable: str) -> Candidate:
    """Look a context up by name; an unknown one is an error, since the engine meant is not the default one."""
    if name == DEFAULT_CONTEXT:
        return Candidate(endpoint=Endpoint(search.default, "context default"), explicit=bool(variable))
    folder = _configuration_folder(search)
    digest = hashlib.sha256(name.encode()).hexdigest()
    path = folder / "contexts" / "meta" / digest / "meta.json"
    source = variable or str(folder / "config.json")
    try:
        endpoint = msgspec.json.decode(path.read_bytes(), type=_ContextFile).Endpoints.get("docker", _DockerEndpoint())
    except FileNotFoundError as error:
        known = ", ".join(f"`{other}`" for other in (DEFAULT_CONTEXT, *sorted(_known_contexts(folder))))
        raise ConfigError(source, (f"there is no Docker context `{name}`; known are {known}",)) from error
    except (OSError, msgspec.DecodeError) as error:
        raise ConfigError(str(path), (f"the context `{name}` cannot be read: {error}",)) from error
    if not endpoint.Host:
        raise ConfigError(source, (f"the context `{name}` has no Docker endpoint",))
    _check_url(endpoint.Host, f"docker context {name}")
    secrets = folder / "contexts" / "tls" / digest / "docker"
    certificates = _certificates_in(secrets, verify=not endpoint.SkipTLSVerify) if secrets.is_dir() else None
    where = Endpoint(endpoint.Host, f"context {name}")
    return Candidate(endpoint=where, certificates=certificates, explicit=bool(variable), may_wait=False)


def _known_contexts(folder: Path) -> Iterator[str]:
    for path in (folder / "contexts" / "meta").glob("*/meta.json"):
        try:
            yield msgspec.json.decode(path.read_bytes(), type=_ContextFile).Name
        except (OSError, msgspec.DecodeError):
            continue


def _usual_sockets(search: EndpointSearch) -> Iterator[Path]:
    """Yield what exists of the sockets of Docker Desktop, colima, OrbStack, Rancher Desktop, rootless Docker and Podman."""
    places = [search.home / ".docker" / "run" / "docker.sock"]
    places += sorted((search.home / ".colima").glob("*/docker.sock"))
    places += [search.home / ".orbstack" / "run" / "docker.sock", search.home / ".rd" / "docker.sock"]
    if runtime := search.environment.get("XDG_RUNTIME_DIR", ""):
        places += [Path(runtime) / "docker.sock", Path(runtime) / "podman" / "podman.sock"]
    places += search.system_sockets
    for place in places:
        try:
            if place.exists():
                yield place
        except OSError:
            continue
