"""The events of docs/cell-protocol.md as typed structs, and one line of bytes as one of them.

It knows the form of a line and nothing of what lines mean together.
"""

from __future__ import annotations

import json
import re
from typing import get_args

import msgspec

from paritygate.outcomes.cells import Failure, FilesystemFacts, NodeId, Pins, Probe, Rewritten, Spelling, TestId
from paritygate.outcomes.words import Outcome, Touching


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
    filesystem: FilesystemFacts | None = None


class Mismatch(Event, frozen=True, kw_only=True, tag="mismatch"):
    """The cell refuses to run; `probe` is None where not even that worked."""

    problems: tuple[str, ...]
    probe: Probe | None = None
    filesystem: FilesystemFacts | None = None


class Alive(Event, frozen=True, kw_only=True, tag="alive"):
    """The launcher lives."""


class Collected(Event, frozen=True, kw_only=True, tag="collected"):
    """Which tests would run."""

    tests: tuple[tuple[NodeId, int], ...]
    deselected: int = 0
    excluded: dict[NodeId, str] = {}
    unstable_ids: tuple[str, ...] = ()
    pins: Pins = Pins()


class CollectError(Event, frozen=True, kw_only=True, tag="collect-error"):
    """A file or node could not be collected."""

    nodeid: NodeId
    failure: Failure | None = None


class CollectSkip(Event, frozen=True, kw_only=True, tag="collect-skip"):
    """A file or node was skipped as a whole."""

    nodeid: NodeId
    reason: str = ""


class CollectMissing(Event, frozen=True, kw_only=True, tag="collect-missing"):
    """What was asked for by its id, and is not there."""

    nodeid: NodeId


class Workers(Event, frozen=True, kw_only=True, tag="workers"):
    """A process that runs tests is there."""

    worker: str
    pid: int = 0


class Partition(Event, frozen=True, kw_only=True, tag="partition"):
    """Which worker is to run what."""

    workers: dict[str, tuple[tuple[NodeId, int], ...]]
    uneven: tuple[tuple[NodeId, int], ...] = ()

    @property
    def tests(self) -> tuple[tuple[NodeId, int], ...]:
        """All that are to be run; more than any one worker has collected, where these differ."""
        return tuple(dict.fromkeys(pair for share in self.workers.values() for pair in share))


class OfTest(Event, frozen=True, kw_only=True):
    """Base of the kinds that are about one test."""

    nodeid: NodeId
    occurrence: int = 0
    worker: str = ""

    @property
    def test(self) -> TestId:
        """The test this is about."""
        return TestId(self.nodeid, self.occurrence)


class TestStart(OfTest, frozen=True, kw_only=True, tag="test-start"):
    """A test begins."""

    __test__ = False


class TestEnd(OfTest, frozen=True, kw_only=True, tag="test"):
    """A test is decided."""

    __test__ = False

    outcome: Outcome
    seconds: float = 0.0
    reason: str | None = ""
    failure: Failure | None = None
    output: str | None = ""


class SpellingSeen(OfTest, frozen=True, kw_only=True, tag="spelling"):
    """A test found a name by another spelling than its own."""

    asked: str
    kept: str

    @property
    def spelling(self) -> Spelling:
        """What was asked for and what is there."""
        return Spelling(self.asked, self.kept)


class Touched(OfTest, frozen=True, kw_only=True, tag="touched"):
    """Which watched paths a test touched and how, and which wide fixtures it used."""

    touched: tuple[tuple[str, Touching], ...]
    fixtures: tuple[str, ...] = ()


class Neutralised(Event, frozen=True, kw_only=True, tag="neutralised"):
    """Options of the project that were switched off."""

    what: tuple[str, ...]


class Finish(Event, frozen=True, kw_only=True, tag="finish"):
    """The recorder's last word; `why` says what ended the session before its end, where anything did."""

    exit: int
    why: str = ""


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
    rewritten: tuple[Rewritten, ...] = ()
    removed: tuple[str, ...] = ()
    seconds: float = 0.0


Known = (
    Start
    | Mismatch
    | Alive
    | Collected
    | CollectError
    | CollectSkip
    | CollectMissing
    | Workers
    | Partition
    | TestStart
    | TestEnd
    | SpellingSeen
    | Touched
    | Neutralised
    | Finish
    | Restart
    | End
)


class Unknown(Line, frozen=True, kw_only=True):
    """A line that has no meaning here; `fault` says what is wrong with it, empty for a kind that is not known."""

    e: str
    fault: str = ""


KNOWN: msgspec.json.Decoder[Known] = msgspec.json.Decoder(Known)
ANY: msgspec.json.Decoder[Unknown] = msgspec.json.Decoder(Unknown)
TAGS = frozenset(str(kind.__struct_config__.tag) for kind in get_args(Known))
HALF_PAIR = re.compile("[\ud800-\udfff]")


def decode(line: bytes) -> Event | Unknown | None:
    """Make an event of a line; None for what is no event at all."""
    try:
        return KNOWN.decode(line)
    except msgspec.ValidationError as error:
        return without_meaning(line, str(error))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return mended(line)


def without_meaning(line: bytes, fault: str) -> Unknown | None:
    """Take what every line has, and remember the fault where the kind should have been understood."""
    try:
        found = ANY.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return msgspec.structs.replace(found, fault=fault if found.e in TAGS else "")


def mended(line: bytes) -> Event | None:
    """Decode once more what holds half a surrogate pair, as an id or a message may: JSON allows it, UTF-8 does not."""
    try:
        text = json.dumps(json.loads(line.decode("utf-8")), ensure_ascii=False)
        return KNOWN.decode(HALF_PAIR.sub(lambda half: f"\\\\u{ord(half.group()):04x}", text).encode("utf-8"))
    except (ValueError, RecursionError, msgspec.DecodeError):
        return None
