"""An engine in memory: a real implementation of the protocol, whose programs are Python functions.

The contract in `engine_contract` runs against it and against Docker, so that it cannot drift.
"""

from __future__ import annotations

import io
import pickle
import queue
import tarfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from paritygate.docker_engine.requests import (
    KIND_LABEL,
    BuildRequest,
    Commit,
    ContainerEnd,
    ContainerRequest,
    Endpoint,
    EngineInfo,
    ImageRecord,
    Log,
    Tar,
)
from paritygate.errors import BuildError, EngineError

KILLED = 137
STDOUT = 1
STDERR = 2


class KilledError(Exception):
    """Raised inside a program that was killed while it waited."""


@dataclass(frozen=True)
class Process:
    """What a program sees: its command, its variables, its files and its streams."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    files: Mapping[str, bytes]
    killed: threading.Event
    arrived: queue.Queue[bytes]
    emit: Callable[[int, bytes], None]

    def read(self) -> bytes:
        """Wait for bytes on stdin; empty at its end."""
        while not self.killed.is_set():
            try:
                return self.arrived.get(timeout=0.01)
            except queue.Empty:
                continue
        raise KilledError

    def read_line(self) -> bytes:
        """Wait for a line on stdin."""
        line = b""
        while not line.endswith(b"\n"):
            piece = self.read()
            if not piece:
                break
            line += piece
        return line

    def out(self, data: bytes) -> None:
        """Write to stdout."""
        self.emit(STDOUT, data)

    def err(self, data: bytes) -> None:
        """Write to stderr."""
        self.emit(STDERR, data)


Program = Callable[[Process], int]


def cat(process: Process) -> int:
    """Write files, or else stdin, to stdout."""
    for name in process.command[1:]:
        if name not in process.files:
            process.err(f"cat: {name}: No such file or directory\n".encode())
            return 1
        process.out(process.files[name])
    if not process.command[1:]:
        while piece := process.read():
            process.out(piece)
    return 0


def echo(process: Process) -> int:
    """Write the arguments."""
    process.out(" ".join(process.command[1:]).encode() + b"\n")
    return 0


def env(process: Process) -> int:
    """Write the variables."""
    for name, value in process.environment.items():
        process.out(f"{name}={value}\n".encode())
    return 0


def sleep(process: Process) -> int:
    """Wait to be killed, or for the time that is given."""
    if process.killed.wait(float(process.command[1])):
        raise KilledError
    return 0


def false(process: Process) -> int:
    """Fail."""
    return 1


def missing(process: Process) -> int:
    """Stand in for a program that the image does not have."""
    process.err(f"[FATAL tini (7)] exec {process.command[0]} failed: No such file or directory\n".encode())
    return 127


PROGRAMS: dict[str, Program] = {"cat": cat, "echo": echo, "env": env, "sleep": sleep, "false": false}


@dataclass
class FakeImage:
    """What an image holds."""

    record: ImageRecord
    files: dict[str, bytes]
    environment: dict[str, str]


class FakeStreams:
    """Streams of a fake container."""

    def __init__(self, arrived: queue.Queue[bytes]) -> None:
        self._arrived = arrived
        self.frames_out: queue.Queue[tuple[int, bytes] | None] = queue.Queue()

    def write(self, data: bytes) -> None:
        """Send bytes to stdin."""
        self._arrived.put(data)

    def frames(self) -> Iterator[tuple[int, bytes]]:
        """Yield what the program writes until it ends or the streams are closed."""
        while (frame := self.frames_out.get()) is not None:
            yield frame

    def close(self) -> None:
        """End the reader and the program's stdin."""
        self.frames_out.put(None)
        self._arrived.put(b"")


