"""Tells a mistake of whoever asked from what is wrong with the project, where pytest refuses what it was asked for.

Only what pytest's own words prove is taken for the former: its exit status is the same for a broken conftest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from paritygate.errors import UsageError
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import Selection
from paritygate.outcomes.words import CellStatus

REFUSED = 4
"""pytest's exit status for what it was asked for and cannot do, and for a project that it cannot read."""

_EXPRESSION = re.compile(r"Wrong expression passed to '(?P<option>-[km])': (?P<rest>.+)", flags=re.DOTALL)
_UNKNOWN = re.compile(r"unrecognized arguments: (?P<words>.+)")
_VALUE = re.compile(r"argument (?P<names>-\S+): .*?'(?P<value>[^']*)'")


def check(asked: Selection, cells: Sequence[Cell]) -> None:
    """Raise `UsageError` where pytest refuses, in every cell and with the same words, something that the user has given."""
    said = {(cell.status, cell.returncode, cell.detail) for cell in cells}
    if len(said) != 1:
        return
    status, returncode, detail = said.pop()
    words = detail.removeprefix("ERROR: ")
    if status is CellStatus.UNUSABLE and returncode == REFUSED and (culprit := _culprit(asked, words)):
        raise UsageError(f"pytest refuses `{culprit}`: {words}", "correct it where it was given, and run again")


def _culprit(asked: Selection, words: str) -> str:
    """Find what the user has given that pytest's words are about; nothing where they may be about the project's own options."""
    if found := _EXPRESSION.match(words):
        given = {"-k": asked.keyword, "-m": asked.marker}[found["option"]]
        return f"{found['option']} {given}" if given and found["rest"].startswith(given) else ""
    if found := _UNKNOWN.match(words):
        return (
            found["words"]
            if found["words"].split() == [word for word in asked.arguments if word in found["words"].split()]
            else ""
        )
    if found := _VALUE.match(words):
        return next((each for each in asked.arguments if _gives(each, found["names"].split("/"), found["value"])), "")
    return ""


def _gives(argument: str, names: Sequence[str], value: str) -> bool:
    """Say whether an argument gives an option of these names this value."""
    return any(argument in (f"{name}={value}", f"{name}{value}") for name in names)
