"""Every closed set of words: one word per idea, in code, configuration, report and README.

This module holds no behaviour beyond what a word says of itself.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Outcome(StrEnum):
    """What one test did in one cell."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    XPASSED = "xpassed"
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"
    NOT_COLLECTED = "not_collected"
    NOT_RUN = "not_run"

    @property
    def green(self) -> bool:
        """Whether a suite with this outcome everywhere may be merged."""
        return self in _GREEN

    @property
    def does(self) -> str:
        """What a test does whose outcome this is, for sentences."""
        return _DOES[self]


_DOES = {
    Outcome.PASSED: "passes",
    Outcome.FAILED: "fails",
    Outcome.ERROR: "ends in an error",
    Outcome.SKIPPED: "is skipped",
    Outcome.XFAILED: "fails as expected",
    Outcome.XPASSED: "passes unexpectedly",
    Outcome.TIMED_OUT: "times out",
    Outcome.CRASHED: "crashes",
    Outcome.NOT_COLLECTED: "is not collected",
    Outcome.NOT_RUN: "tells nothing",
}
_GREEN = frozenset({Outcome.PASSED, Outcome.SKIPPED, Outcome.XFAILED, Outcome.XPASSED})


class CellStatus(StrEnum):
    """How a whole cell ended."""

    FINISHED = "finished"
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"
    OUT_OF_MEMORY = "out_of_memory"
    UNUSABLE = "unusable"
    NO_TESTS = "no_tests"
    ENVIRONMENT_MISMATCH = "environment_mismatch"
    INCOMPLETE = "incomplete"


class Purpose(StrEnum):
    """Why a cell was run; a hybrid mixes environments axis by axis, or attempts of one environment by order and seeds."""

    GATE = "gate"
    CONFIRM = "confirm"
    HYBRID = "hybrid"
    SWEEP = "sweep"
    REPRO = "repro"


class Touching(StrEnum):
    """What a test does with a path."""

    OPENED = "opened"
    LISTED = "listed"
    LOOKED_FOR = "looked for"
    WRITTEN = "written"
    GIVEN = "given to a program"


class FileState(StrEnum):
    """Why a path is not the same for all environments."""

    IGNORED = "ignored"
    UNTRACKED = "untracked"
    RENAMED = "renamed"
    NOT_ON_DISK = "not-on-disk"
    CHANGED = "changed"
    SPELLED = "spelled-otherwise"


class Label(StrEnum):
    """What is said of one test over all its cells."""

    CONSISTENT_GREEN = "consistent-green"
    CONSISTENT_RED = "consistent-red"
    COUPLING = "coupling"
    NONDETERMINISM = "nondeterminism"
    NONDETERMINISM_EVERYWHERE = "nondeterminism-everywhere"
    UNDECIDED = "undecided"
    EXCLUDED = "excluded"


class VerdictName(StrEnum):
    """What is said of the whole run."""

    PARITY = "parity"
    CONSISTENT_RED = "consistent-red"
    NONDETERMINISM = "nondeterminism"
    COUPLING = "coupling"
    NO_VERDICT = "no-verdict"
    REFUSED = "refused"


class ExitCode(IntEnum):
    """What the process says to its caller."""

    PARITY = 0
    CONSISTENT_RED = 1
    NONDETERMINISM = 2
    COUPLING = 3
    NO_VERDICT = 4
    REFUSED = 5
    USAGE = 64
    FAULT = 70
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


class Axis(StrEnum):
    """One property in which environments differ."""

    TIMEZONE = "timezone"
    LOCALE = "locale"
    CASE_SENSITIVE = "case_sensitive"
    WORKERS = "workers"
    WORKTREE = "worktree"
    CPUS = "cpus"
    MEMORY = "memory"
    UMASK = "umask"
    DIRECTORY_ORDER = "directory_order"
    CLOCK = "clock"
    IMAGE = "image"
    VARIABLES = "variables"
    HASH_SEED = "hash_seed"
    USER = "user"


class Worktree(StrEnum):
    """Which state of the working tree a cell sees."""

    DIRTY = "dirty"
    CLEAN = "clean"


class OrderRule(StrEnum):
    """How the second of two attempts is ordered."""

    REVERSED = "reversed"
    SEEDED = "seeded"


class RunnerName(StrEnum):
    """Where a cell runs; `elsewhere` is a machine of which there is nothing but what was pasted."""

    DOCKER = "docker"
    HOST = "host"
    SSH = "ssh"
    ELSEWHERE = "elsewhere"


class ResultFormat(StrEnum):
    """In what pytest said of a run elsewhere: what it shows people, or a file that it writes for programs."""

    TERMINAL = "terminal"
    JUNIT = "junit"
    REPORTLOG = "reportlog"


class Certainty(StrEnum):
    """How well a cell's tests are known: `reported` by pytest's own files for programs, or `read` off what it shows people."""

    REPORTED = "reported"
    READ = "read"


class RunnerChoice(StrEnum):
    """Where cells are to run; `auto` is on an engine where one answers, else on this computer itself."""

    AUTO = "auto"
    DOCKER = "docker"
    HOST = "host"
    SSH = "ssh"


class CauseKind(StrEnum):
    """What kind of difference flips a test."""

    AXIS = "axis"
    ORDER = "order"
    DATA_SEED = "data-seed"
    HASH_SEED = "hash-seed"
    CLOCK = "clock"
    RACE = "race"
    CHANCE = "chance"
    FIXTURE_DRIFT = "fixture-drift"


class FreezeState(StrEnum):
    """What became of a frozen test in a run."""

    STABLE = "stable"
    LET_THROUGH = "let-through"
    DRIFTED = "drifted"
    NOT_RUN = "not-run"
    UNKNOWN = "unknown"
