"""What follows from locked files that the tests of a cell have changed: which tests do it, and whose divergence it explains.

Pure: it takes cells and findings, and changes no label.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from paritygate.outcomes.artifact import Cause, Finding
from paritygate.outcomes.cells import Cell, Rewritten, TestId
from paritygate.outcomes.words import CauseKind, Label, Outcome, Purpose

DIVERGENT = frozenset({Label.COUPLING, Label.NONDETERMINISM, Label.NONDETERMINISM_EVERYWHERE})
REFINED = frozenset({CauseKind.ORDER})
"""The causes that drift says more exactly; what has been shown by running, such as an axis, stands."""
SHOWN = 3


def attributed(findings: Sequence[Finding], cells: Iterable[Cell]) -> tuple[Finding, ...]:
    """Give a divergence the cause `fixture-drift` where a test that changes a locked file is behind it.

    | the divergent test | |
    |---|---|
    | changes a locked file itself | its cause |
    | comes after one that does wherever it goes one way, and in no cell in which it goes the other | its cause |
    | else, or an axis, a seed or chance has been shown to flip it | left as it is |
    """
    gate = tuple(cell for cell in narrowed(cells) if cell.purpose is Purpose.GATE)
    if not any(cell.rewritten for cell in gate):
        return tuple(findings)
    return tuple(_attributed(finding, gate) for finding in findings)


def narrowed(cells: Iterable[Cell]) -> tuple[Cell, ...]:
    """Leave of the tests that may have changed a file those that may have in every cell where it changed, if there are any.

    Times are too coarse to tell neighbours apart, and who is whose neighbour differs from cell to cell.
    """
    known = tuple(cells)
    suspects: dict[str, set[TestId]] = {}
    for cell in known:
        for each in cell.rewritten:
            if each.tests:
                suspects[each.path] = suspects.get(each.path, set(each.tests)) & set(each.tests)
    return tuple(
        msgspec.structs.replace(cell, rewritten=tuple(_without_neighbours(each, suspects) for each in cell.rewritten))
        if cell.rewritten
        else cell
        for cell in known
    )


def _without_neighbours(each: Rewritten, suspects: Mapping[str, set[TestId]]) -> Rewritten:
    left = tuple(test for test in each.tests if test in suspects[each.path])
    return msgspec.structs.replace(each, tests=left) if left else each


def remarks(cells: Iterable[Cell]) -> tuple[str, ...]:
    """Say which locked files tests have changed, and which tests, whether or not anything diverges."""
    where: dict[str, dict[str, None]] = {}
    for cell in narrowed(cells):
        for each in cell.rewritten:
            tests = " or ".join(f"`{test.nodeid}`" for test in each.tests[:SHOWN]) or "no one can say which test"
            where.setdefault(f"`{each.path}` is locked, and tests left it {each.what}: {tests}", {})[cell.env] = None
    return tuple(f"{said} (in {', '.join(environments)})" for said, environments in where.items())


def _attributed(finding: Finding, gate: Sequence[Cell]) -> Finding:
    known = finding.cause
    if finding.label not in DIVERGENT or (known is not None and known.kind not in REFINED):
        return finding
    test = TestId(finding.nodeid, finding.occurrence)
    own = tuple(dict.fromkeys(path for cell in gate for path, who in _changes(cell) if who == test))
    if own:
        detail = f"it changes {_quoted(own)}, which is locked"
        return msgspec.structs.replace(finding, cause=Cause(kind=CauseKind.FIXTURE_DRIFT, files=own, detail=detail))
    before = [tuple(_before(cell, test)) for cell in gate]
    if not _fits(test, gate, before):
        return finding
    changes = tuple(dict.fromkeys(change for some in before for change in some))
    polluters = tuple(dict.fromkeys(who.nodeid for _, who in changes))
    files = tuple(dict.fromkeys(path for path, _ in changes))
    if known is not None and set(known.polluters).isdisjoint(polluters):
        return finding
    cause = Cause(
        kind=CauseKind.FIXTURE_DRIFT,
        polluters=polluters,
        files=files,
        detail=f"it goes one way wherever {_quoted(polluters)} has changed {_quoted(files)} before, and the other way elsewhere",
    )
    return msgspec.structs.replace(finding, cause=cause)


def _changes(cell: Cell) -> Iterator[tuple[str, TestId]]:
    """Yield the locked files of which it is known what one test changed them."""
    for each in cell.rewritten:
        if len(each.tests) == 1:
            yield each.path, each.tests[0]


def _before(cell: Cell, test: TestId) -> Iterator[tuple[str, TestId]]:
    """Yield the changes that were made by tests that ran before another one on its worker."""
    order = next((order for order in cell.order.values() if test in order), ())
    earlier = set(order[: order.index(test)]) if order else set[TestId]()
    yield from ((path, who) for path, who in _changes(cell) if who in earlier)


def _fits(test: TestId, gate: Sequence[Cell], before: Sequence[tuple[tuple[str, TestId], ...]]) -> bool:
    """Say whether what a test does depends on nothing but whether a locked file was changed before it."""
    after_change: set[Outcome] = set()
    otherwise: set[Outcome] = set()
    for cell, changes in zip(gate, before, strict=True):
        outcomes = {run.outcome for run in cell.tests if run.test == test}
        (after_change if changes else otherwise).update(outcomes)
    return bool(after_change) and bool(otherwise) and after_change.isdisjoint(otherwise)


def _quoted(names: Sequence[str]) -> str:
    """List a few names."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(f'`{name}`' for name in names[:SHOWN])}{more}"
