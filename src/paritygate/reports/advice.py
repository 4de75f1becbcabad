"""What a label or an end asks of the reader: the same words in every report."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from paritygate.outcomes.words import CellStatus, Label

AFTER_LABEL: Mapping[Label, str] = MappingProxyType(
    {
        Label.CONSISTENT_GREEN: "proceed",
        Label.CONSISTENT_RED: "fix the patch",
        Label.COUPLING: "fix or narrow the patch; never freeze",
        Label.NONDETERMINISM: "freeze with expiry and evidence, or delete",
        Label.NONDETERMINISM_EVERYWHERE: "fix the test; freezing hides a real bug",
        Label.UNDECIDED: "see how its cells ended, and run again",
        Label.EXCLUDED: "not run; its reason is listed",
    }
)

AFTER_STATUS: Mapping[CellStatus, str] = MappingProxyType(
    {
        CellStatus.FINISHED: "nothing",
        CellStatus.TIMED_OUT: "fix what hangs, narrow the selection, or raise `cell-timeout` or `idle-timeout`",
        CellStatus.CRASHED: "see the end of its output; the test that was running is the first suspect",
        CellStatus.OUT_OF_MEMORY: "raise `memory`, or lower `workers`",
        CellStatus.UNUSABLE: "see the end of its output; pytest could not be started on this tree",
        CellStatus.NO_TESTS: "check the selection; no test of it ran",
        CellStatus.ENVIRONMENT_MISMATCH: "see which value did not take effect; the image may lack the zone or the locale",
    }
)
