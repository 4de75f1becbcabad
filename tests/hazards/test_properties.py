"""Whatever a file holds, it is read or named: no text makes the checks fail, and places are always in it."""

from __future__ import annotations

import string

from hypothesis import given, settings
from hypothesis import strategies as st

from paritygate.hazards import suppression
from paritygate.hazards.check import CHECKS
from paritygate.hazards.source import parse
from paritygate.hazards.suppression import Suppression
from paritygate.outcomes.hazards import HazardKind

KINDS = sorted(set(HazardKind) - {HazardKind.SUPPRESSION})
PIECES = (
    *("date.today()", "datetime.now(UTC)", "time.time()", "os.listdir('.')", "set(x)", "{'a', 'b'}", "x", "[1, 'b']", "'/tmp/x'"),
    *("open('é')", "locale.strxfrm", "strftime('%x')", "f'{x:n}'", "time.mktime(x)", "(lambda: date.today())", "{**x}", "x[1:2]"),
    *("bind(('', 80))", "os.environ.pop('A')", "os.environ.clear()", "await_()", "Path(__file__).parents[1] / 'a.txt'"),
)
FRAMES = (
    "def test_a(x=A):\n    y = B\n    assert C == y\n",
    "class T(A):\n    x: int = B\n    def test(self):\n        self.assertEqual(C, self.x)\n",
    "async def f(*a, **k):\n    async with A as b:\n        return [B for c in C if c]\n",
    "@mark(A)\ndef test_b():\n    assert B < C, A\n    del x\n",
    "with A:\n    NOW = B\nassert NOW - C < 5\n",
    "x = sorted(A, key=B)[C]\nfor y in A: y += ','.join(B)\n",
    "os.environ[A] = B\nlambda: C\ntry:\n    x\nexcept* E:\n    A\n",
    "match A:\n    case {'a': B}: C\n",
    "if __name__ == '__main__':\n    A\nelse:\n    x = y = A if B else C\n",
)
HEAD = "import os, time, locale\nfrom datetime import *\nfrom datetime import date, datetime, UTC\nfrom pathlib import Path\n"


@st.composite
def modules(draw: st.DrawFn) -> str:
    """Make modules of what the checks look for, put together in ways that nobody would write."""
    text = HEAD
    for frame in draw(st.lists(st.sampled_from(FRAMES), min_size=1, max_size=4)):
        made = frame
        for letter in "ABC":
            made = made.replace(f"({letter}", f"({draw(st.sampled_from(PIECES))}")
        text += made
    return text


@settings(max_examples=300)
@given(modules(), st.sampled_from(["tests/test_a.py", "conftest.py", "shop/a.py"]))
def test_no_module_makes_a_check_fail(text: str, path: str) -> None:
    try:
        source = parse(path, text)
    except SyntaxError:
        return
    lines = text.count("\n") + 1
    for check in CHECKS:
        for found in check(source):
            assert 1 <= found.node.lineno <= lines
            assert found.what


@given(st.text(alphabet=string.printable + "é\u2028\ud800\x0c", max_size=200))
def test_any_text_is_parsed_or_refused_in_the_known_ways(text: str) -> None:
    try:
        source = parse("tests/test_a.py", text)
    except (SyntaxError, ValueError):
        return
    suppression.read(source)
    for check in CHECKS:
        list(check(source))


LETTERS = st.characters(codec="utf-8", exclude_categories=("C", "Z"))


@given(
    st.lists(st.sampled_from(KINDS), min_size=1, unique=True),
    st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1).filter(
        lambda text: text.strip("-:—")
    ),
    st.booleans(),
)
def test_a_suppression_is_read_as_it_was_written(kinds: list[HazardKind], reason: str, alone: bool) -> None:  # noqa: FBT001  # drawn
    comment = f"# paritygate: allow[{', '.join(kinds)}] {reason}"
    source = parse("a.py", f"{comment}\nx = 1\n" if alone else f"x = 1  {comment}\n")
    (read,) = suppression.read(source)
    assert isinstance(read, Suppression)
    assert (read.kinds, read.problem, read.covers) == (frozenset(kinds), "", (2 if alone else 1,))
    assert read.reason == reason.strip(" -:—\t")
    assert all(read.holds(kind, read.covers) == (kind in kinds) for kind in KINDS)
