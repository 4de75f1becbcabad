"""What GitHub shows beside a patch: the worst first, at a line of the repository, and no more than it takes."""

from __future__ import annotations

import msgspec
import pytest

from paritygate.outcomes.artifact import Artifact, Finding, Side
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.words import Outcome, VerdictName
from paritygate.reports import github
from paritygate.reports.sides import words_of
from paritygate.reports.workflow import MOST_ANNOTATIONS, Annotation, Level, neutralised
from tests.support.builders import a_finding, an_artifact
from tests.support.rich_artifact import FLAKY, TODAY


def shown(artifact: Artifact) -> list[Annotation]:
    return list(github.annotated(artifact, "r.json"))


def a_side(**changes: object) -> Side:
    side = Side(env=EnvironmentName("a"), attempts=(1,), outcome=Outcome.FAILED, file="shop/a.py", line=7, message="no")
    return msgspec.structs.replace(side, **changes)


def coupled(number: int = 0, *sides: Side) -> Finding:
    return a_finding(f"tests/test_a.py::test_{number:04}", "coupling", {"a": "failed failed", "b": "passed passed"}, sides=sides)


def test_the_verdict_comes_first_and_then_the_tests_where_they_fail(rich: Artifact) -> None:
    first, *rest = shown(rich)
    assert (first.title, first.file) == ("paritygate: nondeterminism", "")
    today = next(each for each in rest if TODAY in each.title)
    assert (today.level, today.file, today.line) == (Level.ERROR, "tests/test_invoices.py", 8)
    assert "cause: timezone" in today.text
    assert f"to reproduce: paritygate repro r.json {TODAY}" in today.text


def test_what_a_freeze_lets_through_is_a_warning(rich: Artifact) -> None:
    frozen = next(each for each in shown(rich) if FLAKY in each.title)
    assert frozen.level is Level.WARNING
    assert "frozen until 2027-01-31, and let through" in frozen.text


def test_green_says_nothing() -> None:
    assert shown(an_artifact()) == []


@pytest.mark.parametrize("count", [8, 9, 10, 500])
def test_no_more_of_a_level_than_github_shows(count: int) -> None:
    artifact = an_artifact(tests=tuple(coupled(number) for number in range(count)))
    artifact = msgspec.structs.replace(
        artifact, verdict=msgspec.structs.replace(artifact.verdict, name=VerdictName.COUPLING, exit_code=3, line="coupling: many")
    )
    errors = [each for each in shown(artifact) if each.level is Level.ERROR]
    assert len(errors) == min(count + 1, MOST_ANNOTATIONS)
    if count + 1 > MOST_ANNOTATIONS:
        assert errors[-1].text == f"{count + 1 - (MOST_ANNOTATIONS - 1)} more like these are in the artifact"


@pytest.mark.parametrize(
    ("side", "place"),
    [
        (a_side(), ("shop/a.py", 7)),
        (a_side(file="/usr/lib/python3/json/decoder.py"), ("tests/test_a.py", 0)),
        (a_side(file="../other/a.py"), ("tests/test_a.py", 0)),
        (a_side(file="<string>"), ("tests/test_a.py", 0)),
        (a_side(file=""), ("tests/test_a.py", 0)),
        (a_side(file="a\n.py"), ("tests/test_a.py", 0)),
    ],
)
def test_a_place_outside_the_repository_is_none(side: Side, place: tuple[str, int]) -> None:
    found = shown(an_artifact(tests=(coupled(0, side),)))[0]
    assert (found.file, found.line) == place


def test_an_annotation_is_written_as_the_runner_reads_it() -> None:
    made = Annotation(level=Level.ERROR, text="50 %\r\n::x", title="a: b, c", file="d,e.py", line=3, column=4)
    assert str(made) == "::error file=d%2Ce.py,line=3,col=4,title=a%3A b%2C c::50 %25%0D%0A::x"
    assert str(Annotation(level=Level.NOTICE, text="x", line=3)) == "::notice::x"


def test_a_long_annotation_is_cut_where_github_would() -> None:
    line = str(Annotation(level=Level.WARNING, text="é" * 9000))
    assert len(line.encode("utf-8")) < 4100
    assert line.endswith(" ...")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("::error::x", ": :error::x"),
        ("  ::set-env name=a::b", "  : :set-env name=a::b"),
        ("\t::x", "\t: :x"),
        ("tests/test_a.py::test", "tests/test_a.py::test"),
        ("a ##[error]b ##[add-mask]c", "a ## [error]b ## [add-mask]c"),
        ("plain", "plain"),
    ],
)
def test_lines_that_are_commands_are_taken_apart(line: str, text: str) -> None:
    assert neutralised(line) == text


@pytest.mark.parametrize(
    ("exception", "message", "words"),
    [
        ("FileNotFoundError", "[Errno 2] no", "FileNotFoundError: [Errno 2] no"),
        ("AssertionError", "AssertionError: no", "AssertionError: no"),
        ("KeyError", "", "KeyError"),
        ("", "it hung", "it hung"),
        ("", "", ""),
    ],
)
def test_a_failure_is_told_with_the_name_of_its_exception(exception: str, message: str, words: str) -> None:
    assert words_of(a_side(exception=exception, message=message)) == words
