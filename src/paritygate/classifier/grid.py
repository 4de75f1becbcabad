"""Lays cells side by side: for each test, what it did in each of them.

Decides which tests are the same test and what a missing result means; says nothing about what the results mean together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from paritygate.outcomes.cells import Cell, NodeId, TestId, TestRun
from paritygate.outcomes.words import CellStatus, Outcome

ADDRESS = re.compile(r"0x[0-9a-f]{6,}", re.IGNORECASE)
ROOT = (".", "")
BY_FORM = "the id holds an object address; matched by its form"
BY_OUTCOME = "the id holds an object address; matched by its form and, among equals, by outcome"
NOWHERE = "asked for, and found in no cell"
NOT_TOLD = "a pasted cell does not tell of it"
ONLY_PASTED = "only pasted cells tell of it: were they asked for the same tests?"
COLLECT = "collect"
WHOLE = frozenset({Outcome.ERROR, Outcome.SKIPPED})

Runs = dict[TestId, TestRun]


class Row(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One test over all cells, in the cells' order; `runs` holds what bore each outcome out, None where nothing was recorded."""

    test: TestId
    outcomes: tuple[Outcome, ...]
    runs: tuple[TestRun | None, ...]
    note: str = ""


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """One cell, made ready to be asked: `whole` holds what broke or skipped itself in collection, by node id."""

    cell: Cell
    runs: Runs
    whole: dict[str, TestRun]
    running: frozenset[TestId]


def stands_for_many(run: TestRun) -> bool:
    """Tell the result of a whole file, package or class, which broke or skipped itself in collection, from that of a test."""
    in_collection = run.failure is not None and run.failure.phase == COLLECT
    return in_collection or (run.outcome in WHOLE and "::" not in run.nodeid)


def form(nodeid: str) -> NodeId:
    """Write an id without the addresses of objects."""
    return NodeId(ADDRESS.sub("0x...", nodeid) if "0x" in nodeid or "0X" in nodeid else nodeid)


def observe(cells: Sequence[Cell]) -> tuple[Row, ...]:
    """Say for every test that any cell knows what it did in each cell, tests in the order of their ids.

    What a cell recorded stands. Where it recorded nothing:

    | the cell | outcome |
    |---|---|
    | could not collect the test's file, class or package | `error` |
    | skipped that as a whole | `skipped` |
    | excluded it | `not_collected` |
    | was running it | `not_run` |
    | finished, or found no tests | `not_collected`; `not_run` where it was pasted, or only pasted cells have the test |
    | is unusable: pytest could not work there at all | `error` |
    | ended in any other way | `not_run`: unknown |

    A file that broke or skipped itself has a row of its own only where no cell knows a test in it, and so has what was asked
    for by its id and is nowhere.
    """
    columns, notes = _columns(cells)
    tests = {test for column in columns for test in (*column.runs, *column.running)}
    whole = {nodeid for column in columns for nodeid in column.whole}
    if whole:
        covered = whole.intersection(above for test in tests for above in _ancestors(test.nodeid) if above != test.nodeid)
        tests = {test for test in tests if test.nodeid not in covered}
    for test in _nowhere(columns, whole.union(test.nodeid for test in tests)):
        tests.add(test)
        notes[test] = NOWHERE
    rows = tuple(_row(test, columns, notes.get(test, "")) for test in sorted(tests, key=_by_id))
    if all(cell.told is None for cell in cells):
        return rows
    return tuple(_with_selections_unknown(row, columns) for row in rows)


def _nowhere(columns: Sequence[Column], known: Iterable[str]) -> Iterator[TestId]:
    """Yield what was asked for in vain: no cell knows it, anything in it or anything that it is in."""
    asked = {nodeid for column in columns for nodeid in column.cell.missing}
    if asked:
        there = {*known, *(nodeid for column in columns for nodeid in column.cell.excluded)}
        for nodeid in asked.difference(there):
            inside = (f"{nodeid}[", f"{nodeid}::", f"{nodeid}/")
            if there.isdisjoint(_ancestors(nodeid)) and not any(each.startswith(inside) for each in there):
                yield TestId(nodeid)


def _by_id(test: TestId) -> tuple[str, int]:
    return test.nodeid, test.occurrence


def _row(test: TestId, columns: Sequence[Column], note: str) -> Row:
    runs: list[TestRun | None] = []
    outcomes: list[Outcome] = []
    for column in columns:
        run = column.runs.get(test)
        if run is None and column.whole:
            run = next((column.whole[above] for above in _ancestors(test.nodeid) if above in column.whole), None)
        runs.append(run)
        outcomes.append(_without_record(test, column) if run is None else run.outcome)
    return Row(test=test, outcomes=tuple(outcomes), runs=tuple(runs), note=note)


