"""Both sides of a test that diverges: what is recorded of them, and how a report lays them beside each other."""

from __future__ import annotations

from paritygate.classifier.sides import laid_side_by_side
from paritygate.outcomes.artifact import Side
from paritygate.outcomes.cells import Cell, EnvironmentName, Failure
from paritygate.outcomes.words import Outcome
from paritygate.reports.contrast import side_by_side
from tests.support.builders import a_cell, a_finding, a_run

A, B = EnvironmentName("a"), EnvironmentName("b")


def a_failure(message: str, fingerprint: str = "f", line: int = 41) -> Failure:
    return Failure(
        phase="call",
        exception="AssertionError",
        message=message,
        fingerprint=fingerprint,
        file="tests/test_x.py",
        line=line,
        source="assert first(words) == 'Z'",
    )


def failing(env: str, attempt: int, message: str = "assert 'Ä' == 'Z'", fingerprint: str = "f", line: int = 41) -> Cell:
    return a_cell(env, attempt, runs=[a_run("t", "failed", failure=a_failure(message, fingerprint, line))])


def passing(env: str, attempt: int) -> Cell:
    return a_cell(env, attempt, {"t": "passed"})


def sides_of(label: str, outcomes: dict[str, str], *cells: Cell) -> tuple[Side, ...]:
    (finding,) = laid_side_by_side([a_finding("t", label, outcomes)], cells)
    return finding.sides


def test_a_coupling_has_the_failing_line_and_the_values_beside_what_passed() -> None:
    outcomes = {"a": "failed failed", "b": "passed passed"}
    failed, passed = sides_of("coupling", outcomes, failing("a", 1), failing("a", 2), passing("b", 1), passing("b", 2))
    assert failed == Side(
        env=A,
        attempts=(1, 2),
        outcome=Outcome.FAILED,
        file="tests/test_x.py",
        line=41,
        source="assert first(words) == 'Z'",
        exception="AssertionError",
        message="assert 'Ä' == 'Z'",
    )
    assert passed == Side(env=B, attempts=(1, 2), outcome=Outcome.PASSED)


def test_attempts_that_fail_in_different_ways_are_sides_of_their_own() -> None:
    cells = (failing("a", 1), failing("a", 2, "assert 1 == 2", "other", 50), passing("b", 1), passing("b", 2))
    found = sides_of("coupling", {"a": "failed failed", "b": "passed passed"}, *cells)
    assert [(side.env, side.attempts, side.line) for side in found] == [(A, (1,), 41), (A, (2,), 50), (B, (1, 2), 0)]


def test_an_unstable_test_has_a_side_for_each_of_its_outcomes() -> None:
    found = sides_of("nondeterminism", {"a": "passed failed", "b": "passed passed"}, passing("a", 1), failing("a", 2))
    assert [(side.env, side.attempts, side.outcome) for side in found] == [(A, (1,), Outcome.PASSED), (A, (2,), Outcome.FAILED)]


def test_a_test_that_is_nowhere_recorded_has_its_outcome_alone() -> None:
    outcomes = {"a": "not_collected", "b": "passed"}
    found = sides_of("coupling", outcomes, a_cell("a", 1, {"other": "passed"}), passing("b", 1))
    assert found[0] == Side(env=A, attempts=(1,), outcome=Outcome.NOT_COLLECTED)


def test_a_skip_says_why() -> None:
    cells = (a_cell("a", 1, runs=[a_run("t", "skipped", reason="no such zone")]), passing("b", 1))
    assert sides_of("coupling", {"a": "skipped", "b": "passed"}, *cells)[0].reason == "no such zone"


def test_tests_that_do_not_diverge_have_no_sides() -> None:
    assert sides_of("consistent-red", {"a": "failed", "b": "failed"}, failing("a", 1), failing("b", 1)) == ()


def test_one_place_is_said_once_and_both_sides_stand_in_one_line() -> None:
    sides = sides_of("coupling", {"a": "failed", "b": "passed"}, failing("a", 1), passing("b", 1))
    assert list(side_by_side(sides, 100)) == [
        "tests/test_x.py:41: assert first(words) == 'Z'",
        "  a failed: AssertionError: assert 'Ä' == 'Z' | b passed",
    ]


def test_sides_that_do_not_fit_in_a_line_stand_below_each_other() -> None:
    sides = sides_of(
        "coupling", {"a": "failed", "b": "failed"}, failing("a", 1, "assert 1 == 2"), failing("b", 1, "assert 3 == 4")
    )
    assert list(side_by_side(sides, 50))[1:] == [
        "  a failed: AssertionError: assert 1 == 2",
        "  b failed: AssertionError: assert 3 == 4",
    ]


def test_each_side_has_its_own_place_where_they_fail_in_several_and_its_attempts_where_it_is_torn() -> None:
    cells = (failing("a", 1), failing("a", 2, "assert 1 == 2", "other", 50))
    sides = sides_of("nondeterminism", {"a": "failed failed"}, *cells)
    assert list(side_by_side(sides, 60)) == [
        "a attempt 1 failed at tests/test_x.py:41: assert first(words) == 'Z': AssertionError: assert 'Ä' == 'Z'",
        "a attempt 2 failed at tests/test_x.py:50: assert first(words) == 'Z': AssertionError: assert 1 == 2",
    ]


def test_control_characters_of_a_test_do_not_act_on_the_terminal() -> None:
    sides = sides_of("coupling", {"a": "failed", "b": "passed"}, failing("a", 1, "assert '\x1b[2J' == ''"), passing("b", 1))
    assert "\x1b" not in "".join(side_by_side(sides, 100))
