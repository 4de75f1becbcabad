"""Tests that diverge get the hazards of their file, as that lies in the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from paritygate.gate.hints import carried_over, with_hazards
from paritygate.outcomes.artifact import Artifact, Cause, Finding
from paritygate.outcomes.cells import EnvironmentName, NodeId
from paritygate.outcomes.hazards import Hazard
from paritygate.outcomes.words import Axis, CauseKind, Label, Outcome, Worktree
from paritygate.reports import terminal
from paritygate.snapshot.survey import Request
from paritygate.snapshot.tree import take_all
from tests.hazards.conftest import Project
from tests.support.builders import an_artifact

CONTENT = """\
import os
from datetime import date
from pathlib import Path

HERE = Path(__file__).parent


def served():
    return os.environ.setdefault("MODE", "x")


def test_dated():
    assert invoice() == date.today()


def test_labelled():
    assert label(date.today()) == "today"


def test_read():
    assert (HERE / "Rates.json").read_text()
"""


def a_finding(name: str, label: Label = Label.COUPLING, axes: tuple[Axis, ...] = ()) -> Finding:
    outcomes: dict[EnvironmentName, tuple[Outcome, ...]] = {EnvironmentName("a"): (Outcome.PASSED,)}
    cause = Cause(kind=CauseKind.AXIS, axes=axes) if axes else None
    return Finding(nodeid=NodeId(name), label=label, outcomes=outcomes, cause=cause)


def hinted(project: Project, *findings: Finding, directory: str = "") -> Artifact:
    environ = {"PATH": os.environ["PATH"], "HOME": str(project.path.parent)}
    request = Request(project=str(project.path / directory), environ=environ)
    trees = take_all(request, (Worktree.DIRTY, Worktree.CLEAN))
    return with_hazards(an_artifact(tests=findings), trees, environ)


def said(hazards: tuple[Hazard, ...]) -> list[str]:
    return [f"{each.line} {each.kind}" for each in hazards]


@pytest.mark.parametrize("directory", ["", "deep/shop"])
def test_a_test_gets_what_is_in_it_first_then_what_all_tests_share(project: Project, directory: str) -> None:
    project.write(f"{directory}/tests/test_a.py".lstrip("/"), CONTENT)
    project.write(f"{directory}/tests/rates.json".lstrip("/"), "{}")
    project.commit()
    artifact = hinted(
        project,
        a_finding("tests/test_a.py::test_dated"),
        a_finding("tests/test_a.py::TestX::test_read[a::b[c]-1]"),
        a_finding("tests/test_a.py::test_labelled", Label.CONSISTENT_GREEN),
        a_finding("tests/gone.py::test_gone"),
        directory=directory,
    )
    hints = [said(each.hazards) for each in artifact.tests]
    assert hints == [["13 clock-in-assertion", "9 variable-write"], ["21 name-case", "9 variable-write"], [], []]


def test_where_the_cause_is_known_only_what_it_can_bring_to_light_is_a_hint(project: Project) -> None:
    project.write("tests/test_a.py", CONTENT)
    project.commit()
    artifact = hinted(
        project,
        a_finding("tests/test_a.py::test_dated", axes=(Axis.TIMEZONE,)),
        a_finding("tests/test_a.py::test_dated", axes=(Axis.LOCALE,)),
    )
    assert [said(each.hazards) for each in artifact.tests] == [["13 clock-in-assertion"], []]


def test_hints_are_kept_when_causes_are_found_afterwards_but_for_those_that_a_cause_speaks_against(project: Project) -> None:
    project.write("tests/test_a.py", CONTENT)
    project.commit()
    before = hinted(project, a_finding("tests/test_a.py::test_dated")).tests
    after = [
        a_finding("tests/test_a.py::test_dated", *given)
        for given in (
            (Label.COUPLING, ()),
            (Label.COUPLING, (Axis.TIMEZONE,)),
            (Label.COUPLING, (Axis.LOCALE,)),
            (Label.UNDECIDED, ()),
        )
    ]
    kept = [carried_over((each,), before)[0].hazards for each in after]
    assert [said(each) for each in kept] == [["13 clock-in-assertion", "9 variable-write"], ["13 clock-in-assertion"], [], []]
    assert carried_over((a_finding("tests/test_a.py::test_new"),), before)[0].hazards == ()


def test_the_report_says_the_hints(project: Project) -> None:
    project.write("tests/test_a.py", CONTENT)
    project.commit()
    text = terminal.render(hinted(project, a_finding("tests/test_a.py::test_dated")))
    assert "    hazard: tests/test_a.py:13 the test expects `date.today()` of something that was not given it\n" in text


def test_a_green_run_reads_no_file(project: Project) -> None:
    project.write("tests/test_a.py", CONTENT)
    green = an_artifact(tests=(a_finding("tests/test_a.py::test_dated", Label.CONSISTENT_GREEN),))
    assert with_hazards(green, {}, {}) is green


@pytest.mark.parametrize("way", ["link", "broken"])
def test_a_file_that_cannot_be_read_costs_no_more_than_its_hints(project: Project, tmp_path: Path, way: str) -> None:
    project.write("tests/test_a.py", "def test_dated(:\n")
    if way == "link":
        (tmp_path / "outside.py").write_text(CONTENT, encoding="utf-8")
        (project.path / "tests/test_a.py").unlink()
        (project.path / "tests/test_a.py").symlink_to(tmp_path / "outside.py")
    artifact = hinted(project, a_finding("tests/test_a.py::test_dated"))
    assert said(artifact.tests[0].hazards) == []
