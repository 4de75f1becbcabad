"""A sweep is told as rules and a table; what was not observed is said in every format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from paritygate.outcomes.artifact import Artifact, Cause, Finding, Side
from paritygate.outcomes.cells import EnvironmentName, NodeId
from paritygate.outcomes.sweeps import Clause, Rule, Sweep, SweptValue
from paritygate.outcomes.words import Axis, CauseKind, Outcome
from paritygate.reports import brief, markdown, terminal
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


def a_coupled_test(name: str, failing: str) -> Finding:
    outcomes = {zone: "failed failed" if zone == failing else "passed passed" for zone in ZONES}
    cause = Cause(kind=CauseKind.AXIS, axes=(Axis.TIMEZONE,), detail=f"fails in `{failing}`, passes elsewhere (2)")
    quiet = [Side(env=EnvironmentName(zone), attempts=(1, 2), outcome=Outcome.PASSED) for zone in ZONES if zone != failing]
    red = Side(
        env=EnvironmentName(failing),
        attempts=(1, 2),
        outcome=Outcome.FAILED,
        file="test_z.py",
        line=3,
        exception="E",
        message=name,
    )
    return msgspec.structs.replace(a_finding(f"test_z.py::{name}", "coupling", outcomes), cause=cause, sides=(red, *quiet))


def of_rules(*tests: tuple[str, str], more: Sequence[Finding] = (), values: Sequence[SweptValue] = ()) -> Artifact:
    """Make a sweep over zones in which each test fails under one of them."""
    findings = tuple(a_coupled_test(name, zone) for name, zone in tests)
    rules = tuple(
        Rule(
            nodeid=each.nodeid,
            clauses=(Clause(outcome=Outcome.FAILED, values=(zone,)),),
            elsewhere=Outcome.PASSED,
            others=2,
            text=each.cause.detail if each.cause is not None else "",
        )
        for each, (_, zone) in zip(findings, tests, strict=True)
    )
    sweep = Sweep(axis=Axis.TIMEZONE, values=(*(a_value(zone) for zone in ZONES), *values), rules=rules)
    return an_artifact(tests=(*findings, *more), sweeps=(sweep,))


def in_brief(artifact: Artifact) -> dict[str, Any]:
    return msgspec.json.decode(brief.render(artifact), type=dict[str, Any])


def test_each_rule_is_a_problem_of_its_own_and_what_one_test_did_is_said_of_no_other() -> None:
    said = in_brief(of_rules(("a", "UTC"), ("b", "Asia/Kolkata"), ("c", "UTC"), ("d", "America/New_York")))
    assert [(each["tests"], each["count"], each["why"]) for each in said["problems"]] == [
        (["test_z.py::a", "test_z.py::c"], 2, "timezone (fails in `UTC`, passes elsewhere (2))"),
        (["test_z.py::b"], 1, "timezone (fails in `Asia/Kolkata`, passes elsewhere (2))"),
        (["test_z.py::d"], 1, "timezone (fails in `America/New_York`, passes elsewhere (2))"),
    ]
    both, alone, _ = said["problems"]
    assert (both["example"], both["failure"]) == ("test_z.py::a", "E: a")
    assert both["outcomes"] == {"UTC": ["failed"] * 2, "Asia/Kolkata": ["passed"] * 2, "America/New_York": ["passed"] * 2}
    assert "example" not in alone
    assert said["more"] == 0


def test_more_counts_every_test_that_no_problem_names() -> None:
    said = in_brief(of_rules(*((f"t{number}", "UTC") for number in range(7)), ("z", "Asia/Kolkata")))
    assert [(each["count"], len(each["tests"]), each.get("more", 0)) for each in said["problems"]] == [(7, 5, 2), (1, 1, 0)]
    assert said["more"] == 2
    assert [(rule["count"], len(rule["tests"]), rule.get("more", 0)) for rule in said["sweeps"][0]["rules"]] == [
        (7, 5, 2),
        (1, 1, 0),
    ]


def test_undecided_tests_that_did_different_things_are_different_problems() -> None:
    one = a_finding("test_u.py::one", "undecided", {"UTC": "failed", "Asia/Kolkata": "passed"})
    two = a_finding("test_u.py::two", "undecided", {"UTC": "passed", "Asia/Kolkata": "crashed"})
    said = in_brief(of_rules(more=(one, two)))
    assert [(each["tests"], each["outcomes"]) for each in said["problems"]] == [
        (["test_u.py::one"], {"UTC": ["failed"], "Asia/Kolkata": ["passed"]}),
        (["test_u.py::two"], {"UTC": ["passed"], "Asia/Kolkata": ["crashed"]}),
    ]


def test_unstable_tests_of_one_cause_are_one_problem_that_says_of_which_it_tells() -> None:
    first = a_finding("test_u.py::one", "nondeterminism", {"UTC": "failed passed", "Asia/Kolkata": "passed"})
    second = a_finding("test_u.py::two", "nondeterminism", {"UTC": "passed failed", "Asia/Kolkata": "passed"})
    (problem,) = in_brief(of_rules(more=(first, second)))["problems"]
    assert problem["tests"] == ["test_u.py::one", "test_u.py::two"]
    assert problem["example"] == "test_u.py::one"


def test_the_lines_of_json_say_what_became_of_every_value_and_which_rule_holds_of_which_tests() -> None:
    unproven, untried = a_value("Mars", problem="there is no such zone"), a_value("Moon", untried="the time for it was over")
    (said,) = in_brief(of_rules(("a", "UTC"), ("b", "UTC"), values=(unproven, untried)))["sweeps"]
    assert said == {
        "axis": "timezone",
        "parting": 2,
        "green": ["Asia/Kolkata", "America/New_York"],
        "red": ["UTC"],
        "unproven": {"Mars": "there is no such zone"},
        "untried": {"Moon": "the time for it was over"},
        "rules": [
            {
                "text": "fails in `UTC`, passes elsewhere (2)",
                "count": 2,
                "tests": ["test_z.py::a", "test_z.py::b"],
                "under": {"failed": ["UTC"]},
                "elsewhere": "passed",
            }
        ],
    }


def test_a_run_without_a_sweep_says_nothing_of_sweeps() -> None:
    assert "sweeps" not in in_brief(an_artifact())