@dataclass
class FakeContainer:
    """A container whose process is a thread."""

    identity: str
    request: ContainerRequest
    engine: FakeEngine
    files: dict[str, bytes]
    environment: dict[str, str]
    killed: threading.Event = field(default_factory=threading.Event)
    end: ContainerEnd | None = None
    log: list[tuple[int, bytes]] = field(default_factory=list)
    attached: list[FakeStreams] = field(default_factory=list)
    arrived: queue.Queue[bytes] = field(default_factory=queue.Queue)
    thread: threading.Thread | None = None
    size: tuple[int, int] = (0, 0)

    def put(self, path: str, tar: Tar) -> None:
        """Unpack a tar; links are kept as files that hold their target."""
        with tarfile.open(fileobj=io.BytesIO(b"".join(tar)), mode="r:") as members:
            for member in members:
                content = members.extractfile(member) if member.isfile() else None
                place = f"{path.rstrip('/')}/{member.name}"
                self.files[place] = content.read() if content is not None else member.linkname.encode()

    def attach(self) -> FakeStreams:
        """Attach to the streams."""
        streams = FakeStreams(self.arrived)
        self.attached.append(streams)
        return streams

    def start(self) -> None:
        """Start the program."""
        program = self.engine.programs.get(self.request.command[0], missing)
        if not self.request.stdin:
            self.arrived.put(b"")
        self.thread = threading.Thread(target=self._run, args=(program,), daemon=True)
        self.thread.start()

    def wait(self, seconds: float) -> ContainerEnd | None:
        """Wait for the end."""
        self.engine.look("look at the container")
        if self.thread is not None:
            self.thread.join(seconds)
        return self.end

    def kill(self) -> None:
        """End the program."""
        self.killed.set()

    def resize(self, rows: int, columns: int) -> None:
        """Note how large its terminal is."""
        self.size = (rows, columns)

    def logs(self) -> Iterator[tuple[int, bytes]]:
        """Yield what was written: stdout first, then stderr."""
        for stream in (STDOUT, STDERR):
            yield from (frame for frame in tuple(self.log) if frame[0] == stream)

    def commit(self, request: Commit) -> ImageRecord:
        """Make an image of the files."""
        return self.engine.keep(request.tag, request.labels, dict(self.files), dict(request.environment))

    def _run(self, program: Program) -> None:
        process = Process(self.request.command, self.environment, self.files, self.killed, self.arrived, self._emit)
        try:
            code = program(process)
        except KilledError:
            code = KILLED
        self.end = ContainerEnd(exit_code=code, out_of_memory=False)
        for streams in self.attached:
            streams.frames_out.put(None)

    def _emit(self, stream: int, data: bytes) -> None:
        if self.killed.is_set():
            raise KilledError
        self.log.append((stream, data))
        for streams in self.attached:
            streams.frames_out.put((stream, data))


