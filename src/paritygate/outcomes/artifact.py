"""The artifact, `parity_report.json`: all cells of one run and everything that follows from them.

Its fields are a contract with scripts: they are added to, never renamed. Nothing here computes a label.
"""

from __future__ import annotations

import msgspec

from paritygate.outcomes.cells import Cell, EnvironmentName, NodeId
from paritygate.outcomes.words import Axis, CauseKind, FreezeState, Label, Outcome, VerdictName

SCHEMA = 1


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of the whole run; `axes` are those that really varied, `reasons` why it is not plainly green."""

    name: VerdictName
    exit_code: int
    axes: tuple[Axis, ...]
    line: str
    reasons: tuple[str, ...] = ()


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Which difference flips a test; `ways` are sets of `axes` of which each is enough, and nothing less than it."""

    kind: CauseKind
    axes: tuple[Axis, ...] = ()
    ways: tuple[tuple[Axis, ...], ...] = ()
    polluters: tuple[NodeId, ...] = ()
    files: tuple[str, ...] = ()
    detail: str = ""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One test over all its gate cells; `confirmed` counts the confirming attempts (0 where none was needed)."""

    nodeid: NodeId
    occurrence: int = 0
    label: Label
    outcomes: dict[EnvironmentName, tuple[Outcome, ...]]
    cause: Cause | None = None
    note: str = ""
    confirmed: int = 0


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """What was tested: commit (empty without git), trees by state with their digests, and the selection.

    `mismatched_names` are tracked files that the disk calls otherwise; `colliding_names` pairs of tracked names that are one
    where case does not count.
    """

    project: str
    commit: str
    trees: dict[str, str]
    selection: tuple[str, ...]
    withheld: tuple[str, ...] = ()
    mismatched_names: tuple[str, ...] = ()
    colliding_names: tuple[str, ...] = ()


class EnvironmentRecord(msgspec.Struct, frozen=True, kw_only=True):
    """An environment as it was asked for and as it was resolved, axis by axis, values as text."""

    name: EnvironmentName
    axes: dict[Axis, str]
    image: str = ""


class Varied(msgspec.Struct, frozen=True, kw_only=True):
    """Whether an axis varied; `why` says why not, or what to know of how it did."""

    axis: Axis
    varied: bool
    why: str = ""


class Freeze(msgspec.Struct, frozen=True, kw_only=True):
    """A ledger entry and what became of its test. `expires` is its last day in UTC, `extended` how often that was moved.

    `state` is `stable` (green and equal), `let-through` (it diverged as was frozen), `drifted` (it did otherwise, and blocks),
    `not-run`, or `unknown` (there is no such test); `stable` counts the gates in a row in which it was green and equal.
    """

    owner: str
    expires: str
    reason: str
    extended: int = 0
    state: FreezeState
    why: str = ""
    stable: int = 0


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one run. `timings` are seconds by step."""

    schema: int
    paritygate: str
    created: str
    verdict: Verdict
    subject: Subject
    environments: tuple[EnvironmentRecord, ...]
    axes: tuple[Varied, ...]
    images: dict[str, str]
    cells: tuple[Cell, ...]
    tests: tuple[Finding, ...]
    labels: dict[Label, int]
    excluded: dict[NodeId, str] = {}
    freezes: dict[NodeId, Freeze] = {}
    notes: tuple[str, ...] = ()
    engine: dict[str, str] = {}
    timings: dict[str, float] = {}
