"""How package indexes are reached: variables and certificates, given to installing containers only while they run.

Nothing of it is written into an image, a label or a log.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from paritygate.errors import UsageError

_URLS = (
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "UV_INDEX",
    "UV_DEFAULT_INDEX",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
)
_PLAIN = ("PIP_TRUSTED_HOST", "PIP_DEFAULT_TIMEOUT", "PIP_RETRIES", "UV_INSECURE_HOST", "NO_PROXY")
_CERTIFICATES = ("PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE")
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_BEGIN = b"-----BEGIN CERTIFICATE"
_INDEXES = ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "UV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL")


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """Variables for the time of an installation, and certificates to trust beside the system's (PEM, may be empty)."""

    variables: dict[str, str] = {}
    certificates: bytes = b""

    @property
    def proxies(self) -> dict[str, str]:
        """The proxies alone, as build arguments: the engine keeps these out of an image's history."""
        return {name: value for name, value in self.variables.items() if name.upper() in _PROXIES}

    @property
    def indexes(self) -> str:
        """The indexes without their credentials: with other indexes the same names may be other packages."""
        return " ".join(f"{name}={without_credentials(self.variables[name])}" for name in _INDEXES if name in self.variables)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every user name with password, and each password alone, that must not be seen in a log."""
        found: list[str] = []
        for value in self.variables.values():
            found += re.findall(r"://([^/@\s]+)@", value)
        return tuple(dict.fromkeys(part for pair in found for part in (pair, pair.partition(":")[2]) if part))


def from_host(variables: Mapping[str, str], extra_ca_certs: str, project: Path) -> Access:
    """Take from the host's variables what installing needs; `extra_ca_certs` is relative to the project.

    Addresses on the host's own disk mean nothing inside a container and are left out.
    """
    taken: dict[str, str] = {}
    for name in _URLS:
        for spelling in (name, name.lower()):
            remote = [part for part in variables.get(spelling, "").split() if _is_remote(part)]
            if remote:
                taken[spelling] = " ".join(remote)
    for name in _PLAIN:
        for spelling in (name, name.lower()):
            if variables.get(spelling):
                taken[spelling] = variables[spelling]
    if "PIP_INDEX_URL" in taken and not {"UV_INDEX_URL", "UV_DEFAULT_INDEX"} & taken.keys():
        taken["UV_DEFAULT_INDEX"] = taken["PIP_INDEX_URL"]
    return Access(variables=taken, certificates=_certificates(variables, extra_ca_certs, project))


def without_credentials(text: str) -> str:
    """Take user names and passwords out of the addresses in a text."""
    return re.sub(r"://[^/@\s]+@", "://", text)


def _is_remote(part: str) -> bool:
    address = part.partition("=")[2] if re.match(r"[\w-]+=", part) else part
    return urlsplit(address).scheme in {"http", "https", "socks5", "socks5h"}


def problem_with(certificates: str, project: Path) -> str:
    """Say what is wrong with the file that `extra-ca-certs` names, which is relative to the project; empty where nothing is."""
    path = project / Path(certificates).expanduser()
    try:
        content = path.read_bytes() if certificates else _BEGIN
    except OSError as error:
        lacking = isinstance(error, FileNotFoundError | NotADirectoryError)
        what = f"there is no file `{path}`" if lacking else f"`{path}` cannot be read: {(error.strerror or str(error)).lower()}"
    else:
        what = "" if _BEGIN in content else f"`{path}` holds no certificate in PEM, which begins with `{_BEGIN.decode()}-----`"
    return f"`image.extra-ca-certs`: {what}" if what else ""


def _certificates(variables: Mapping[str, str], extra: str, project: Path) -> bytes:
    named = next((variables[name] for name in _CERTIFICATES if variables.get(name) and Path(variables[name]).is_file()), "")
    parts = [Path(named).read_bytes()] if named else []
    if extra:
        if problem := problem_with(extra, project):
            raise UsageError(problem, "correct it, or leave it out")
        parts.append((project / Path(extra).expanduser()).read_bytes())
    return b"\n".join(parts)
