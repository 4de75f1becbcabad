"""What is to be said of cells that our recorder has not seen: how they are known, and what of them is not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from paritygate.outcomes.cells import Cell, TestId, TestRun
from paritygate.outcomes.words import Certainty, Outcome, Purpose, ResultFormat

FROM = {
    ResultFormat.TERMINAL: "what pytest showed on a terminal",
    ResultFormat.JUNIT: "a JUnit XML of pytest's",
    ResultFormat.REPORTLOG: "a report log of pytest's",
}
HOW = {Certainty.READ: "read off", Certainty.REPORTED: "taken from"}


def remarks(cells: Iterable[Cell]) -> tuple[str, ...]:
    """Say of each pasted cell of the gate where it is from, and once what nobody knows of any of them."""
    pasted = [(cell, cell.told) for cell in cells if cell.told is not None and cell.purpose is Purpose.GATE]
    said = [
        f"`{cell.env}` attempt {cell.attempt} is {HOW[told.certainty]} {FROM[told.format]}"
        + (f" ({'; '.join(told.remarks)})" if told.remarks else "")
        for cell, told in pasted
    ]
    if pasted:
        some = "more of the environment than zone and locale" if all(told.measured for _, told in pasted) else "the environment"
        said.append(
            f"of pasted cells nobody has measured {some}, the tree or the packages, and their order is not that of the "
            "others: a test that differs there may be one that depends on any of these"
        )
    return tuple(said)


def reconciled(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """Give tests of a JUnit XML the outcome that they have elsewhere where it writes both alike: `xpassed` is `passed` there."""
    elsewhere = {run.test for cell in cells if not _is_junit(cell) for run in cell.tests if run.outcome is Outcome.XPASSED}
    if not elsewhere:
        return tuple(cells)
    return tuple(
        msgspec.structs.replace(cell, tests=tuple(_as_elsewhere(run, elsewhere) for run in cell.tests))
        if _is_junit(cell)
        else cell
        for cell in cells
    )


def _is_junit(cell: Cell) -> bool:
    return cell.told is not None and cell.told.format is ResultFormat.JUNIT


def _as_elsewhere(run: TestRun, xpassed: set[TestId]) -> TestRun:
    alike = run.outcome is Outcome.PASSED and run.test in xpassed
    reason = "a JUnit XML calls it passed, as it does with all that pass unexpectedly"
    return msgspec.structs.replace(run, outcome=Outcome.XPASSED, reason=reason) if alike else run
