"""What is to be said of cells that our recorder has not seen: how they are known, and what of them is not."""

from __future__ import annotations

from collections.abc import Iterable

from paritygate.outcomes.cells import Cell
from paritygate.outcomes.words import Certainty, Purpose, ResultFormat

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
        said.append(
            "of pasted cells nobody has measured the environment, the tree or the packages, and their order is not that of the "
            "others: a test that differs there may be one that depends on any of these"
        )
    return tuple(said)
