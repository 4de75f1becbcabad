"""Real output of many versions and plugins: exactly what is known of it, and never what the whole of it contradicts."""

from __future__ import annotations

import contextlib
from functools import cache
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paritygate.errors import UsageError
from paritygate.ingest import detecting, making
from paritygate.ingest.making import Given
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.words import CellStatus, Outcome

FOLDER = Path(__file__).parent.parent / "ingest_data"
XPASS = "tests/test_all.py::test_xpass"


class Expected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What has to be found in a file; `outcomes` by name where many files have the same.

    `truth` is what its tests did, where the whole of it leaves that open.
    """

    status: CellStatus
    unnamed: int
    outcomes: dict[str, Outcome] | str
    truth: dict[str, Outcome] = {}


class Table(msgspec.Struct, frozen=True):
    """The contents of `expected.json`: `all` is what the tests of one small project do."""

    all: dict[str, Outcome]
    files: dict[str, Expected]


@cache
def table() -> Table:
    return msgspec.json.decode((FOLDER / "expected.json").read_bytes(), type=Table)


NAMES = sorted(each.name for each in FOLDER.iterdir() if each.name.startswith(("found_", "made_by_")))


def outcomes_of(name: str) -> dict[str, Outcome]:
    match table().files[name].outcomes:
        case "all":
            return table().all
        case "all, as a JUnit XML has it":  # which has no word for what passes unexpectedly
            return table().all | {XPASS: Outcome.PASSED}
        case str(other):
            raise AssertionError(other)
        case outcomes:
            return outcomes


def truth(name: str) -> dict[str, Outcome]:
    """Say what the tests did, where a file does not tell it of all of them."""
    outcomes = table().files[name].truth or outcomes_of(name)
    return table().all if set(outcomes) < set(table().all) else outcomes


def content_of(name: str) -> bytes:
    return (FOLDER / name).read_bytes()


def read(name: str, content: bytes) -> Cell:
    found = detecting.read(content, detecting.detect(content_of(name)))
    known = frozenset(outcomes_of(name)) if name.endswith(".xml") else frozenset[str]()
    return making.cell(found, Given(env="server-like", attempt=1, seed=found.seed or 1), known)


def contradicted(name: str, content: bytes) -> list[str]:
    try:
        cell = read(name, content)
    except UsageError:
        return []
    outcomes = truth(name)
    return [f"{run.nodeid}: {run.outcome}" for run in cell.tests if outcomes.get(run.nodeid) is not run.outcome]


def test_every_file_says_what_is_in_it() -> None:
    assert sorted(table().files) == NAMES
    assert sum(name.startswith("found_") for name in NAMES) >= 15


@pytest.mark.parametrize("name", NAMES)
def test_what_is_known_is_exactly_what_it_tells(name: str) -> None:
    expected = table().files[name]
    cell = read(name, content_of(name))
    assert cell.told is not None
    assert (cell.status, cell.told.unnamed) == (expected.status, expected.unnamed), cell.detail
    assert {run.nodeid: run.outcome for run in cell.tests} == outcomes_of(name)
    assert bool(cell.detail) == (cell.status is CellStatus.INCOMPLETE)


@pytest.mark.parametrize("name", NAMES)
def test_no_cut_at_a_line_makes_it_say_what_the_whole_contradicts(name: str) -> None:
    lines = content_of(name).splitlines(keepends=True)
    for cut in range(len(lines)):
        assert contradicted(name, b"".join(lines[:cut])) == [], f"without what follows line {cut}"
        assert contradicted(name, b"".join(lines[cut:])) == [], f"without the first {cut} lines"


@given(name=st.sampled_from(NAMES), place=st.floats(0, 1), at_end=st.booleans())
@settings(max_examples=150, deadline=None)
def test_no_cut_at_a_byte_does_either(name: str, place: float, at_end: bool) -> None:  # noqa: FBT001
    content = content_of(name)
    cut = int(place * len(content))
    assert contradicted(name, content[:cut] if at_end else content[cut:]) == []


@given(name=st.sampled_from(NAMES), places=st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=6)), max_size=4))
@settings(max_examples=100, deadline=None)
def test_whatever_is_put_into_it_is_read_or_refused(name: str, places: list[tuple[float, bytes]]) -> None:
    content = content_of(name)
    for place, junk in places:
        at = int(place * len(content))
        content = content[:at] + junk + content[at + len(junk) :]
    contradicted(name, content)


@given(st.binary(max_size=400))
def test_anything_at_all_is_read_or_refused(content: bytes) -> None:
    with contextlib.suppress(UsageError):
        making.cell(detecting.read(content), Given(env="a", attempt=1, seed=1), frozenset())


@given(
    st.lists(
        st.sampled_from(
            [
                "===== test session starts =====",
                "collected 2 items",
                "t.py::test_a PASSED [ 50%]",
                "t.py::test_a FAILED [ 50%]",
                "t.py::test_b[x FAILED y] PASSED [100%]",
                "[gw0] [ 50%] PASSED t.py::test_a ",
                "[gw0] node down: gone",
                "PASSED",
                "t.py::test_b ",
                "===== FAILURES =====",
                "===== short test summary info =====",
                "FAILED t.py::test_a - x - y",
                "SKIPPED [1] t.py:3: why",
                "===== 2 passed in 0.1s =====",
                "===== 1 failed, 1 passed in 0.1s =====",
                "!!!!! stopping after 1 failures !!!!!",
                "",
            ]
        ),
        max_size=12,
    )
)
def test_lines_in_any_order_are_read_or_refused(lines: list[str]) -> None:
    content = "\n".join([*lines, ""]).encode()
    try:
        cell = making.cell(detecting.read(content), Given(env="a", attempt=1, seed=1), frozenset())
    except UsageError:
        return
    if cell.status is CellStatus.FINISHED and "collected 2 items" in lines and "===== test session starts =====" in lines:
        assert cell.tests
