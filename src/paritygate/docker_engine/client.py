"""The SDK's low-level client, with what it lacks: a limit for every request, and credential helpers that may fail.

It speaks to one endpoint and knows nothing of containers or images.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from docker import APIClient
from docker.constants import DEFAULT_DOCKER_API_VERSION
from docker.credentials.errors import StoreError
from docker.errors import DockerException
from docker.tls import TLSConfig

from paritygate.docker_engine.endpoints import Candidate, Certificates
from paritygate.errors import EngineError

OLDEST_API = (1, 41)
PROBE_SECONDS = 10
REQUEST_SECONDS = 900
# Looking and removing: an engine that takes longer than this has gone, though the connection does not say so.
QUICK_METHODS = frozenset({"GET", "DELETE", "HEAD"})
QUICK_SECONDS = 120
CONNECTIONS = 32
PIECE = 1 << 20
# An engine writes all layers to a disk of its own before it sends the first byte.
SAVING_SECONDS = 3600.0
LOOKS = 2
LOOK_PAUSE = 1.0

logger = logging.getLogger(__name__)


class Says(msgspec.Struct, frozen=True, kw_only=True):
    """What an engine says of its version."""

    Version: str = "unknown"
    ApiVersion: str = ""
    MinAPIVersion: str = ""
    Os: str = ""
    Arch: str = ""
    Components: tuple[dict[str, Any], ...] | None = None


class Client(APIClient):  # type: ignore[misc] # the SDK is untyped
    """One connection pool to one engine, safe to use from several threads."""

    def __init__(self, candidate: Candidate, version: str, seconds: float) -> None:
        super().__init__(
            base_url=candidate.endpoint.url,
            version=version,
            timeout=seconds,
            tls=_tls(candidate.certificates),
            max_pool_size=CONNECTIONS,
        )
        self._candidate = candidate
        # Neither proxies nor the certificate bundle nor the .netrc of the environment concern an engine; requests would let
        # `REQUESTS_CA_BUNDLE` win over the certificates of the context.
        self.trust_env = False

    def request(self, method: str | bytes, *args: Any, **keywords: Any) -> Any:
        """Send a request; the SDK leaves some without any limit, of which a dead connection would make a hang."""
        if keywords.get("timeout") in {None, self.timeout}:
            quick = str(method).upper() in QUICK_METHODS
            keywords["timeout"] = min(self.timeout, QUICK_SECONDS) if quick else self.timeout
        return super().request(method, *args, **keywords)

    def with_limit(self, seconds: float) -> Client:
        """Make a client of the same engine with another limit for each answer."""
        return Client(self._candidate, self.api_version, seconds)

    def saved(self, names: Sequence[str]) -> Iterator[bytes]:
        """Yield images, all in one archive, so that what they share is in it once; the SDK can do so of one alone."""
        answer = self._get(self._url("/images/get"), params={"names": list(names)}, stream=True, timeout=SAVING_SECONDS)
        self._raise_for_status(answer)
        yield from answer.iter_content(PIECE)

    def answers(self) -> bool:
        """Say whether the engine answers now; one that is slow is asked a second time."""
        impatient = self.with_limit(PROBE_SECONDS)
        try:
            for look in range(LOOKS):
                time.sleep(LOOK_PAUSE * bool(look))
                try:
                    _knock(self._candidate.endpoint.url)
                    return bool(impatient.ping())
                except (DockerException, OSError) as error:
                    logger.debug("`%s` does not answer: %s", self._candidate.endpoint.url, error)
            return False
        finally:
            impatient.close()

    def _set_auth_headers(self, headers: dict[str, Any]) -> None:
        """Go on without credentials where a helper fails: most base images need none, and a build names what it cannot get."""
        try:
            super()._set_auth_headers(headers)
        except (StoreError, DockerException) as error:
            logger.warning("building without registry credentials: %s", error)


def open_client(candidate: Candidate) -> tuple[Client, Says]:
    """Connect, agree on an API version, and return the client with what the engine says of its version.

    The version is the older of the engine's and the SDK's, as other clients do it: the SDK alone would take the engine's
    whatever it is.
    """
    _knock(candidate.endpoint.url)
    probe = Client(candidate, DEFAULT_DOCKER_API_VERSION, PROBE_SECONDS)
    try:
        says = msgspec.convert(probe.version(api_version=False), Says, strict=False)
    except msgspec.ValidationError as error:
        raise EngineError(f"what answers at `{candidate.endpoint.url}` is no engine: {error}") from error
    finally:
        probe.close()
    if _numbers(says.ApiVersion) < OLDEST_API:
        oldest = ".".join(map(str, OLDEST_API))
        raise EngineError(
            f"the engine at `{candidate.endpoint.url}` (version {says.Version}) speaks API "
            f"{says.ApiVersion or 'unknown'}, older than {oldest}",
            "update it: Docker 20.10 and Podman 4 are recent enough",
        )
    version = min(says.ApiVersion, DEFAULT_DOCKER_API_VERSION, key=_numbers)
    if _numbers(version) < _numbers(says.MinAPIVersion):
        version = says.ApiVersion
    return Client(candidate, version, REQUEST_SECONDS), says


def _knock(url: str) -> None:
    """Try a unix socket by hand: its refusal is plainer than what three libraries make of it, and the SDK leaves it open."""
    if not url.startswith("unix://"):
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knocking:
        knocking.settimeout(PROBE_SECONDS)
        knocking.connect("/" + url.removeprefix("unix://").lstrip("/"))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def _tls(certificates: Certificates | None) -> TLSConfig | bool:
    if certificates is None:
        return False
    pair = (certificates.certificate, certificates.key) if certificates.certificate and certificates.key else None
    return TLSConfig(client_cert=pair, ca_cert=certificates.authority or None, verify=certificates.verify)
