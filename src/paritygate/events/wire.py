"""The events of docs/cell-protocol.md as typed structs, and one line of bytes as one of them.

It knows the form of a line and nothing of what lines mean together.
"""

from __future__ import annotations

import json

import msgspec

from paritygate.outcomes.cells import Failure, NodeId, Probe, TestId
from paritygate.outcomes.words import Outcome


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """What every line has: nonce, number, and seconds since the launcher started."""

    n: str
    s: int
    t: float = 0.0


class Event(Line, frozen=True, kw_only=True, tag_field="e"):
    """Base of all kinds."""


class Start(Event, frozen=True, kw_only=True, tag="start"):
    """The probe was good and pytest is about to start; `dates` are local and UTC."""

    probe: Probe
    dates: tuple[str, str]


class Mismatch(Event, frozen=True, kw_only=True, tag="mismatch"):
    """The cell refuses to run; `probe` is None where not even that worked."""

    problems: tuple[str, ...]
    probe: Probe | None = None


class Alive(Event, frozen=True, kw_only=True, tag="alive"):
    """The launcher lives."""


class Collected(Event, frozen=True, kw_only=True, tag="collected"):
    """Which tests would run."""

    tests: tuple[tuple[NodeId, int], ...]
    deselected: int = 0
    excluded: dict[NodeId, str] = {}
    unstable_ids: tuple[str, ...] = ()


class CollectError(Event, frozen=True, kw_only=True, tag="collect-error"):
    """A file or node could not be collected."""

    nodeid: NodeId
    failure: Failure | None = None


class Workers(Event, frozen=True, kw_only=True, tag="workers"):
    """A process that runs tests is there."""

    worker: str
    pid: int = 0


class Partition(Event, frozen=True, kw_only=True, tag="partition"):
    """Which worker is to run what."""

    workers: dict[str, tuple[tuple[NodeId, int], ...]]


class TestStart(Event, frozen=True, kw_only=True, tag="test-start"):
    """A test begins."""

    __test__ = False

    nodeid: NodeId
    occurrence: int = 0
    worker: str = ""

    @property
    def test(self) -> TestId:
        """The test this is about."""
        return TestId(self.nodeid, self.occurrence)


class TestEnd(Event, frozen=True, kw_only=True, tag="test"):
    """A test is decided."""

    __test__ = False

    nodeid: NodeId
    outcome: Outcome
    occurrence: int = 0
    worker: str = ""
    seconds: float = 0.0
    reason: str | None = ""
    failure: Failure | None = None
    output: str | None = ""

    @property
    def test(self) -> TestId:
        """The test this is about."""
        return TestId(self.nodeid, self.occurrence)


class Neutralised(Event, frozen=True, kw_only=True, tag="neutralised"):
    """Options of the project that were switched off."""

    what: tuple[str, ...]


class Finish(Event, frozen=True, kw_only=True, tag="finish"):
    """The recorder's last word."""

    exit: int


class Restart(Event, frozen=True, kw_only=True, tag="restart"):
    """A process was replaced."""

    worker: str
    why: str


class MemoryUse(msgspec.Struct, frozen=True, kw_only=True):
    """What the kernel counted in the cell's control group; bytes, and 0 for no limit."""

    oom_kills: int = 0
    peak: int = 0
    limit: int = 0


class End(Event, frozen=True, kw_only=True, tag="end"):
    """The launcher's last word."""

    why: str
    returncode: int | None = None
    signal: str = ""
    dates: tuple[str, str]
    detail: str = ""
    memory: MemoryUse = MemoryUse()
    seconds: float = 0.0


Known = (
    Start
    | Mismatch
    | Alive
    | Collected
    | CollectError
    | Workers
    | Partition
    | TestStart
    | TestEnd
    | Neutralised
    | Finish
    | Restart
    | End
)
KNOWN: msgspec.json.Decoder[Known] = msgspec.json.Decoder(Known)
ANY: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)


def decode(line: bytes) -> Line | None:
    """Make an event of a line: a bare `Line` for an unknown kind, None for what is no event at all."""
    try:
        return KNOWN.decode(line)
    except msgspec.ValidationError:
        return bare(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return mended(line)


def bare(line: bytes) -> Line | None:
    """Take only what every line has."""
    try:
        return ANY.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def mended(line: bytes) -> Line | None:
    """Decode once more what holds half a surrogate pair, as an id or a message may: JSON allows it, UTF-8 does not."""
    try:
        loose = json.loads(line.decode("utf-8"))
        text = json.dumps(loose, ensure_ascii=False).encode("utf-8", "backslashreplace")
        return KNOWN.decode(text)
    except (ValueError, RecursionError, msgspec.DecodeError):
        return None
