"""Locked files that tests have changed: who did it, and whose divergence follows from that."""

from __future__ import annotations

import msgspec

from paritygate.classifier import labels
from paritygate.locks import drift
from paritygate.outcomes.artifact import Cause, Finding
from paritygate.outcomes.cells import Cell, NodeId, Rewritten, TestId
from paritygate.outcomes.words import Axis, CauseKind
from tests.support.builders import a_cell, ids

FILE = "tests/data/a.json"


def a_gate(*rows: tuple[str, str, tuple[str, ...]], path: str = FILE) -> tuple[Cell, ...]:
    """Make cells, two in each of two environments: tests in their order with outcomes, and who may have changed the file."""
    cells = []
    for number, (order, outcomes, suspects) in enumerate(rows):
        names = order.split()
        cell = a_cell("ab"[number // 2], number % 2 + 1, dict(zip(names, outcomes.split(), strict=True)))
        change = Rewritten(path=path, what="changed", tests=ids(*suspects))
        cells.append(msgspec.structs.replace(cell, rewritten=(change,) if suspects else ()))
    return tuple(cells)


def found(cells: tuple[Cell, ...], nodeid: str, cause: Cause | None = None) -> Finding:
    findings = [msgspec.structs.replace(each, cause=cause) for each in labels.label(cells)]
    return next(each for each in drift.attributed(findings, cells) if each.nodeid == nodeid)


POLLUTED = a_gate(
    ("w r x", "passed failed passed", ("w", "r")),
    ("x r w", "passed passed passed", ("w",)),
    ("w r x", "passed failed passed", ("w", "r")),
    ("x r w", "passed passed passed", ("x", "w")),
)


def test_a_test_that_goes_wrong_after_a_change_and_nowhere_else_has_it_for_its_cause() -> None:
    cause = found(POLLUTED, "r").cause
    assert cause is not None
    assert (cause.kind, cause.polluters, cause.files) == (CauseKind.FIXTURE_DRIFT, ("w",), (FILE,))
    assert found(POLLUTED, "x").cause is None


def test_a_test_that_changes_the_file_itself_has_that_for_its_cause() -> None:
    cells = a_gate(
        ("w r", "passed passed", ("w",)),
        ("r w", "passed failed", ("w",)),
        ("w r", "passed passed", ("w",)),
        ("r w", "passed passed", ("w",)),
    )
    cause = found(cells, "w").cause
    assert cause is not None
    assert (cause.kind, cause.polluters, cause.files) == (CauseKind.FIXTURE_DRIFT, (), (FILE,))


def test_what_does_not_fit_every_cell_is_no_cause() -> None:
    cells = a_gate(
        ("w r", "passed failed", ("w",)),
        ("r w", "failed passed", ("w",)),
        ("w r", "passed failed", ("w",)),
        ("r w", "passed passed", ("w",)),
    )
    assert found(cells, "r").cause is None


def test_a_cause_that_was_shown_stands_and_an_order_is_said_more_exactly() -> None:
    axis = Cause(kind=CauseKind.AXIS, axes=(Axis.TIMEZONE,))
    by_w = Cause(kind=CauseKind.ORDER, polluters=(NodeId("w"),))
    by_x = Cause(kind=CauseKind.ORDER, polluters=(NodeId("x"),))
    assert found(POLLUTED, "r", axis).cause == axis
    assert found(POLLUTED, "r", by_x).cause == by_x
    refined = found(POLLUTED, "r", by_w).cause
    assert refined is not None
    assert refined.kind is CauseKind.FIXTURE_DRIFT


def test_changes_on_another_worker_are_not_before_anything() -> None:
    split = tuple(
        msgspec.structs.replace(cell, order={"gw0": ids("w"), "gw1": (TestId(NodeId("r")), TestId(NodeId("x")))})
        for cell in POLLUTED
    )
    assert found(split, "r").cause is None


def test_neighbours_in_time_are_told_apart_by_the_cells_in_which_they_are_none() -> None:
    assert drift.remarks(POLLUTED) == (f"`{FILE}` is locked, and tests left it changed: `w` (in a, b)",)


def test_where_different_tests_change_a_file_all_of_them_are_suspects() -> None:
    cells = a_gate(("w r", "passed passed", ("w",)), ("r w", "passed passed", ("r",)))
    assert len(drift.remarks(cells)) == 2


def test_a_change_of_which_nobody_knows_the_time_is_told_all_the_same() -> None:
    gone = Rewritten(path=FILE, what="gone")
    assert drift.remarks([a_cell(rewritten=(gone,))]) == (
        f"`{FILE}` is locked, and tests left it gone: no one can say which test (in a)",
    )


def test_where_two_tests_may_have_changed_a_file_neither_is_blamed() -> None:
    cells = a_gate(
        ("v w r", "passed passed failed", ("v", "w")),
        ("r v w", "passed passed passed", ("v", "w")),
        ("v w r", "passed passed failed", ("v", "w")),
        ("r v w", "passed passed passed", ("v", "w")),
    )
    assert found(cells, "r").cause is None
    assert drift.remarks(cells) == (f"`{FILE}` is locked, and tests left it changed: `v` or `w` (in a, b)",)
