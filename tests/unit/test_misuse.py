"""What pytest refuses is a mistake of the user's only where its own words prove it."""

from __future__ import annotations

import pytest

from paritygate.errors import UsageError
from paritygate.gate import misuse
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import Selection
from paritygate.outcomes.words import CellStatus
from tests.support.builders import a_cell

ASKED = Selection(keyword="and and", marker="a,b", arguments=("--frobnicate", "--tb=nope", "-q"))


def refused(detail: str, env: str = "a", returncode: int = 4) -> Cell:
    return a_cell(env, 1, status=CellStatus.UNUSABLE, returncode=returncode, detail=detail, passed=False)


@pytest.mark.parametrize(
    ("said", "culprit"),
    [
        ("Wrong expression passed to '-k': and and: at column 1: expected not OR", "-k and and"),
        ("Wrong expression passed to '-m': a,b: at column 2: expected end of input; got ,", "-m a,b"),
        ("unrecognized arguments: --frobnicate", "--frobnicate"),
        ("argument --tb: invalid choice: 'nope' (choose from 'auto', 'long')", "--tb=nope"),
    ],
)
def test_what_the_user_gave_and_pytest_refuses_is_a_usage_error(said: str, culprit: str) -> None:
    with pytest.raises(UsageError) as caught:
        misuse.check(ASKED, [refused(f"ERROR: {said}"), refused(f"ERROR: {said}", "b")])
    assert caught.value.message == f"pytest refuses `{culprit}`: {said}"


@pytest.mark.parametrize(
    "said",
    [
        "ERROR: Wrong expression passed to '-k': or or: at column 1: expected not OR",
        "ERROR: unrecognized arguments: --of-the-project",
        "ERROR: unrecognized arguments: --of-the-project --frobnicate",
        "ERROR: argument --tb: invalid choice: 'odd' (choose from 'auto', 'long')",
        "ERROR: argument -p: invalid choice: 'nope'",
        "ImportError while loading conftest",
    ],
)
def test_what_may_be_the_projects_own_is_none(said: str) -> None:
    misuse.check(ASKED, [refused(said)])


def test_cells_that_differ_or_ended_otherwise_are_none() -> None:
    said = "ERROR: unrecognized arguments: --frobnicate"
    misuse.check(ASKED, [refused(said), a_cell("b", 1, {"t": "passed"})])
    misuse.check(ASKED, [refused(said, returncode=1)])
    misuse.check(ASKED, [])
