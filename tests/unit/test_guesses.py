"""What is guessed of tests that were asked for and are nowhere, from files as people write them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from paritygate.classifier.grid import NOWHERE
from paritygate.gate.guesses import not_spelled, with_guesses
from paritygate.outcomes.plans import Selection
from paritygate.outcomes.trees import Tree
from paritygate.outcomes.words import Worktree
from tests.support.builders import a_finding, an_artifact

FILE = "tests/test_planted.py"
TEXT = """\
import pytest

def test_zone():
    pass

if True:
    def test_order():
        pass

class TestNames:
    async def test_short(self):
        pass

    def helper(self):
        pass
"""


def trees(root: Path, text: str = TEXT) -> dict[Worktree, Tree]:
    file = root / "app" / FILE
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    return {Worktree.DIRTY: Tree(state=Worktree.DIRTY, root=str(root), directory="app", commit="", digest="", entries=())}


def guessed(nodeid: str, there: dict[Worktree, Tree], *others: str) -> str:
    """Say the note of a test that is in no cell, beside others that are."""
    lost = msgspec.structs.replace(a_finding(nodeid), note=NOWHERE)
    artifact = with_guesses(an_artifact(tests=(*(a_finding(each) for each in others), lost)), there)
    assert [each.note for each in artifact.tests[:-1]] == [""] * len(others)
    return artifact.tests[-1].note


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("test_zon", f"did you mean `{FILE}::test_zone`?"),
        ("test_ordr[a-b]", f"did you mean `{FILE}::test_order`?"),
        ("test_short", f"did you mean `{FILE}::TestNames::test_short`?"),
        ("TestName::test_short", f"did you mean `{FILE}::TestNames::test_short`?"),
        ("test_nope", "its file has `test_zone`, `test_order`, `TestNames::test_short`"),
    ],
)
def test_what_is_near_is_named_and_else_what_there_is(tmp_path: Path, asked: str, said: str) -> None:
    assert guessed(f"{FILE}::{asked}", trees(tmp_path)) == f"asked for, and found in no cell; {said}"


def test_tests_that_a_cell_knows_are_guessed_too(tmp_path: Path) -> None:
    there = trees(tmp_path, "make_tests(globals())\n")
    assert guessed(
        f"{FILE}::test_maed", there, f"{FILE}::test_made[1]", f"{FILE}::test_made[2]", "tests/test_b.py::test_maed"
    ) == (f"asked for, and found in no cell; did you mean `{FILE}::test_made`?")


@pytest.mark.parametrize("text", ["def broken(:\n", "", "\0"])
def test_of_a_file_that_says_nothing_nothing_is_guessed(tmp_path: Path, text: str) -> None:
    assert guessed(f"{FILE}::test_nope", trees(tmp_path, text)) == NOWHERE


@pytest.mark.parametrize("nodeid", ["tests/gone.py::test_nope", "../outside.py::test_nope", "tests/data.txt::nope", "tests"])
def test_what_is_no_file_of_the_tree_is_not_read(tmp_path: Path, nodeid: str) -> None:
    (tmp_path.parent / "outside.py").write_text(TEXT, encoding="utf-8")
    assert guessed(nodeid, trees(tmp_path)) == NOWHERE


def test_before_any_cell_a_name_that_its_file_does_not_spell_is_told(tmp_path: Path) -> None:
    asked = Selection(
        paths=(FILE, f"{FILE}::test_zone", f"{FILE}::TestNames::test_gone", f"{FILE}::test_nope[1]"), directory="app"
    )
    assert list(not_spelled(asked, trees(tmp_path))) == [
        f"`{FILE}` nowhere spells `test_nope`; its file has `test_zone`, `test_order`, `TestNames::test_short`"
    ]


@pytest.mark.parametrize("maker", ["from shared import *", "globals()['test_nop' + 'e'] = f", "setattr(module, name, f)"])
def test_a_file_that_may_make_tests_is_not_told_to_lack_any(tmp_path: Path, maker: str) -> None:
    asked = Selection(paths=(f"{FILE}::test_nope",), directory="app")
    assert list(not_spelled(asked, trees(tmp_path, f"{TEXT}\n{maker}\n"))) == []
