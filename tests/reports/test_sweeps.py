"""A sweep is told as rules and a table; what was not observed is said in every format."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from paritygate.outcomes.artifact import Artifact, Side
from paritygate.outcomes.cells import EnvironmentName, NodeId
from paritygate.outcomes.sweeps import Clause, Rule, Sweep
from paritygate.outcomes.words import Axis, Outcome
from paritygate.reports import brief, markdown, terminal
from paritygate.reports.contrast import side_by_side
from paritygate.reports.html import page
from paritygate.reports.html.cards import cards
from paritygate.reports.text import outcomes_of
from tests.support.builders import a_cell, a_failure, a_finding, a_run, an_artifact
from tests.support.hostile import TEXTS, hostile
from tests.support.swept import ZONES, a_value, of_rules


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


def test_what_fails_everywhere_is_said_in_full_however_many_environments_there_are() -> None:
    names = [f"zone{number}" for number in range(22)]
    cells = [a_cell(each, 1, runs=[a_run("t", "failed", failure=a_failure("same"))]) for each in names]
    finding = a_finding("t", "consistent-red", dict.fromkeys(names, "failed"))
    message = a_failure("same").message
    everywhere = terminal.render(an_artifact(tests=(finding,), cells=tuple(cells)), 120)
    assert f"    all 22 environments: AssertionError: {message}" in everywhere.splitlines()
    most = msgspec.structs.replace(finding, outcomes=finding.outcomes | {EnvironmentName("z"): (Outcome.NOT_RUN,)})
    shown = terminal.render(an_artifact(tests=(most,), cells=tuple(cells)), 120)
    assert f"    zone0-1, zone1-1 and 20 more: AssertionError: {message}" in shown.splitlines()


def test_the_comment_has_the_rules_and_the_table_above_the_labels() -> None:
    shown = markdown.render(of_rules(("a", "UTC"), ("b", "Asia/Kolkata"), ("c", "UTC")))
    start = shown.index("### timezone: 3 tests part over 3 values\n")
    assert start < shown.index("### coupling")
    assert shown[start:].startswith(
        "### timezone: 3 tests part over 3 values\n\n"
        "1. fails in `UTC`, passes elsewhere (2): `test_z.py::a`, `test_z.py::c`\n\n"
        "2. fails in `Asia/Kolkata`, passes elsewhere (2): `test_z.py::b`\n\n"
        "```text\n"
        "timezone          1  2  why it is tried\n"
        "UTC               F  .  since it is there\n"
        "Asia/Kolkata      .  F  since it is there\n"
        "America/New_York  .  .  since it is there\n"
        "F fails, . passes\n"
        "```\n"
    )


def test_a_comment_is_no_longer_than_one_may_be_however_many_rules_and_values_a_sweep_has() -> None:
    values = tuple(a_value(f"zone{number}{'x' * 500}") for number in range(90))
    rules = tuple(
        Rule(
            nodeid=NodeId(f"test_{number}.py::{'y' * 900}"),
            clauses=(Clause(outcome=Outcome.FAILED, values=(values[number % 90].value,)),),
            elsewhere=Outcome.PASSED,
            text=f"{number} {'z' * 900}",
        )
        for number in range(60)
    )
    sweeps = tuple(Sweep(axis=axis, values=values, rules=rules) for axis in (Axis.TIMEZONE, Axis.LOCALE, Axis.UMASK, Axis.CLOCK))
    shown = markdown.render(an_artifact(sweeps=sweeps))
    assert len(shown.encode()) <= markdown.MOST_BYTES
    assert "and 51 more rules in the artifact" in shown
    assert "and 50 more values in the artifact" in shown
    assert shown.count("The artifact and the HTML report have the rules and the table.") == 3


def test_the_page_has_the_rules_and_the_table_above_the_labels() -> None:
    shown = page.render(of_rules(("a", "UTC"), ("b", "Asia/Kolkata")))
    start, end = shown.index('<section aria-labelledby="sweep-timezone">'), shown.index('<section aria-labelledby="labels">')
    assert start < end
    section = shown[start:end]
    assert re.findall(r"<h2[^>]*>(.*?)</h2>", section) == ["timezone: 2 tests part over 3 values"]
    assert re.findall(r'<li>(.*?)<br><span class="muted">(.*?)</span></li>', section) == [
        ("fails in <code>UTC</code>, passes elsewhere (2)", "<code>test_z.py::a</code>"),
        ("fails in <code>Asia/Kolkata</code>, passes elsewhere (2)", "<code>test_z.py::b</code>"),
    ]
    rows = re.findall(r"<tr><th scope=\"row\"><code>(.*?)</code></th>(.*?)<td>since it is there</td></tr>", section)
    assert [(value, re.findall(r'aria-hidden="true">(.)<', did)) for value, did in rows] == [
        ("UTC", ["F", "P"]),
        ("Asia/Kolkata", ["P", "F"]),
        ("America/New_York", ["P", "P"]),
    ]


def test_a_page_without_a_sweep_has_no_such_part() -> None:
    assert "sweep-" not in page.render(an_artifact(tests=(a_finding("t", "consistent-red", {"a": "failed"}),)))


def test_of_many_environments_a_test_has_a_card_for_each_kind_of_end() -> None:
    green = [Side(env=EnvironmentName(f"e{number}"), attempts=(1,), outcome=Outcome.PASSED) for number in range(20)]
    red = [
        Side(env=EnvironmentName(name), attempts=(1, 2), outcome=Outcome.FAILED, file="a.py", line=3, message=f"says {name}")
        for name in ("west", "far")
    ]
    did: dict[str, str] = {side.env: "passed" if side.outcome.green else "failed failed" for side in (*green, *red)}
    swept = an_artifact(tests=(a_finding("t", "coupling", did, sides=(*green, *red)),))
    (card,) = cards(swept, {}, "")
    assert [(side.env, side.outcome, len(side.also)) for side in card.sides] == [("west", "failed", 1), ("e0", "passed", 19)]
    shown = page.render(swept)
    assert "and so in 1 more: far; what is said here is of west" in shown
    assert "says far" not in shown
    assert "`west` failed at `a.py:3`, and so in 1 more environment\n" in markdown.render(swept)


def tokens_of(comment: str) -> list[Token]:
    outer = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(comment)
    return [token for each in outer for token in (each, *(each.children or []))]


@pytest.mark.parametrize("text", TEXTS)
def test_no_text_of_a_sweep_is_more_than_text(text: str) -> None:
    plain = of_rules(("a", "UTC"), ("b", "Asia/Kolkata"), values=(a_value("Mars"),))
    (sweep,) = plain.sweeps
    values = tuple(msgspec.structs.replace(each, value=each.value + text) for each in sweep.values)
    spoilt = hostile(msgspec.structs.replace(plain, sweeps=(msgspec.structs.replace(sweep, values=values),)), text)
    tags = re.compile(r"<(\w+)")
    assert set(tags.findall(page.render(spoilt))) <= set(tags.findall(page.render(plain)))
    tokens = tokens_of(markdown.render(spoilt))
    assert {each.type for each in tokens} <= {each.type for each in tokens_of(markdown.render(hostile(plain, " or so")))}
    assert not [token.content for token in tokens if token.type == "text" and re.search(r"@\w|#\d|://|www\.", token.content)]
    assert len(in_brief(spoilt)["sweeps"][0]["rules"]) == 2
    shown = terminal.render(spoilt, 120)
    assert not [character for character in shown if not character.isprintable() and character != "\n"]