def _without_record(test: TestId, column: Column) -> Outcome:
    if test in column.running:
        return Outcome.NOT_RUN
    if test.nodeid in column.cell.excluded:
        return Outcome.NOT_COLLECTED
    match column.cell.status:
        case CellStatus.FINISHED | CellStatus.NO_TESTS:
            return Outcome.NOT_COLLECTED
        case CellStatus.UNUSABLE:
            return Outcome.ERROR
        case (
            CellStatus.TIMED_OUT
            | CellStatus.CRASHED
            | CellStatus.OUT_OF_MEMORY
            | CellStatus.ENVIRONMENT_MISMATCH
            | CellStatus.INCOMPLETE
        ):
            return Outcome.NOT_RUN


def _with_selections_unknown(row: Row, columns: Sequence[Column]) -> Row:
    """Take back that a test is not there, in a pasted cell or wherever only pasted cells have it.

    Nobody knows what pytest was asked for elsewhere, and a JUnit XML does not even say that pytest stopped.
    """
    own = any(run is not None and column.cell.told is None for run, column in zip(row.runs, columns, strict=True))
    outcomes = tuple(
        Outcome.NOT_RUN if outcome is Outcome.NOT_COLLECTED and not (own and column.cell.told is None) else outcome
        for outcome, column in zip(row.outcomes, columns, strict=True)
    )
    if outcomes == row.outcomes:
        return row
    note = "; ".join(part for part in (row.note, NOT_TOLD if own else ONLY_PASTED) if part)
    return msgspec.structs.replace(row, outcomes=outcomes, note=note)


def _ancestors(nodeid: str) -> Iterator[str]:
    """Yield what a test lies in: classes, file, packages. A parameter may hold the separators too; that yields ids nobody has."""
    file, _, inner = nodeid.partition("::")
    parts = inner.split("::")
    for end in range(len(parts) - 1, 0, -1):
        yield "::".join((file, *parts[:end]))
    if inner:
        yield file
    while "/" in file:
        file = file.rpartition("/")[0]
        yield file
        yield f"{file}/__init__.py"
    yield from ROOT


def _columns(cells: Sequence[Cell]) -> tuple[tuple[Column, ...], dict[TestId, str]]:
    recorded = [{TestId(run.nodeid, run.occurrence): run for run in cell.tests} for cell in cells]
    running = [frozenset(cell.running) - runs.keys() for cell, runs in zip(cells, recorded, strict=True)]
    unstable = {nodeid for cell in cells for nodeid in cell.unstable_ids}
    notes = {test: BY_FORM for runs in recorded for test in runs if test.nodeid in unstable} if unstable else {}
    loose = _loose(cells, recorded)
    if loose:
        recorded = [_by_form(runs, loose, notes) for runs in recorded]
        running = [
            frozenset(TestId(form(test.nodeid), test.occurrence) if test in loose else test for test in some) for some in running
        ]
        _restore(recorded, notes)
    columns = tuple(
        Column(
            cell=cell,
            runs=runs,
            whole={test.nodeid: run for test, run in runs.items() if run.outcome in WHOLE and stands_for_many(run)},
            running=some,
        )
        for cell, runs, some in zip(cells, recorded, running, strict=True)
    )
    return columns, notes


def _loose(cells: Sequence[Cell], recorded: Sequence[Runs]) -> frozenset[TestId]:
    """Find the ids with addresses that not every finished cell has; a constant written in hexadecimal is in all of them."""
    addressed = [
        {test for test in (*runs, *cell.running) if ("0x" in test.nodeid or "0X" in test.nodeid) and ADDRESS.search(test.nodeid)}
        for cell, runs in zip(cells, recorded, strict=True)
    ]
    everything = frozenset[TestId]().union(*addressed)
    finished = [some for cell, some in zip(cells, addressed, strict=True) if cell.status is CellStatus.FINISHED]
    return everything.difference(everything.intersection(*(finished or addressed)))


def _by_form(runs: Runs, loose: frozenset[TestId], notes: dict[TestId, str]) -> Runs:
    """Put the form in the place of each loose id, and number anew, by outcome, what has the same form and occurrence."""
    result = {test: run for test, run in runs.items() if test not in loose}
    equals: dict[TestId, list[TestRun]] = {}
    for test, run in runs.items():
        if test in loose:
            equals.setdefault(TestId(form(test.nodeid), test.occurrence), []).append(run)
    for test, group in equals.items():
        if len(group) == 1:
            result[test] = group[0]
            notes.setdefault(test, BY_FORM)
            continue
        for number, run in enumerate(sorted(group, key=_by_outcome)):
            numbered = TestId(test.nodeid, number)
            result[numbered] = run
            notes[numbered] = BY_OUTCOME
    return result


def _by_outcome(run: TestRun) -> tuple[str, str]:
    return run.outcome.value, run.nodeid


def _restore(recorded: Iterable[Runs], notes: dict[TestId, str]) -> None:
    """Give back its own id to a test that has only one: it is a constant, and the test is missing elsewhere."""
    tables = tuple(recorded)
    for test in tuple(notes):
        ids = {table[test].nodeid for table in tables if test in table}
        own = TestId(ids.pop(), test.occurrence) if len(ids) == 1 else test
        if own == test or any(own in table for table in tables):
            continue
        del notes[test]
        for table in tables:
            if test in table:
                table[own] = table.pop(test)
