"""The lock's format: a sorted object of relative POSIX paths, each with the sha256 of its content."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping

import msgspec

from paritygate import strict_json

DIGEST = re.compile(r"[0-9a-f]{64}")


class Lock(msgspec.Struct, frozen=True, kw_only=True):
    """Digests by path from the project, and what is wrong with the file that they are from."""

    digests: dict[str, str] = {}
    faults: tuple[str, ...] = ()


def read(content: bytes) -> Lock:
    """Read a lock; all that is wrong with it is among the faults."""
    try:
        found = strict_json.read_map(content)
    except ValueError as error:
        return Lock(faults=(str(error),))
    faults = tuple(fault for path, digest in found.items() for fault in _wrong(path, digest))
    return Lock(digests={} if faults else {path: str(digest) for path, digest in found.items()}, faults=faults)


def write(digests: Mapping[str, str]) -> bytes:
    """Write a lock: a line for each file, so that a diff shows which moved."""
    return strict_json.write_map(digests)


def _wrong(path: str, digest: object) -> Iterator[str]:
    if not path or path.startswith(("/", "../")) or posixpath.normpath(path) != path or path in {".", ".."} or "\0" in path:
        yield f"`{path}` is no path below the project, written with `/` and without dots"
    if not isinstance(digest, str) or DIGEST.fullmatch(digest) is None:
        yield f"`{path}` has no sha256, which are 64 digits of 0 to f"
