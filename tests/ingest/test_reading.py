"""What makes a line an outcome, a name an id and a file a format; and what is refused."""

from __future__ import annotations

import pytest

from paritygate.errors import UsageError
from paritygate.ingest import detecting, junit, making, nodeids, reportlog, text
from paritygate.ingest.making import Given
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.words import CellStatus, ResultFormat

CASES = '<testsuite name="pytest" tests="1"><testcase classname="{classname}" name="{name}"{more}/></testsuite>'


def a_suite(classname: str, name: str, more: str = "") -> bytes:
    return CASES.format(classname=classname, name=name, more=more).encode()


def cell(content: bytes, *known: str, env: str = "server-like", seed: int = 1) -> Cell:
    return making.cell(detecting.read(content), Given(env=env, attempt=1, seed=seed), frozenset(known))


def ids(content: bytes, *known: str) -> list[str]:
    return [run.nodeid for run in cell(content, *known).tests]


@pytest.mark.parametrize(
    ("line", "nodeid"),
    [
        ("t.py::test_a - assert 1 - 2", "t.py::test_a"),
        ("t.py::test_a[a - b] - AssertionError: a - b", "t.py::test_a[a - b]"),
        ("t.py::test_a[x] - assert [1] == [2]", "t.py::test_a[x]"),
        ("t.py::T::test_a", "t.py::T::test_a"),
        ("t.py::test_a[[] - assert [1] - [2]", ""),
        ("no id at all - x", ""),
    ],
)
def test_an_id_is_told_from_what_follows_or_left_out(line: str, nodeid: str) -> None:
    assert nodeids.at_start(line, " - ", frozenset()) == nodeid


def test_ids_from_elsewhere_decide_where_brackets_do_not() -> None:
    assert nodeids.at_start("t.py::test_a[a] - b] - assert [1]", " - ", {"t.py::test_a[a] - b]"}) == "t.py::test_a[a] - b]"


class TestJUnit:
    def test_a_dotted_name_is_named_by_the_ids_of_other_cells(self) -> None:
        content = a_suite("tests.test_a.TestB", "test_c")
        assert ids(content, "tests/test_a.py::TestB::test_c") == ["tests/test_a.py::TestB::test_c"]
        assert ids(content, "tests/test_a/TestB.py::test_c") == ["tests/test_a/TestB.py::test_c"]

    def test_the_files_of_other_cells_decide_of_a_test_that_these_do_not_have(self) -> None:
        assert ids(a_suite("tests.test_a.TestB", "test_c"), "tests/test_a.py::test_z") == ["tests/test_a.py::TestB::test_c"]

    @pytest.mark.parametrize("known", [(), ("a/b.py::C::t", "a/b/C.py::t")])
    def test_what_could_be_several_is_said_and_not_guessed(self, known: tuple[str, ...]) -> None:
        made = cell(a_suite("a.b.C", "t"), *known)
        assert (made.status, made.tests) == (CellStatus.INCOMPLETE, ())
        assert made.told is not None
        assert made.told.unnamed == 1
        assert "`a/b/C.py::t` or `a/b.py::C::t`" in made.detail

    def test_the_file_that_pytest_says_decides(self) -> None:
        assert ids(a_suite("a.b.C", "t", ' file="a/b.py"')) == ["a/b.py::C::t"]

    def test_ids_from_a_folder_below_get_its_name_where_only_one_will_do(self) -> None:
        known = ("service/tests/test_a.py::test_b",)
        made = cell(a_suite("tests.test_a", "test_b", ' file="tests/test_a.py"'), *known)
        assert [run.nodeid for run in made.tests] == list(known)
        assert made.told is not None
        assert "service/" in made.told.remarks[0]
        both = (*known, "other/tests/test_a.py::test_b")
        assert ids(a_suite("tests.test_a", "test_b", ' file="tests/test_a.py"'), *both) == ["tests/test_a.py::test_b"]

    @pytest.mark.parametrize(
        "content",
        [
            b'<!DOCTYPE a [<!ENTITY b "c">]><testsuite><testcase classname="&b;" name="t"/></testsuite>',
            b'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "aa"><!ENTITY b "&a;&a;&a;&a;">]><testsuite name="&b;"/>',
            b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><testsuite/>',
        ],
    )
    def test_declarations_are_refused_before_anything_comes_of_them(self, content: bytes) -> None:
        with pytest.raises(UsageError, match="declares a document type or entities"):
            junit.read(content)

    @pytest.mark.parametrize("content", [b"<html/>", b"<testsuit", b"plain text"])
    def test_what_is_no_junit_xml_is_refused(self, content: bytes) -> None:
        with pytest.raises(UsageError):
            junit.read(content)

    def test_one_that_calls_itself_another_cell_is_refused(self) -> None:
        content = a_suite("a", "t", ' file="a.py"').replace(b'name="pytest"', b'name="paritygate:local-like:2"')
        with pytest.raises(UsageError, match="it is `local-like` attempt 2, not `server-like` attempt 1"):
            cell(content)

    def test_text_before_it_is_passed_over(self) -> None:
        assert ids(b"$ cat junit.xml\n" + a_suite("a", "t", ' file="a.py"')) == ["a.py::t"]


class TestText:
    @pytest.mark.parametrize(
        "before",
        [
            "2026-02-28T19:08:31.4745189Z ",
            "[2026-02-28 19:08:31] ",
            "19:08:31 ",
            "test\tRun pytest\t2026-02-28T19:08:31.4745189Z ",
            "2026-02-28T19:08:31.474518Z 01O ",
            "> ",
            "    ",
            "tests-1  | ",
        ],
    )
    def test_what_others_put_before_lines_is_taken_off(self, before: str) -> None:
        header = ["===== test session starts =====", "collected 1 item", ""]
        written = [*header, "t.py::test_a PASSED [100%]", "===== 1 passed in 0.1s ====="]
        assert text.lines("\n".join(before + line for line in written).encode()) == written

    def test_a_stamp_on_few_lines_is_pytests_own_affair(self) -> None:
        assert text.lines(b"12:00:00 x\ny\nz\n") == ["12:00:00 x", "y", "z", ""]

    def test_a_seed_that_is_another_is_refused(self) -> None:
        content = b"""\
===== test session starts =====
Using --randomly-seed=7
collected 1 item

t.py::a PASSED [100%]
===== 1 passed in 1s =====
"""
        assert cell(content, seed=7).status is CellStatus.FINISHED
        with pytest.raises(UsageError, match="run with seed 7, not 8"):
            cell(content, seed=8)


def test_formats_are_told_by_what_is_in_them() -> None:
    assert detecting.detect(b'\xef\xbb\xbf<?xml version="1.0"?><testsuites/>') is ResultFormat.JUNIT
    assert detecting.detect(b'{"pytest_version": "8", "$report_type": "SessionStart"}\n') is ResultFormat.REPORTLOG
    assert detecting.detect(b"===== test session starts =====\n<?xml version='1.0'?>\n") is ResultFormat.TERMINAL
    assert detecting.detect(b"{}") is ResultFormat.TERMINAL


def test_a_report_log_with_a_broken_line_in_its_middle_is_refused() -> None:
    with pytest.raises(UsageError, match="line 2 is no line"):
        reportlog.read(b'{"$report_type": "SessionStart"}\n{"$report\n{"$report_type": "SessionFinish", "exitstatus": 0}\n')
