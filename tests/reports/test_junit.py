"""JUnit XML as its usual schema has it: that of Jenkins' xunit plugin, version 10, which Surefire's files fit too."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import msgspec
import pytest

from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.words import CellStatus
from paritygate.reports import junit
from tests.support.builders import a_cell, a_failure, a_run, an_artifact
from tests.support.rich_artifact import CURRENCY, TOTAL

# What that schema allows: attributes (those before the bar have to be there), and elements inside.
SCHEMA: dict[str, tuple[str, set[str]]] = {
    "testsuites": ("| name time tests failures errors", {"testsuite"}),
    "testsuite": (
        "name tests failures errors | group time skipped timestamp hostname id package file log url",
        {"testsuite", "properties", "testcase", "system-out", "system-err"},
    ),
    "properties": ("|", {"property"}),
    "property": ("name value |", set()),
    "testcase": (
        "name | time classname group",
        {"skipped", "error", "failure", "rerunFailure", "rerunError", "flakyFailure", "flakyError", "system-out", "system-err"},
    ),
    "skipped": ("| type message", set()),
    "error": ("| type message", set()),
    "failure": ("| type message", set()),
    "rerunFailure": ("type | message", {"stackTrace", "system-out", "system-err"}),
    "rerunError": ("type | message", {"stackTrace", "system-out", "system-err"}),
    "flakyFailure": ("type | message", {"stackTrace", "system-out", "system-err"}),
    "flakyError": ("type | message", {"stackTrace", "system-out", "system-err"}),
    "system-out": ("|", set()),
    "system-err": ("|", set()),
}
TIME = re.compile(r"[0-9]+\.[0-9]{3}")


def parsed(artifact: Artifact) -> ET.Element:
    """Read the XML of an artifact, which must be as the schema has it."""
    root = ET.fromstring(junit.render(artifact, "r.json").encode("utf-8"))  # noqa: S314  # the report's own
    for element in root.iter():
        required, _, optional = SCHEMA[element.tag][0].partition("|")
        assert set(required.split()) <= set(element.keys()) <= {*required.split(), *optional.split()}, element.tag
        assert {child.tag for child in element} <= SCHEMA[element.tag][1]
        assert TIME.fullmatch(element.get("time", "0.000"))
    return root


def suite(root: ET.Element, name: str) -> ET.Element:
    return next(each for each in root.iter("testsuite") if each.get("name") == name)


def case(root: ET.Element, cell: str, nodeid: str) -> ET.Element:
    name = nodeid.rpartition("::")[2]
    return next(each for each in suite(root, cell).iter("testcase") if each.get("name") == name)


def test_there_is_a_suite_for_each_cell_of_the_gate_and_counts_add_up(rich: Artifact) -> None:
    root = parsed(rich)
    names = [each.get("name") for each in root.iter("testsuite")]
    assert names == ["local-like-1", "local-like-2", "server-like-1", "server-like-2"]
    for each in root.iter("testsuite"):
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(each.get(attribute, "0")) == len(list(each.iter(tag)))
        assert int(each.get("tests", "0")) == len(list(each.iter("testcase")))
    for attribute in ("tests", "failures", "errors"):
        assert int(root.get(attribute, "0")) == sum(int(each.get(attribute, "0")) for each in root.iter("testsuite"))


def test_axes_are_properties_of_a_suite(rich: Artifact) -> None:
    found = {each.get("name"): each.get("value") for each in suite(parsed(rich), "server-like-1").iter("property")}
    assert found["axis.timezone"] == "UTC"
    assert found["axis.workers"] == "2"


def test_reruns_are_told_as_surefire_tells_them(rich: Artifact) -> None:
    root = parsed(rich)
    passed, failed = case(root, "local-like-1", CURRENCY), case(root, "local-like-2", CURRENCY)
    assert [each.tag for each in passed] == ["flakyFailure", "system-out"]
    assert [each.tag for each in failed] == ["failure", "system-out"]
    assert [each.tag for each in case(root, "server-like-1", CURRENCY)] == ["system-out"]
    assert [each.tag for each in case(root, "local-like-1", TOTAL)] == ["failure", "rerunFailure", "system-out"]


def test_a_cell_that_died_is_an_error_of_its_own() -> None:
    cell = a_cell("a", 1, {"t.py::test": "passed"}, status=CellStatus.TIMED_OUT, detail="it hung", passed=False)
    root = parsed(an_artifact(cells=(cell, a_cell("a", 2, {"t.py::test": "passed"}))))
    assert (root.get("tests"), root.get("errors")) == ("3", "1")
    error = case(root, "a-1", "cell a-1").find("error")
    assert error is not None
    assert (error.get("type"), error.get("message")) == ("timed_out", "it hung")


@pytest.mark.parametrize(
    ("nodeid", "classname", "name"),
    [
        ("tests/test_a.py::test_b", "tests.test_a", "test_b"),
        ("tests/test_a.py::TestB::TestC::test_d", "tests.test_a.TestB.TestC", "test_d"),
        ("tests/test_a.py::test_b[x::y]", "tests.test_a", "test_b[x::y]"),
        ("tests/test_a.py::TestB::test_c[::]", "tests.test_a.TestB", "test_c[::]"),
        ("tests/test_a.py", "tests.test_a", "tests/test_a.py"),
        ("docs/guide.rst::guide.rst", "docs.guide.rst", "guide.rst"),
    ],
)
def test_ids_are_parted_without_their_parameters(nodeid: str, classname: str, name: str) -> None:
    root = parsed(an_artifact(cells=(a_cell("a", 1, {nodeid: "passed"}),)))
    found = next(root.iter("testcase"))
    assert (found.get("classname"), found.get("name")) == (classname, name)


@pytest.mark.parametrize(
    ("outcome", "tag"),
    [
        ("passed", None),
        ("xpassed", None),
        ("failed", "failure"),
        ("not_run", "failure"),
        ("error", "error"),
        ("crashed", "error"),
        ("timed_out", "error"),
        ("skipped", "skipped"),
        ("xfailed", "skipped"),
    ],
)
def test_every_outcome_has_its_element(outcome: str, tag: str | None) -> None:
    root = parsed(an_artifact(cells=(a_cell("a", 1, {"t.py::test": outcome}),), tests=()))
    assert [each.tag for each in next(root.iter("testcase"))] == ([tag] if tag else [])


def test_what_xml_cannot_hold_is_spelled_out_and_colours_are_left_out() -> None:
    failure = msgspec.structs.replace(a_failure(), message="\x1b[31mred\x1b[0m \x00 \ud800 <&>\n\ttab", text="x" * 50_000)
    run = a_run("t.py::test", "failed", failure=failure)
    root = parsed(an_artifact(cells=(a_cell("a", 1, runs=[run]),)))
    found = next(root.iter("failure"))
    assert found.get("message") == "red \\x00 \\ud800 <&>\n\ttab"
    assert (found.text or "").endswith("[... 40000 characters are in the artifact ...]")
