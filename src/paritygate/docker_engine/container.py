"""One created container: everything that can be done with it while it lives."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import msgspec
from docker.errors import NotFound

from paritygate.docker_engine.client import Client
from paritygate.docker_engine.failures import FOREIGN, engine_errors, unless_gone
from paritygate.docker_engine.owners import Run, owned
from paritygate.docker_engine.records import image_record
from paritygate.docker_engine.requests import DEADLINE_LABEL, OWNER_LABEL, RUN_LABEL, Commit, ContainerEnd, ImageRecord, Tar
from paritygate.docker_engine.streams import STDERR, STDOUT, SocketStreams

LONGEST_WAIT = 30.0
PAUSE = 0.1
ENDED = frozenset({"exited", "dead", "removing"})


class Inside(msgspec.Struct, frozen=True):
    """What awaits whoever attaches: `variables` is written to stdin at the start, where the command waits for it."""

    variables: bytes = b""
    tty: bool = False


class DockerContainer:
    """A container of the engine."""

    def __init__(self, client: Client, run: Run, identity: str, inside: Inside) -> None:
        self._client = client
        self._run = run
        self._identity = identity
        self._variables = inside.variables
        self._tty = inside.tty
        self._attached: list[SocketStreams] = []

    @property
    def identity(self) -> str:
        """Say the engine's id of it."""
        return self._identity

    def put(self, path: str, tar: Tar) -> None:
        """Unpack a tar below a path that exists; fails in the tar's own way where reading it fails."""
        source = _Source(tar)
        try:
            with engine_errors(f"unpack files below `{path}` in the container"):
                self._client.put_archive(self._identity, path, iter(source))
        except Exception as error:
            if source.failure is not None:
                raise source.failure from error
            raise

    def attach(self) -> SocketStreams:
        """Attach to all three streams; to be called before `start`."""
        return self._attach(stdout=1, stderr=1)

    def start(self) -> None:
        """Start it."""
        variables = self._attach(stdout=0, stderr=0) if self._variables else None
        with engine_errors("start the container"):
            self._client.start(self._identity)
        if variables is not None:
            variables.write(self._variables)
            variables.close()

    def wait(self, seconds: float) -> ContainerEnd | None:
        """Wait until it has ended; None when the time was too short."""
        deadline = time.monotonic() + seconds
        while True:
            end = self._end()
            left = deadline - time.monotonic()
            if end is not None or left <= 0:
                return end
            try:
                self._client.wait(self._identity, timeout=max(min(left, LONGEST_WAIT), PAUSE))
            except FOREIGN:
                # A time limit shows as an error of requests or of urllib3; whether the engine is lost, the next look says.
                time.sleep(min(PAUSE, max(left, 0)))

    def kill(self) -> None:
        """End it at once; not an error when it has ended already."""
        with engine_errors("kill the container"), unless_gone():
            self._client.kill(self._identity)

    def resize(self, rows: int, columns: int) -> None:
        """Say how large its terminal is; not an error when it has ended."""
        with engine_errors("resize the container's terminal"), unless_gone():
            self._client.resize(self._identity, height=rows, width=columns)

    def logs(self) -> Iterator[tuple[int, bytes]]:
        """Yield what the engine's log has kept: all of stdout, then all of stderr."""
        for stream in (STDOUT, STDERR):
            with engine_errors("read the container's log"):
                pieces = self._client.logs(
                    self._identity, stdout=stream == STDOUT, stderr=stream == STDERR, stream=True, follow=False
                )
                for piece in pieces:
                    yield stream, piece

    def commit(self, request: Commit) -> ImageRecord:
        """Make an image of what it holds now; the labels of this run stay behind."""
        repository, _, tag = request.tag.rpartition(":")
        unowned = dict.fromkeys((RUN_LABEL, OWNER_LABEL, DEADLINE_LABEL), "")
        settings = {
            "Env": [f"{name}={value}" for name, value in request.environment.items()],
            "WorkingDir": request.workdir,
            "Cmd": list(request.command) or ["/bin/sh"],
            "Entrypoint": [],
            "User": "0:0",
            # The engine adds the container's labels where the image has none of that name.
            "Labels": {**unowned, **owned(self._run, request.labels)},
        }
        with engine_errors(f"make the image `{request.tag}` of the container"):
            self._client.commit(self._identity, repository=repository, tag=tag, conf=settings)
            return image_record(self._client.inspect_image(request.tag))

    def release(self) -> None:
        """Let go of every connection to it."""
        for streams in self._attached:
            streams.release()
        self._attached.clear()

    def _attach(self, *, stdout: int, stderr: int) -> SocketStreams:
        with engine_errors("attach to the container"):
            parameters: dict[str, Any] = {"stream": 1, "stdin": 1, "stdout": stdout, "stderr": stderr}
            streams = SocketStreams(self._client.attach_socket(self._identity, parameters), framed=not self._tty)
        self._attached.append(streams)
        return streams

    def _end(self) -> ContainerEnd | None:
        with engine_errors("look at the container"):
            try:
                state = self._client.inspect_container(self._identity)["State"]
            except NotFound as error:
                return ContainerEnd(exit_code=-1, out_of_memory=False, detail=f"it is gone: {error.explanation}")
        if state["Status"] not in ENDED:
            return None
        return ContainerEnd(
            exit_code=int(state["ExitCode"]), out_of_memory=bool(state.get("OOMKilled")), detail=str(state.get("Error") or "")
        )


class _Source:
    """A tar that remembers why reading it failed, so that our own files are not blamed on the engine."""

    def __init__(self, tar: Tar) -> None:
        self._tar = tar
        self.failure: BaseException | None = None

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._tar
        except Exception as error:
            self.failure = error
            raise
