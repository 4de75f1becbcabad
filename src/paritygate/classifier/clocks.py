"""Holds back what a moved clock may have done by being moved: a test that hangs or dies under it is not called coupled.

A failure under another date says something of the test. A hang may say as much of the way in which programs are told that date.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from paritygate.classifier.evidence import KILLING, noted
from paritygate.classifier.moved import has_moved_clock
from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.cells import Cell, EnvironmentName
from paritygate.outcomes.words import Label


def held_back(findings: Iterable[Finding], cells: Iterable[Cell]) -> tuple[Finding, ...]:
    """Leave undecided what looks coupled because it hangs or ends its process, and does so under moved clocks alone."""
    moved = frozenset(cell.env for cell in cells if has_moved_clock(cell))
    return tuple(_held_back(each, moved) if moved and each.label is Label.COUPLING else each for each in findings)


def _held_back(finding: Finding, moved: frozenset[EnvironmentName]) -> Finding:
    broken = {env for env, outcomes in finding.outcomes.items() if KILLING.intersection(outcomes)}
    if not broken or not broken <= moved:
        return finding
    names = ", ".join(f"`{env}`" for env in sorted(broken))
    said = f"it broke under the moved clock of {names}: whether by the date, or because the clock is moved, cannot be told apart"
    return msgspec.structs.replace(finding, label=Label.UNDECIDED, note=noted(finding, said))
