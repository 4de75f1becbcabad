"""The table of bad ends names every test of them, no others, and the words that those tests insist on."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import msgspec
import pytest

from paritygate.outcomes.words import ExitCode

ROOT = Path(__file__).parent.parent.parent
TABLE = ROOT / "docs" / "bad-ends.md"
TESTS = ROOT / "tests" / "docker" / "test_bad_ends.py"

LITERAL = re.compile(r"``(.+?)``|`(.+?)`")


class Row(msgspec.Struct, frozen=True):
    """One row: what happens, exit codes, the words in backticks, the name of the test."""

    what: str
    codes: tuple[int, ...]
    words: tuple[str, ...]
    test: str


def rows() -> list[Row]:
    found = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("| ") or cells[0] == "what happens":
            continue
        what, codes, message, test = cells
        words = tuple((double or single).strip() for double, single in LITERAL.findall(message))
        found.append(Row(what, tuple(map(int, re.findall(r"\d+", codes))), words, test.strip("`")))
    return found


def all_tests() -> dict[str, str]:
    """Give for each test all the text in it and in the helpers of its module."""
    module = ast.parse(TESTS.read_text(encoding="utf-8"))
    functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
    helpers = "\n".join(texts(node) for node in functions if not node.name.startswith("test_"))
    return {node.name: f"{texts(node)}\n{helpers}" for node in functions if node.name.startswith("test_")}


def texts(node: ast.AST) -> str:
    """Give every text in a function, a formatted one with its holes as `{}`."""
    found = []
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            found.append(each.value)
        elif isinstance(each, ast.JoinedStr):
            found.append("".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in each.values))
    return "\n".join(found)


def test_every_bad_end_has_a_row_and_every_row_a_test() -> None:
    assert sorted(row.test for row in rows()) == sorted(all_tests())


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.test)
def test_a_row_has_known_codes_and_the_words_that_its_test_insists_on(row: Row) -> None:
    assert [code for code in row.codes if code not in set(ExitCode)] == []
    said = all_tests()[row.test]
    plain = {"crashed", "processes", "ENOSPC", "EAGAIN", "head -1"}
    assert [words for words in row.words if words not in plain and not heard(words, said)] == []


def heard(words: str, said: str) -> bool:
    """Say whether a test insists on these words; where a helper fills in a signal's name, any will do."""
    return words in said or re.sub(r"SIG[A-Z]+", "{}", words) in said
