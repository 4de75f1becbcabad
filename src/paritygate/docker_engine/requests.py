"""What is asked of the engine and what it answers, without any type of the SDK."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

RUN_LABEL = "paritygate.run"
KIND_LABEL = "paritygate.kind"
OWNER_LABEL = "paritygate.owner"
DEADLINE_LABEL = "paritygate.deadline"
BUILD_LABEL = "paritygate.build"
"""On what a builder makes on its way to an image, and not on that image itself."""

TEMPORARY = "temporary"
"""The kind of an image that must not outlive its run."""

Log = Callable[[str], None]


class Endpoint(msgspec.Struct, frozen=True):
    """Where an engine is and why it was chosen (`flag`, `DOCKER_HOST`, `context desktop-linux`, `default socket`...)."""

    url: str
    why: str


class EngineInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What an engine says of itself; `memory` is bytes, `cpus` what it may use, `root` the folder in which it keeps images.

    `identity` is the same for one engine whatever address leads to it, and empty where it says nothing of the kind.
    """

    endpoint: Endpoint
    name: str
    version: str
    api: str
    platform: str
    cpus: int
    memory: int
    rootless: bool
    security: tuple[str, ...]
    root: str = ""
    identity: str = ""


class ImageRecord(msgspec.Struct, frozen=True, kw_only=True):
    """An image that the engine holds; `created` is ISO 8601, `size` bytes, `layers` the digests of what its files are made of."""

    identity: str
    tags: tuple[str, ...]
    labels: dict[str, str]
    created: str
    size: int
    layers: tuple[str, ...] = ()


class BuildRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A build from files that are sent along; `files` maps names in the context, `Dockerfile` among them, to contents."""

    tag: str
    files: dict[str, bytes]
    labels: dict[str, str]
    arguments: dict[str, str] = {}


class ContainerRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One container.

    `kind` is `cell`, `install` or `snapshot`. `memory` is bytes (0: none of its own), `cpus` a number (0: all),
    `seconds` the deadline after which a sweep may remove it where nobody can say whether its owner lives.

    `empty` are folders that are empty, and in which nobody can make anything, whatever is below them in the image.

    With `tty` its streams are a terminal's: what it writes comes as stdout, as it is.

    Of a kind other than `cell`, `environment` is given to the command alone and is in no image made of the container, unless
    `stdin` is asked for as well. There is no limit of open files: an engine refuses one above its own, so the guest sets it.
    """

    image: str
    command: tuple[str, ...]
    kind: str
    name: str
    user: str = "0:0"
    workdir: str = "/"
    environment: dict[str, str] = {}
    hostname: str = "paritygate"
    network: bool = False
    capabilities: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    security: tuple[str, ...] = ("no-new-privileges",)
    processes: int = 512
    memory: int = 0
    cpus: float = 0.0
    shared_memory: int = 1 << 30
    empty: tuple[str, ...] = ()
    stdin: bool = False
    tty: bool = False
    seconds: float = 3600.0


class ContainerEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How a container ended; `detail` is what the engine said of it."""

    exit_code: int
    out_of_memory: bool
    detail: str = ""


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    """Makes an image of a stopped or created container, with a configuration of its own: nothing of its variables stays."""

    tag: str
    labels: dict[str, str]
    environment: dict[str, str]
    workdir: str = "/"
    command: tuple[str, ...] = ()


Tar = Iterable[bytes]