class FakeEngine:
    """An engine whose images hold files and whose programs are functions, by the first word of the command.

    One that is no more `there` is lost.
    """

    def __init__(self, programs: Mapping[str, Program] | None = None) -> None:
        self.programs = {**PROGRAMS, **(programs or {})}
        self.held: dict[str, FakeImage] = {}
        self.containers: dict[str, FakeContainer] = {}
        self.requests: list[ContainerRequest] = []
        self.registry: dict[str, FakeImage] = {}
        self._count = 0
        self.there = True

    @property
    def info(self) -> EngineInfo:
        """Say what it is."""
        return EngineInfo(
            endpoint=Endpoint("memory://", "a test"),
            name="Fake",
            version="1",
            api="1.41",
            platform="linux/amd64",
            cpus=4,
            memory=8 << 30,
            rootless=False,
            security=(),
        )

    @contextmanager
    def container(self, request: ContainerRequest) -> Iterator[FakeContainer]:
        """Create a container and remove it on leaving."""
        self.look("create a container")
        named = (image for tag, image in self.held.items() if request.image in {tag, image.record.identity})
        image = next(named, None)
        if image is None:
            raise EngineError(f"the engine could not create a container of `{request.image}`: No such image")
        self.requests.append(request)
        identity = self._identity("container")
        container = FakeContainer(identity, request, self, dict(image.files), {**image.environment, **request.environment})
        self.containers[identity] = container
        try:
            yield container
        finally:
            container.kill()
            if container.thread is not None:
                container.thread.join(10)
            del self.containers[identity]

    def build(self, request: BuildRequest, log: Log) -> ImageRecord:
        """Build an image: `FROM` and `ENV NAME=VALUE` are understood, `RUN false` fails."""
        environment: dict[str, str] = {}
        files: dict[str, bytes] = {}
        lines = request.files["Dockerfile"].decode().splitlines()
        for number, line in enumerate(lines, start=1):
            log(f"Step {number}/{len(lines)} : {line}")
            word, _, rest = line.partition(" ")
            if word == "FROM" and rest != "scratch":
                if rest not in self.held:
                    raise BuildError(f"the image `{request.tag}` could not be built: there is no `{rest}`", line)
                environment |= self.held[rest].environment
                files |= self.held[rest].files
            elif word == "ENV":
                name, _, value = rest.partition("=")
                environment[name] = value
            elif line == "RUN false":
                raise BuildError(f"the image `{request.tag}` could not be built: non-zero code: 1", line)
        return self.keep(request.tag, request.labels, files, environment)

    def pull(self, reference: str, log: Log) -> ImageRecord | None:
        """Take an image from the registry, where it is there."""
        image = self.registry.get(reference)
        if image is None:
            log(f"`{reference}` cannot be pulled: no registry answers")
            return None
        self.held[reference] = image
        return image.record

    def import_image(self, tar: Tar, tag: str, labels: dict[str, str]) -> ImageRecord:
        """Make an image of a tar."""
        files = {}
        with tarfile.open(fileobj=io.BytesIO(b"".join(tar)), mode="r:") as members:
            for member in members:
                content = members.extractfile(member) if member.isfile() else None
                files[f"/{member.name}"] = content.read() if content is not None else b""
        return self.keep(tag, labels, files, {})

    def save(self, tags: tuple[str, ...]) -> Tar:
        """Give images, one a piece."""
        self.look("send images")
        for tag in tags:
            if tag not in self.held:
                raise EngineError(f"the engine could not send `{tag}`: no such image")
            yield pickle.dumps(self.held[tag])

    def load(self, tar: Tar) -> None:
        """Take in what `save` gives."""
        self.look("take in images")
        self.held |= {image.record.tags[0]: image for image in map(pickle.loads, tar)}

    def answers(self) -> bool:
        """Say whether it is there."""
        return self.there

    def look(self, doing: str) -> None:
        """Refuse to do anything where it is not there any more."""
        if not self.there:
            raise EngineError(f"the engine could not {doing}: connection refused")

    def image(self, reference: str) -> ImageRecord | None:
        """Look an image up."""
        self.look("look up an image")
        for tag, image in self.held.items():
            if reference in {tag, image.record.identity}:
                return image.record
        return None

    def images(self, label: str = KIND_LABEL) -> tuple[ImageRecord, ...]:
        """List the images with a label."""
        name, _, value = label.partition("=")
        records = [image.record for image in self.held.values()]
        return tuple(each for each in records if name in each.labels and value in {"", each.labels[name]})

    def remove_image(self, reference: str) -> None:
        """Remove an image."""
        self.held = {tag: image for tag, image in self.held.items() if reference not in {tag, image.record.identity}}

    def sweep(self) -> tuple[str, ...]:
        """Find nothing: what is in memory dies with its owner."""
        return ()

    def keep(self, tag: str, labels: dict[str, str], files: dict[str, bytes], environment: dict[str, str]) -> ImageRecord:
        """Hold an image under a tag."""
        record = ImageRecord(
            identity=self._identity("image"),
            tags=(tag,),
            labels=dict(labels),
            created="2024-01-01T00:00:00Z",
            size=sum(len(content) for content in files.values()),
        )
        self.held[tag] = FakeImage(record, files, environment)
        return record

    def _identity(self, what: str) -> str:
        self._count += 1
        return f"{what}-{self._count}"
