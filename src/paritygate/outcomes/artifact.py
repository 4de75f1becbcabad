"""The artifact, `parity_report.json`: all cells of one run and everything that follows from them.

Its fields are a contract with scripts: they are added to, never renamed. Nothing here computes a label.
"""

from __future__ import annotations

import msgspec

from paritygate.outcomes.cells import Cell, EnvironmentName, NodeId
from paritygate.outcomes.hazards import Hazard
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.sweeps import Sweep
from paritygate.outcomes.trees import Difference
from paritygate.outcomes.words import (
    Axis,
    CauseKind,
    FileState,
    FreezeState,
    Label,
    Outcome,
    RunnerName,
    Touching,
    VerdictName,
    Worktree,
)

SCHEMA = 1


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of the whole run; `axes` are those that really varied, `reasons` why it is not plainly green.

    `unmeasured` are axes that were asked for with different values, where nobody measured whether they had them.
    """

    name: VerdictName
    exit_code: int
    axes: tuple[Axis, ...]
    line: str
    reasons: tuple[str, ...] = ()
    unmeasured: tuple[Axis, ...] = ()


class FileFact(msgspec.Struct, frozen=True, kw_only=True):
    """What a file is that environments do not have alike, and what a test does with it.

    `rule` is the line by which git ignores it, `other` git's name for it, or the name by which it was asked for. Where `touched`
    is `listed` alone, it is the folder in which it is that the test lists.
    """

    state: FileState
    rule: str = ""
    other: str = ""
    touched: tuple[Touching, ...] = ()


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """Which difference flips a test; `ways` are sets of `axes` of which each is enough, and nothing less than it.

    Of the kind `computer`, which is no axis, they are what it takes on the other computer besides; none if that alone flips it.
    `polluters` are the tests after which, all together and in this order, it goes wrong, `setters` those after which it goes
    well. `overlapping` ran on other workers at the same time whenever it went wrong. `rate` is how often it went wrong, of how
    many times, where everything that is known was equal.
    `files` are those that the test touches and that the environments do not have alike, its own first, and `file_facts` says
    what each of them is.
    """

    kind: CauseKind
    axes: tuple[Axis, ...] = ()
    ways: tuple[tuple[Axis, ...], ...] = ()
    polluters: tuple[NodeId, ...] = ()
    setters: tuple[NodeId, ...] = ()
    overlapping: tuple[NodeId, ...] = ()
    rate: tuple[int, int] | None = None
    files: tuple[str, ...] = ()
    file_facts: dict[str, FileFact] = {}
    detail: str = ""


class Side(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one test did in some attempts of an environment, to be laid beside what it did in others.

    Of a failure: its file (relative to the tree), line (from 1), the `source` that stands there, and exception and message, which
    hold the values; of a skip or an expected failure its `reason`.
    """

    env: EnvironmentName
    attempts: tuple[int, ...]
    outcome: Outcome
    file: str = ""
    line: int = 0
    source: str = ""
    exception: str = ""
    message: str = ""
    reason: str = ""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One test over all its gate cells; `confirmed` counts the confirming attempts (0 where none was needed).

    `sides` is filled for tests that diverge: what they did, environment by environment.
    `hazards` are what the file of a test that diverges has that may be why.
    """

    nodeid: NodeId
    occurrence: int = 0
    label: Label
    outcomes: dict[EnvironmentName, tuple[Outcome, ...]]
    cause: Cause | None = None
    note: str = ""
    confirmed: int = 0
    sides: tuple[Side, ...] = ()
    hazards: tuple[Hazard, ...] = ()


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


class TouchedFile(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a file that differs from the base: the test files that can see it, of those that were asked for.

    With `everything` nobody could say which they are, so that all were run. `why` says why all, or why none.
    """

    tests: tuple[str, ...] = ()
    everything: bool = False
    why: str = ""


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """A selection from the diff to the commit `base`.

    `files` are those that were touched, from the tree's top; `tests` the test files chosen for one of them or more, of `known`
    in all. With `everything` nothing was left out.
    """

    base: str
    files: dict[str, TouchedFile]
    tests: tuple[str, ...] = ()
    known: int = 0
    everything: bool = False


class EnvironmentRecord(msgspec.Struct, frozen=True, kw_only=True):
    """An environment as it was asked for and as it was resolved, axis by axis, values as text."""

    name: EnvironmentName
    axes: dict[Axis, str]
    image: str = ""


class Varied(msgspec.Struct, frozen=True, kw_only=True):
    """Whether an axis varied; `why` says why not, or what to know of how it did.

    It is not known to where it is not `measured`: the values that were asked for differ, and some cell cannot say what it had.
    """

    axis: Axis
    varied: bool
    why: str = ""
    measured: bool = True


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


class CellImage(msgspec.Struct, frozen=True, kw_only=True):
    """An image that cells start from: its name, the engine's id of it, and the digest of the tree in it."""

    name: str
    identity: str
    tree: str = ""


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """What the cells were made of, so that each can be made once more; file names and ids in it are the tree's.

    `plans` are those of all cells, by their names, without the lists of tests that further ones were cut down to: what ran stands
    in the cells. `images` are those of the gate's environments. `runners` says of each environment on what its cells ran, where
    not all did on an engine: such cells can be made again only of the checkout, while that holds the trees that were tested.
    `nothing` and `shadowed` say of a tree why nothing of it was run, and which of its paths are others' where case does not
    count, `different` in which paths the trees differ, where anything is coupled. `withheld` names the variables whose values are
    not in this file.
    """

    plans: tuple[CellPlan, ...]
    images: dict[EnvironmentName, CellImage]
    nothing: dict[Worktree, str] = {}
    shadowed: dict[Worktree, tuple[str, ...]] = {}
    different: dict[str, Difference] = {}
    withheld: tuple[str, ...] = ()
    runners: dict[EnvironmentName, RunnerName] = {}


class EngineRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One of several engines of a run: what it is, and since when (ISO 8601, in UTC) it was lost, empty if it was not.

    `environments` are those whose cells it may run. `moved` names the cells that it did not end; they started anew on another,
    where there was one for them.
    """

    name: str
    url: str
    version: str
    platform: str
    cpus: int
    environments: tuple[EnvironmentName, ...] = ()
    lost: str = ""
    moved: tuple[str, ...] = ()


class Artifact(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one run. `timings` are seconds by step; `material` is None where nobody knows of it any more.

    `changed` is how the tests were chosen where a diff chose them, `sweeps` what was found over the values of single axes.
    `engine` is the first of `engines`, which are listed where a run has several.
    `planned` says how many attempts each environment of the gate was to have; it is empty where nobody knows.
    """

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
    material: Material | None = None
    changed: Changed | None = None
    engines: tuple[EngineRecord, ...] = ()
    sweeps: tuple[Sweep, ...] = ()
    planned: dict[EnvironmentName, int] = {}
