"""The engine over the SDK: every verb of the protocol, each in the module of its subject."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager

from paritygate.docker_engine import containers, images, sweeping
from paritygate.docker_engine.client import Client
from paritygate.docker_engine.container import DockerContainer
from paritygate.docker_engine.owners import Run
from paritygate.docker_engine.requests import (
    KIND_LABEL,
    BuildRequest,
    ContainerRequest,
    EngineInfo,
    ImageRecord,
    Log,
    Tar,
)


class DockerEngine:
    """A reachable engine; safe to use from several threads."""

    def __init__(self, client: Client, info: EngineInfo, run: Run) -> None:
        self._client = client
        self._info = info
        self._run = run

    @property
    def info(self) -> EngineInfo:
        """Say what it is."""
        return self._info

    def container(self, request: ContainerRequest) -> AbstractContextManager[DockerContainer]:
        """Create a container, labelled with this run, and remove it and its volumes on leaving the context."""
        return containers.created(self._client, self._run, request)

    def build(self, request: BuildRequest, log: Log) -> ImageRecord:
        """Build an image; raises `BuildError` with the end of the log."""
        return images.build(self._client, self._run, request, log)

    def pull(self, reference: str, log: Log) -> ImageRecord | None:
        """Pull an image; None where no registry answers or it does not have it."""
        return images.pull(self._client, reference, log)

    def import_image(self, tar: Tar, tag: str, labels: dict[str, str]) -> ImageRecord:
        """Make an image of a root filesystem."""
        return images.import_image(self._client, tar, tag, labels)

    def save(self, tags: tuple[str, ...]) -> Tar:
        """Give images as one archive, for another engine to `load`."""
        return images.save(self._client, tags)

    def load(self, tar: Tar) -> None:
        """Take in images that another engine has saved, under their names."""
        images.load(self._client, tar)

    def answers(self) -> bool:
        """Say whether it answers now, within seconds."""
        return self._client.answers()

    def image(self, reference: str) -> ImageRecord | None:
        """Look an image up by tag or id."""
        return images.find(self._client, reference)

    def images(self, label: str = KIND_LABEL) -> tuple[ImageRecord, ...]:
        """List the images that carry a label, `NAME` or `NAME=VALUE`; without one those that carry ours."""
        return images.labelled(self._client, label)

    def remove_image(self, reference: str) -> None:
        """Remove an image; not an error when it is gone already."""
        images.remove(self._client, reference)

    def sweep(self) -> tuple[str, ...]:
        """Remove what earlier runs whose owner is dead have left, and say what it was."""
        return sweeping.sweep(self._client, self._run.owner, time.time())

    def close(self) -> None:
        """Let go of the connections."""
        self._client.close()
