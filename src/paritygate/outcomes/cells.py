"""What one cell reports: its tests, its probe and how it ended.

Whatever can fill these structs, from any runner, machine or file, can be classified.
"""

from __future__ import annotations

from typing import NewType

import msgspec

from paritygate.outcomes.words import CellStatus, Certainty, Outcome, Purpose, ResultFormat, RunnerName, Touching

NodeId = NewType("NodeId", str)
EnvironmentName = NewType("EnvironmentName", str)


class TestId(msgspec.Struct, frozen=True, order=True):
    """A test: its tree-relative node id, and which of several equal ids it is (from 0, in collection order)."""

    __test__ = False

    nodeid: NodeId
    occurrence: int = 0


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a test is not green.

    `fingerprint` is a digest of phase, exception type and place without values, so that two failures compare.
    `file` is relative to the tree where the place lies in it; `line` counts from 1, 0 when unknown; `source`
    is what stands there.
    """

    phase: str
    exception: str
    message: str
    fingerprint: str
    file: str = ""
    line: int = 0
    text: str = ""
    source: str = ""


class Spelling(msgspec.Struct, frozen=True):
    """A name that was found by another spelling: what was asked for and what is there, relative to the tree if both are in it."""

    asked: str
    kept: str


class Touch(msgspec.Struct, frozen=True):
    """A path of the tree that a test touched, and how."""

    path: str
    how: Touching


class TestRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one test did in one cell; `seconds` sums its phases, `reason` is that of a skip or an xfail.

    `began` says when it was heard to begin, in seconds since the launcher started; it is 0 where nobody heard.

    `spellings` lists, once each and at most 20, the names that it found by another spelling than their own. `touched` lists what
    it, its fixtures and the modules that it needs touched of the paths that the cell watched, and `fixtures` those of the project
    that it used and that a process sets up once, as `file::name`; only cells that look for causes have either.
    """

    __test__ = False

    nodeid: NodeId
    occurrence: int = 0
    outcome: Outcome
    worker: str = ""
    began: float = 0.0
    seconds: float = 0.0
    reason: str = ""
    failure: Failure | None = None
    output: str = ""
    spellings: tuple[Spelling, ...] = ()
    touched: tuple[Touch, ...] = ()
    fixtures: tuple[str, ...] = ()

    @property
    def test(self) -> TestId:
        """The test this is about."""
        return TestId(self.nodeid, self.occurrence)


class Distribution(msgspec.Struct, frozen=True, order=True):
    """An installed Python distribution, name normalised as packaging does."""

    name: str
    version: str


class ClockFacts(msgspec.Struct, frozen=True, kw_only=True):
    """By how many seconds the clock of a cell's programs is moved, and which ways to ask for it could not be tried there.

    With `files` what the cell wrote had that clock's time as well, instead of the true one.
    """

    moved: float
    files: bool = False
    unproven: tuple[str, ...] = ()


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """What a cell measured about itself, as the tests' user, before the first test.

    Offsets are seconds east of UTC. `case_sensitive` holds the answer for the workspace, the temporary folder and HOME,
    in that order. `memory` is bytes, 0 when unlimited; `cpus` is what the scheduler lets the cell use.

    `utcoffset_now` and `local_time` (`23:59`) are those of the moment of the probe, `listing` the order in which a folder of the
    workspace lists new names. `clock` is None where programs ask the computer's own.
    `case` says more of the same three, by name (`workspace`, `tmp`, `home`), and nothing of one that cannot be written: `folds`
    (accents in either form, too), `keeps` (lists the spelling that was created), `fresh` (remembers no name that was missed or
    has gone by another spelling; false where nothing folds), `renames_case` (a rename may change nothing else).
    """

    python: str
    implementation: str
    platform: str
    libc: str
    tzdata: str
    timezone: str
    utcoffset_january: int
    utcoffset_july: int
    local_date: str
    utc_date: str
    locale: str
    encoding: str
    utf8_mode: bool
    collation: tuple[str, ...]
    decimal_point: str
    case_sensitive: tuple[bool, ...]
    cpus: float
    memory: int
    hash_of_string: int
    hash_seed: str
    uid: int
    gid: int
    home: str
    umask: int
    hostname: str
    capabilities: str
    no_new_privileges: bool
    limits: dict[str, tuple[int, int]]
    filesystems: dict[str, str]
    sentinel: str
    variables: tuple[str, ...]
    distributions: tuple[Distribution, ...]
    case: dict[str, dict[str, bool]] = {}
    utcoffset_now: int = 0
    listing: tuple[str, ...] = ()
    clock: ClockFacts | None = None
    local_time: str = ""


class FilesystemFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What was made for the cell's files: the daemon's (`casefs`) or the `kernel`'s, and why not the daemon's (`instead_of`).

    `unicode` is the version of the folding's table. Without `case_rename` a rename that changes nothing but case does nothing.
    """

    way: str
    unicode: str = ""
    case_rename: bool = True
    instead_of: str = ""


class Rewritten(msgspec.Struct, frozen=True, kw_only=True):
    """A locked file that the tests of a cell changed; `what` is `changed`, `gone`, `replaced` (no longer a file) or `unreadable`.

    `tests` are those that were running when it was last changed, where that is known; more than one where several were.
    """

    path: str
    what: str
    tests: tuple[TestId, ...] = ()


class Pins(msgspec.Struct, frozen=True, kw_only=True):
    """What asks for pins in a cell: the whole `suite`, or a number of `tests`; whether they are `in_force` there, or yield."""

    suite: bool = False
    tests: int = 0
    in_force: bool = False


class Dates(msgspec.Struct, frozen=True):
    """The calendar dates in a cell at one moment, ISO 8601."""

    local: str
    utc: str


class Shard(msgspec.Struct, frozen=True):
    """Which part of a selection a cell ran: `number` (from 1) of `total`; `split` is a digest of which files are in which."""

    number: int
    total: int
    split: str = ""

    def __str__(self) -> str:
        """Say it as the command line takes it."""
        return f"{self.number}/{self.total}"


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What the pasted command has measured: seconds ahead of UTC in mid-January and mid-July, and the locale of letters."""

    utcoffset_january: int
    utcoffset_july: int
    locale: str
    encoding: str


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """How a cell is known that our recorder did not see.

    `counts` are pytest's own final numbers by its words, empty where it did not say them; `unnamed` is how many tests ran whose
    ids are not known. `remarks` are for people. `measured` is None where nothing was.
    """

    format: ResultFormat
    certainty: Certainty
    counts: dict[str, int] = {}
    unnamed: int = 0
    remarks: tuple[str, ...] = ()
    measured: Measured | None = None


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """One environment, one attempt: everything that is known about one pytest process tree.

    `passed` is true when the cell finished and every test in it is green. `order` lists, for each worker, the tests in the
    order in which they ran. `returncode` is pytest's own, None when it never ended by itself. `about` lists the tests for which
    a further cell was cut down, so that it tells of no others; it is empty where the cell ran everything.
    `rewritten` lists the locked files that are not after the tests what they were before, `removed` the modules that were gone
    from the workspace before all their tests had run.
    `missing` lists what was asked for by its id and is not there, `uneven` what only some workers have collected. `filesystem` is
    None where the image's own was used. `shards` are the parts of the selection that are in it, none where it was not split.
    `told` is None where our own recorder was there. `engine` names the one that it ran on, where the run had several.
    """

    env: EnvironmentName
    attempt: int
    seed: int
    runner: RunnerName
    purpose: Purpose
    status: CellStatus
    returncode: int | None
    passed: bool
    detail: str = ""
    started: str = ""
    seconds: float = 0.0
    overhead: float = 0.0
    workers: int = 0
    collected: int = 0
    deselected: int = 0
    probe: Probe | None = None
    filesystem: FilesystemFacts | None = None
    dates: tuple[Dates, ...] = ()
    neutralised: tuple[str, ...] = ()
    unstable_ids: tuple[str, ...] = ()
    excluded: dict[NodeId, str] = {}
    missing: tuple[NodeId, ...] = ()
    uneven: tuple[TestId, ...] = ()
    order: dict[str, tuple[TestId, ...]] = {}
    tests: tuple[TestRun, ...] = ()
    running: tuple[TestId, ...] = ()
    about: tuple[TestId, ...] = ()
    rewritten: tuple[Rewritten, ...] = ()
    removed: tuple[str, ...] = ()
    pins: Pins = Pins()
    stderr_tail: str = ""
    shards: tuple[Shard, ...] = ()
    told: Told | None = None
    engine: str = ""
