"""The verbs of an engine and of a container as protocols: what every other room may ask for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from paritygate.docker_engine.requests import (
    KIND_LABEL,
    BuildRequest,
    Commit,
    ContainerEnd,
    ContainerRequest,
    EngineInfo,
    ImageRecord,
    Log,
    Tar,
)


class Streams(Protocol):
    """The attached streams of a container: bytes in, frames out."""

    def write(self, data: bytes) -> None:
        """Send bytes to the container's stdin."""

    def frames(self) -> Iterator[tuple[int, bytes]]:
        """Yield (1 for stdout or 2 for stderr, bytes) until the container's streams end or `close` is called."""

    def close(self) -> None:
        """Let go of the connection; a reader in another thread ends."""


class Container(Protocol):
    """A created container. Leaving the context that made it removes it, whatever happened."""

    @property
    def identity(self) -> str:
        """Say the engine's id of it."""

    def put(self, path: str, tar: Tar) -> None:
        """Unpack a tar, given in pieces, below a path; ownership and modes are those of its headers."""

    def attach(self) -> Streams:
        """Attach to stdin, stdout and stderr; to be called before `start`."""

    def start(self) -> None:
        """Start it."""

    def wait(self, seconds: float) -> ContainerEnd | None:
        """Wait until it has ended; None when the time was too short."""

    def kill(self) -> None:
        """End it at once; not an error when it has ended already."""

    def resize(self, rows: int, columns: int) -> None:
        """Say how large its terminal is."""

    def logs(self) -> Iterator[tuple[int, bytes]]:
        """Yield the frames that the engine's own log has kept, from the beginning."""

    def commit(self, request: Commit) -> ImageRecord:
        """Make an image of what it holds now."""


class Engine(Protocol):
    """A reachable engine. Every method raises `EngineError` when the engine refuses or is lost."""

    @property
    def info(self) -> EngineInfo:
        """Say what it is."""

    def container(self, request: ContainerRequest) -> AbstractContextManager[Container]:
        """Create a container, labelled with this run, and remove it and its volumes on leaving the context."""

    def build(self, request: BuildRequest, log: Log) -> ImageRecord:
        """Build an image; raises `BuildError` with the end of the log."""

    def pull(self, reference: str, log: Log) -> ImageRecord | None:
        """Pull an image; None where no registry answers or it does not have it."""

    def import_image(self, tar: Tar, tag: str, labels: dict[str, str]) -> ImageRecord:
        """Make an image of a root filesystem."""

    def save(self, tags: tuple[str, ...]) -> Tar:
        """Give images as one archive, for another engine to `load`."""

    def load(self, tar: Tar) -> None:
        """Take in images that another engine has saved, under their names."""

    def answers(self) -> bool:
        """Say whether it answers now, within seconds; raises nothing."""

    def image(self, reference: str) -> ImageRecord | None:
        """Look an image up by tag or id."""

    def images(self, label: str = KIND_LABEL) -> tuple[ImageRecord, ...]:
        """List the images that carry a label, `NAME` or `NAME=VALUE`; without one those that carry ours."""

    def remove_image(self, reference: str) -> None:
        """Remove an image; not an error when it is gone already."""

    def sweep(self) -> tuple[str, ...]:
        """Remove what earlier runs whose owner is dead have left, and say what it was."""
