"""A sweep is told as rules and a table; what was not observed is said in every format."""

from __future__ import annotations

import msgspec

from paritygate.outcomes.artifact import Artifact, Side
from paritygate.outcomes.cells import EnvironmentName, NodeId
from paritygate.outcomes.sweeps import Clause, Rule, Sweep, SweptValue
from paritygate.outcomes.words import Axis, Outcome
from paritygate.reports import markdown, terminal
from paritygate.reports.contrast import side_by_side
from paritygate.reports.html import page
from paritygate.reports.text import outcomes_of
from tests.support.builders import a_cell, a_failure, a_finding, a_run, an_artifact

ZONES = ("UTC", "Asia/Kolkata", "America/New_York")


def a_value(value: str, **changes: str) -> SweptValue:
    return SweptValue(value=value, env=EnvironmentName(value), why="since it is there", **changes)


def a_sweep() -> Sweep:
    west = Clause(outcome=Outcome.FAILED, values=("America/New_York",))
    rules = [
        Rule(nodeid=NodeId(f"test_a.py::test_{name}"), clauses=(west,), elsewhere=Outcome.PASSED, others=2, text="fails far west")
        for name in ("one", "two")
    ]
    east = Clause(outcome=Outcome.SKIPPED, values=("Asia/Kolkata",))
    text = "is skipped \x1b[31min the east"
    rules.append(
        Rule(
            nodeid=NodeId("test_b.py::test"),
            clauses=(east,),
            elsewhere=Outcome.PASSED,
            others=1,
            unknown=("America/New_York",),
            text=text,
        )
    )
    values = [a_value(zone) for zone in ZONES]
    values += [a_value("Mars", problem="there is no such zone"), a_value("Moon", untried="the time for it was over")]
    return Sweep(axis=Axis.TIMEZONE, values=tuple(values), rules=tuple(rules), bound="what is rarer may still hide")


def swept() -> Artifact:
    return an_artifact(sweeps=(a_sweep(),))


def test_tests_with_one_rule_are_told_together_the_most_first_above_a_table_of_what_was_observed() -> None:
    lines = terminal.render(swept(), 120).splitlines()
    start = lines.index("timezone: 3 tests part over 3 values")
    assert lines[start + 1 : start + 9] == [
        "  1  fails far west",
        "     test_a.py::test_one, test_a.py::test_two",
        "  2  is skipped \\x1b[31min the east",
        "     test_b.py::test",
        "  timezone          1  2  why it is tried",
        "  UTC               .  .  since it is there",
        "  Asia/Kolkata      .  S  since it is there",
        "  America/New_York  F  ?  since it is there",
    ]


def test_what_was_not_observed_and_what_can_hide_is_said_in_every_format() -> None:
    for shown in (terminal.render(swept(), 120), markdown.render(swept()), page.render(swept(), "r.json")):
        assert "there is no such zone" in shown
        assert "1 more value not tried: the time for it was over" in shown
        assert "what is rarer may still hide" in shown


def test_a_sweep_in_which_nothing_parts_says_so_in_a_line() -> None:
    quiet = Sweep(axis=Axis.UMASK, values=(a_value("022"), a_value("077")))
    shown = terminal.render(an_artifact(sweeps=(quiet,)), 120)
    assert "umask: no test parts over 2 values" in shown
    assert "why it is tried" not in shown


def test_of_many_environments_those_with_the_same_outcome_are_one_group() -> None:
    few = {EnvironmentName("a"): ("passed", "failed"), EnvironmentName("b"): ("passed",)}
    assert outcomes_of(few) == "a passed failed | b passed"
    many = {EnvironmentName(name): ("passed",) for name in "abcd"} | {EnvironmentName("e"): ("failed", "failed")}
    assert outcomes_of(many) == "failed in e | passed in a, b and 2 more"


def test_of_many_environments_the_failures_of_the_first_few_are_shown() -> None:
    names = [f"e{number}" for number in range(6)]
    cells = [
        a_cell(each, 1, runs=[a_run("t", "failed", failure=msgspec.structs.replace(a_failure(each), message=f"at {each}"))])
        for each in names
    ]
    finding = a_finding("t", "undecided", dict.fromkeys(names, "failed"))
    shown = terminal.render(an_artifact(tests=(finding,), cells=(*cells, a_cell("z", 1, {"t": "passed"}))), 120)
    assert [line.strip() for line in shown.splitlines() if "at e" in line or "more that" in line] == [
        *(f"{name}-1: AssertionError: at {name}" for name in names[:4]),
        "and 2 more that differ, in other environments",
    ]


def test_of_many_environments_one_side_of_each_kind_is_shown_the_failure_first() -> None:
    sides = [Side(env=EnvironmentName(name), attempts=(1,), outcome=Outcome.PASSED) for name in "abcdef"]
    sides += [
        Side(env=EnvironmentName(name), attempts=(1,), outcome=Outcome.FAILED, file="a.py", line=3, source="x", message=name)
        for name in "gh"
    ]
    assert list(side_by_side(sides, 100)) == ["a.py:3: x", "  g failed: g | a passed"]
