"""What cells have seen of a test that workers flip: fixtures that each worker sets up for itself, ids that are not everywhere.

Pure. It says what was seen beside the proof that workers flip the test, and not that it is why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from paritygate.classifier.evidence import noted
from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.cells import Cell, TestId
from paritygate.outcomes.words import Axis

MOST_FIXTURES = 3


def with_company(finding: Finding, cells: Sequence[Cell]) -> Finding:
    """Add to what workers flip what was seen of it where there were several."""
    cause = finding.cause
    if cause is None or Axis.WORKERS not in cause.axes:
        return finding
    test = TestId(finding.nodeid, finding.occurrence)
    remarks = dict.fromkeys((*_of_ids(test, cells), *_of_fixtures(test, cells)))
    return msgspec.structs.replace(finding, note=noted(finding, "; ".join(remarks))) if remarks else finding


def _of_ids(test: TestId, cells: Iterable[Cell]) -> Iterator[str]:
    function = test.nodeid.partition("[")[0]
    if any(each.nodeid.partition("[")[0] == function for cell in cells for each in cell.uneven):
        yield "its ids differ from worker to worker"


def _of_fixtures(test: TestId, cells: Iterable[Cell]) -> Iterator[str]:
    """Find the wide fixtures of a test that several workers of one cell have set up."""
    most: dict[str, int] = {}
    for cell in cells:
        own = [name for run in cell.tests if run.test == test for name in run.fixtures]
        for name in own:
            workers = {run.worker for run in cell.tests if name in run.fixtures}
            most[name] = max(len(workers), most.get(name, 0))
    several = {name: count for name, count in most.items() if count > 1}
    for name, count in tuple(several.items())[:MOST_FIXTURES]:
        file, _, fixture = name.partition("::")
        yield f"it uses `{fixture}` of {file}, which is there once a process: each of {count} workers sets it up for itself"
