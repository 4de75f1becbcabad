"""What a label or an end asks of the reader: the same words in every report, and in the README."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from paritygate.outcomes.artifact import Verdict
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.products import product_of
from paritygate.outcomes.sweeps import Sweep
from paritygate.outcomes.words import CellStatus, FileState, Label, VerdictName
from paritygate.sweeps.conclusions import amounts

AFTER_LABEL: Mapping[Label, str] = MappingProxyType(
    {
        Label.CONSISTENT_GREEN: "nothing; by themselves they are no reason to merge",
        Label.CONSISTENT_RED: "fix the patch",
        Label.COUPLING: "fix or narrow the patch",
        Label.NONDETERMINISM: "fix the test, delete it, or freeze it on this evidence",
        Label.NONDETERMINISM_EVERYWHERE: "fix the test, or the bug that it shows",
        Label.UNDECIDED: "see what its cells say of it, mend that, and run again",
        Label.EXCLUDED: "not run; its reason is listed",
    }
)
PROCEED = "proceed"
TOO_LITTLE = "let what died take less, or sweep over larger amounts; it is the sweep that gave it so little"
LOST = "run again; the connection was lost, and no test is to blame for that"

AFTER_STATUS: Mapping[CellStatus, str] = MappingProxyType(
    {
        CellStatus.FINISHED: "nothing",
        CellStatus.TIMED_OUT: "fix what hangs, narrow the selection, or raise `test-timeout`, `cell-timeout` or `idle-timeout`",
        CellStatus.CRASHED: "see the end of its output",
        CellStatus.OUT_OF_MEMORY: "raise `memory`, or lower `workers`",
        CellStatus.UNUSABLE: "correct the selection, the options or the configuration that pytest names",
        CellStatus.NO_TESTS: "check the selection; no test of it ran",
        CellStatus.ENVIRONMENT_MISMATCH: "see which value did not take effect; there may be no such zone or locale where it ran",
        CellStatus.INCOMPLETE: "paste all that the command prints which `paritygate command` says, or its JUnit XML",
    }
)

AFTER_FILE: Mapping[FileState, str] = MappingProxyType(
    {
        FileState.IGNORED: "commit it (`git add --force`), or let the test make it",
        FileState.UNTRACKED: "commit it, or let the test make it",
        FileState.RENAMED: "call it the same in git and on disk (`git mv`)",
        FileState.NOT_ON_DISK: "check it out, or do without it",
        FileState.CHANGED: "make both alike; often it is line endings (`.gitattributes`)",
        FileState.SPELLED: "ask for it by the name that it has",
    }
)

AFTER_PRODUCT = "it is made, not written: make it in the job, or in a fixture"


def after_file(path: str, state: FileState) -> str:
    """Say what a file behind a cause asks for; what a build or an installation makes is in no commit."""
    return AFTER_PRODUCT if product_of(path, state) is not None else AFTER_FILE[state]


def after_end(cell: Cell, sweeps: Iterable[Sweep] = ()) -> str:
    """Say what an end asks for, whichever tests it met; an amount of memory that a sweep set is not to be raised."""
    if cell.lost:
        return LOST
    too_little = cell.status is CellStatus.OUT_OF_MEMORY and cell.env in amounts(sweeps)
    return TOO_LITTLE if too_little else AFTER_STATUS[cell.status]


def after_status(cell: Cell, sweeps: Iterable[Sweep] = ()) -> str:
    """Say what an end asks for; of a death only what was seen of it says whom to suspect."""
    if cell.status is CellStatus.CRASHED and cell.removed and not cell.lost:
        return "find what removes it among the tests that ran before, and let that work in `tmp_path`"
    is_suspect = cell.status is CellStatus.CRASHED and cell.running and not cell.lost
    return f"{after_end(cell, sweeps)}{'; the test that was running is the first suspect' if is_suspect else ''}"


def after(label: Label, verdict: Verdict) -> str:
    """Say what a label asks for; green tests say that the merge may go ahead only under parity over some axis."""
    parity = verdict.name is VerdictName.PARITY and verdict.axes
    return PROCEED if label is Label.CONSISTENT_GREEN and parity else AFTER_LABEL[label]
