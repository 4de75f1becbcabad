"""Labels, verdicts and what cells measured about themselves."""

from __future__ import annotations

from itertools import permutations, product

import msgspec
import pytest

from paritygate.classifier.labels import counts, excluded, label, label_of, skipped_everywhere
from paritygate.classifier.surroundings import Attempt, dates_moved, observed, power, undeclared_differences, varied
from paritygate.classifier.verdicts import Facts, bounds, precedence, verdict
from paritygate.outcomes.artifact import Finding, Varied, Verdict
from paritygate.outcomes.cells import Cell, Dates, Distribution, EnvironmentName, NodeId
from paritygate.outcomes.words import Axis, CellStatus, ExitCode, Label, Outcome, Purpose
from tests.support.builders import a_broken_file, a_cell, a_failure, a_finding, a_probe, a_record, a_run, a_square, ids

GREEN, RED, COUPLED = Label.CONSISTENT_GREEN, Label.CONSISTENT_RED, Label.COUPLING
FLAKY, FLAKY_EVERYWHERE, UNDECIDED = Label.NONDETERMINISM, Label.NONDETERMINISM_EVERYWHERE, Label.UNDECIDED

# Written by hand from the table of labels, not from the code: pairs of attempts are classed first (`g` stable green, `r`
# stable red, `m` stably missing, `x` unstable, `?` unknown), then pairs of classes. Where two stable ones meet, "same" decides.
CLASS_OF_EQUAL_PAIR = {
    "passed": "g",
    "failed": "r",
    "error": "r",
    "skipped": "g",
    "xfailed": "g",
    "xpassed": "g",
    "timed_out": "r",
    "crashed": "r",
    "not_collected": "m",
    "not_run": "?",
}
SAME = {"g": GREEN, "r": RED, "m": UNDECIDED}


def expected_label(a: tuple[str, str], b: tuple[str, str]) -> Label:
    classes = ""
    for one, other in (a, b):
        if one == other:
            classes += CLASS_OF_EQUAL_PAIR[one]
        elif "not_run" in {one, other}:
            classes += "?"
        else:
            classes += "x"
    if classes == "xx":
        return FLAKY_EVERYWHERE
    if "x" in classes:
        return FLAKY
    if "?" in classes:
        return UNDECIDED
    return SAME[classes[0]] if a == b else COUPLED


def labels_of(*cells: Cell) -> dict[str, Label]:
    return {each.nodeid: each.label for each in label(cells)}


def outcomes_of(finding: Finding) -> dict[str, str]:
    return {env: " ".join(seen) for env, seen in finding.outcomes.items()}


def only(cells: tuple[Cell, ...]) -> Finding:
    (finding,) = label(cells)
    return finding


def facts(*cells: Cell, blocking: tuple[str, ...] = ()) -> Facts:
    return Facts(cells=cells, varied=(Varied(axis=Axis.TIMEZONE, varied=True),), blocking=blocking)


def judged(*cells: Cell, axes: tuple[str, ...] = ("timezone", "workers")) -> Verdict:
    given = Facts(cells=cells, varied=tuple(Varied(axis=Axis(axis), varied=True) for axis in axes), excluded=len(excluded(cells)))
    return verdict(label(cells), given)


class TestLabels:
    def test_every_combination_of_outcomes_in_two_by_two_cells_has_the_label_of_the_table(self) -> None:
        wrong = []
        for a1, a2, b1, b2 in product(Outcome, repeat=4):
            got = label_of([(a1, a2), (b1, b2)])
            if got is not expected_label((a1.value, a2.value), (b1.value, b2.value)):
                wrong.append((a1, a2, b1, b2, got))
        assert wrong == []

    def test_the_table_holds_through_whole_cells_too(self) -> None:
        words = [outcome.value for outcome in Outcome]
        four = list(product(words, repeat=4))
        names = ["-".join(each) for each in four]
        cells = [
            a_cell(env, attempt, {name: each[place] for name, each in zip(names, four, strict=True)})
            for place, (env, attempt) in enumerate(product("ab", (1, 2)))
        ]
        got = {each.nodeid: each.label for each in label(cells)}
        assert got == {
            name: expected_label((each[0], each[1]), (each[2], each[3])) for name, each in zip(names, four, strict=True)
        }

    def test_labels_do_not_change_when_environments_or_attempts_change_places(self) -> None:
        for outcomes in product(Outcome, repeat=4):
            a, b = outcomes[:2], outcomes[2:]
            assert len({label_of([x, y]) for x, y in ((a, b), (b, a), (a[::-1], b), (a, b[::-1]), (b[::-1], a[::-1]))}) == 1

    @pytest.mark.parametrize(
        ("outcomes", "expected"),
        [
            ("passed passed", GREEN),
            ("skipped", GREEN),
            ("failed failed", RED),
            ("passed failed", FLAKY),
            ("passed skipped", FLAKY),
            ("failed timed_out", FLAKY),
            ("passed not_run", UNDECIDED),
            ("not_collected not_collected", UNDECIDED),
            ("passed not_run failed", FLAKY),
        ],
    )
    def test_one_environment_is_compared_with_itself_and_never_called_everywhere(self, outcomes: str, expected: Label) -> None:
        assert only(a_square({"a": outcomes})).label is expected

    @pytest.mark.parametrize(
        ("outcomes", "expected"),
        [
            (("passed passed", "passed passed", "passed passed"), GREEN),
            (("failed failed", "failed failed", "failed failed"), RED),
            (("passed passed", "passed passed", "failed failed"), COUPLED),
            (("passed passed", "skipped skipped", "failed failed"), COUPLED),
            (("passed failed", "passed passed", "failed failed"), FLAKY),
            (("passed failed", "failed passed", "failed failed"), FLAKY),
            (("passed failed", "failed passed", "failed skipped"), FLAKY_EVERYWHERE),
            (("passed failed", "failed passed", "not_run not_run"), FLAKY),
            (("passed passed", "failed failed", "passed not_run"), UNDECIDED),
            (("passed", "passed", "error"), COUPLED),
        ],
    )
    def test_three_environments(self, outcomes: tuple[str, str, str], expected: Label) -> None:
        for a, b, c in permutations(outcomes):
            assert only(a_square({"a": a, "b": b, "c": c})).label is expected

    @pytest.mark.parametrize(
        ("a", "b", "expected"),
        [
            ("passed passed passed", "passed passed passed", GREEN),
            ("passed passed passed", "passed passed failed", FLAKY),
            ("passed failed passed", "passed passed failed", FLAKY_EVERYWHERE),
            ("passed passed passed", "failed failed failed", COUPLED),
            ("passed passed not_run", "failed failed failed", UNDECIDED),
            ("passed passed passed", "failed failed", COUPLED),
        ],
    )
    def test_three_attempts_and_unequal_numbers_of_attempts(self, a: str, b: str, expected: Label) -> None:
        assert only(a_square({"a": a, "b": b})).label is expected

    def test_a_red_test_whose_failures_differ_stays_red_and_says_so(self) -> None:
        cells = [a_cell("a", 1, runs=[a_run("t", "failed", failure=a_failure("one"))])]
        cells += [a_cell("b", 1, runs=[a_run("t", "failed", failure=a_failure("two"))])]
        found = only(tuple(cells))
        assert (found.label, found.note) == (RED, "the failures differ")

    def test_hangs_are_the_same_wherever_their_stack_was(self) -> None:
        cells = [a_cell(env, 1, runs=[a_run("t", "timed_out", failure=a_failure(env))]) for env in "ab"]
        assert (only(tuple(cells)).label, only(tuple(cells)).note) == (RED, "")

    def test_failed_here_and_error_there_is_a_coupling(self) -> None:
        assert only(a_square({"a": "failed failed", "b": "error error"})).label is COUPLED

    def test_a_test_that_a_finished_cell_does_not_have_is_not_collected_there(self) -> None:
        cells = [a_cell("a", n, {"t": "passed", "u": "passed"}) for n in (1, 2)] + [
            a_cell("b", n, {"t": "passed"}) for n in (1, 2)
        ]
        there = label(cells)[1]
        assert (there.nodeid, there.label, outcomes_of(there)) == (
            "u",
            COUPLED,
            {"a": "passed passed", "b": "not_collected not_collected"},
        )

    @pytest.mark.parametrize("status", ["timed_out", "crashed", "out_of_memory", "environment_mismatch"])
    def test_a_cell_that_died_leaves_undecided_what_it_did_not_finish(self, status: str) -> None:
        dead = a_cell("b", 2, {"t": "passed"}, status=CellStatus(status), running=ids("u"))
        cells = [a_cell("a", 1, {"t": "passed", "u": "passed"}), a_cell("b", 1, {"t": "passed", "u": "passed"}), dead]
        assert labels_of(*cells) == {"t": GREEN, "u": UNDECIDED}

    @pytest.mark.parametrize(
        ("first", "second", "there", "expected"),
        [
            ("crashed!", "crashed!", "passed", UNDECIDED),
            ("crashed!", "crashed!", "crashed!", UNDECIDED),
            ("passed", "crashed!", "passed", UNDECIDED),
            ("crashed!", "crashed!", "failed", UNDECIDED),
            ("crashed", "crashed", "passed", COUPLED),
            ("failed!", "failed!", "passed", COUPLED),
            ("passed", "failed!", "passed", FLAKY),
        ],
    )
    def test_what_was_killed_for_lack_of_memory_has_given_no_answer(
        self, first: str, second: str, there: str, expected: Label
    ) -> None:
        """An outcome with `!` is that of a cell that ran out of memory."""
        cells = [
            a_cell(env, n, {"t": word.rstrip("!")}, status=CellStatus.OUT_OF_MEMORY if "!" in word else CellStatus.FINISHED)
            for env, n, word in (("a", 1, first), ("a", 2, second), ("b", 1, there), ("b", 2, there))
        ]
        found = only(tuple(cells))
        assert (found.label, "which ran out of memory, in `a`" in found.note) == (expected, expected is UNDECIDED)

    def test_a_crash_of_another_kind_in_a_cell_without_memory_is_an_answer(self) -> None:
        fault = msgspec.structs.replace(a_failure(), exception="SIGSEGV")
        runs = [a_run("t", "crashed", failure=fault)]
        dead = [a_cell("a", n, runs=runs, status=CellStatus.OUT_OF_MEMORY) for n in (1, 2)]
        assert only((*dead, *(a_cell("b", n, {"t": "passed"}) for n in (1, 2)))).label is COUPLED

    def test_a_test_known_only_as_running_is_listed(self) -> None:
        dead = a_cell("a", 1, status=CellStatus.TIMED_OUT, running=ids("hang"))
        assert outcomes_of(only((dead,))) == {"a": "not_run"}

    def test_a_test_that_contradicts_itself_does_so_whatever_died_elsewhere(self) -> None:
        dead = a_cell("b", 1, status=CellStatus.CRASHED)
        assert only((*a_square({"a": "passed failed"}), dead)).label is FLAKY

    def test_equal_ids_are_told_apart_by_occurrence(self) -> None:
        runs = {
            env: [a_run("t", "passed"), a_run("t", second, occurrence=1)] for env, second in (("a", "passed"), ("b", "failed"))
        }
        found = label(a_cell(env, n, runs=runs[env]) for env in "ab" for n in (1, 2))
        assert [(each.nodeid, each.occurrence, each.label) for each in found] == [("t", 0, GREEN), ("t", 1, COUPLED)]

    def test_only_gate_cells_give_labels_unless_another_purpose_is_asked_for(self) -> None:
        gate = a_square({"a": "passed passed", "b": "passed passed"})
        other = a_cell("b", 3, {"t": "failed"}, purpose=Purpose.CONFIRM)
        assert only((*gate, other)).label is GREEN
        assert [outcomes_of(each) for each in label((*gate, other), Purpose.CONFIRM)] == [{"b": "failed"}]

    def test_findings_keep_the_order_of_ids_whatever_the_order_of_runs_and_cells(self) -> None:
        one, two = a_cell("a", 1, {"b": "passed", "a": "passed"}), a_cell("a", 2, {"a": "passed", "b": "failed"})
        assert label([two, one]) == label([one, two])
        assert [each.nodeid for each in label([two, one])] == ["a", "b"]


class TestCollection:
    def test_a_file_that_breaks_in_one_environment_couples_every_test_known_in_it_and_no_other(self) -> None:
        whole = {"f.py::t": "passed", "f.py::C::u": "passed", "g.py::v": "passed"}
        broken = [a_cell("b", n, {"g.py::v": "passed"}, runs=[a_broken_file("f.py")]) for n in (1, 2)]
        found = label([*(a_cell("a", n, whole) for n in (1, 2)), *broken])
        assert {each.nodeid: each.label for each in found} == {"f.py::C::u": COUPLED, "f.py::t": COUPLED, "g.py::v": GREEN}
        assert outcomes_of(found[0]) == {"a": "passed passed", "b": "error error"}
        assert found[0].note == "`f.py` could not be collected in `b`"

    def test_a_file_that_breaks_everywhere_is_one_red_finding(self) -> None:
        assert labels_of(*(a_cell(env, n, runs=[a_broken_file("f.py")]) for env in "ab" for n in (1, 2))) == {"f.py": RED}

    def test_a_file_that_breaks_in_one_attempt_is_nondeterminism_of_its_tests(self) -> None:
        cells = [a_cell("a", 1, {"f.py::t": "passed"}), a_cell("a", 2, runs=[a_broken_file("f.py")])]
        assert labels_of(*cells, *(a_cell("b", n, {"f.py::t": "passed"}) for n in (1, 2))) == {"f.py::t": FLAKY}

    def test_a_file_that_breaks_where_another_tree_lacks_it_is_coupled_itself(self) -> None:
        cells = [a_cell("a", n, {"g.py::t": "passed"}, runs=[a_broken_file("f.py")]) for n in (1, 2)]
        assert labels_of(*cells, *(a_cell("b", n, {"g.py::t": "passed"}) for n in (1, 2))) == {"f.py": COUPLED, "g.py::t": GREEN}

    @pytest.mark.parametrize("node", ["", ".", "pkg", "pkg/__init__.py", "pkg/sub", "pkg/sub/f.py", "pkg/sub/f.py::C"])
    def test_what_breaks_stands_for_everything_below_it(self, node: str) -> None:
        cells = [a_cell("a", 1, {"pkg/sub/f.py::C::t[x::y/z]": "passed"}), a_cell("b", 1, runs=[a_broken_file(node)])]
        assert labels_of(*cells) == {"pkg/sub/f.py::C::t[x::y/z]": COUPLED}

    def test_a_file_that_skips_itself_in_one_environment_couples_its_tests(self) -> None:
        cells = [a_cell("a", n, {"f.py::t": "passed"}) for n in (1, 2)] + [a_cell("b", n, {"f.py": "skipped"}) for n in (1, 2)]
        found = only(tuple(cells))
        assert (found.nodeid, found.label, outcomes_of(found)["b"]) == ("f.py::t", COUPLED, "skipped skipped")
        assert found.note == "`f.py` skips itself as a whole in `b`"

    def test_a_file_that_skips_itself_everywhere_is_one_stable_skip(self) -> None:
        assert labels_of(*(a_cell(env, 1, {"f.py": "skipped", "g.py::t": "passed"}) for env in "ab")) == {
            "f.py": GREEN,
            "g.py::t": GREEN,
        }

    def test_a_broken_file_stands_for_nothing_that_merely_begins_alike(self) -> None:
        cells = [a_cell("a", 1, {"f.py::t": "passed", "f.pyx::t": "passed"}), a_cell("b", 1, runs=[a_broken_file("f.py")])]
        assert outcomes_of(label(cells)[1]) == {"a": "passed", "b": "not_collected"}

    def test_an_error_of_a_single_test_stands_for_itself(self) -> None:
        cells = [a_cell("a", 1, {"f.py::t": "error", "f.py::t::x": "passed"}), a_cell("b", 1, {"f.py::t": "error"})]
        assert labels_of(*cells) == {"f.py::t": RED, "f.py::t::x": COUPLED}

    def test_pytest_that_cannot_work_in_one_environment_is_an_error_of_every_test_there(self) -> None:
        cells = [a_cell("a", n, {"t": "passed"}) for n in (1, 2)]
        found = only((*cells, *(a_cell("b", n, status=CellStatus.UNUSABLE, detail="conftest.py: NameError") for n in (1, 2))))
        assert (found.label, outcomes_of(found)["b"]) == (COUPLED, "error error")
        assert found.note == "pytest could not work in `b`: conftest.py: NameError"

    def test_pytest_that_cannot_work_in_one_attempt_is_nondeterminism(self) -> None:
        cells = [a_cell("a", 1, {"t": "passed"}), a_cell("a", 2, status=CellStatus.UNUSABLE)]
        assert only((*cells, *(a_cell("b", n, {"t": "passed"}) for n in (1, 2)))).label is FLAKY

    def test_a_cell_without_tests_lacks_those_of_the_others(self) -> None:
        cells = [a_cell("a", n, {"t": "passed"}) for n in (1, 2)]
        found = only((*cells, *(a_cell("b", n, status=CellStatus.NO_TESTS) for n in (1, 2))))
        assert (found.label, outcomes_of(found)["b"]) == (COUPLED, "not_collected not_collected")

    def test_excluded_tests_are_listed_and_counted_and_not_labelled(self) -> None:
        cells = [a_cell("a", n, {"t": "passed"}, excluded={NodeId("gpu"): "needs a GPU"}) for n in (1, 2)]
        assert labels_of(*cells) == {"t": GREEN}
        assert excluded(cells) == {"gpu": "needs a GPU"}
        assert counts(label(cells), excluded(cells)) == {
            GREEN: 1,
            RED: 0,
            COUPLED: 0,
            FLAKY: 0,
            FLAKY_EVERYWHERE: 0,
            UNDECIDED: 0,
            Label.EXCLUDED: 1,
        }

    def test_a_test_that_is_excluded_on_one_side_only_is_coupled(self) -> None:
        cells = [a_cell("a", 1, {"t": "passed"}), a_cell("b", 1, excluded={NodeId("t"): "slow"})]
        found = only(tuple(cells))
        assert (found.label, found.note, excluded(cells)) == (COUPLED, "excluded in `b`", {})


class TestDriftingIds:
    NOTE = "the id changes at every collection: give the parameters ids"

    def test_an_id_that_no_other_attempt_has_is_explained(self) -> None:
        cells = [a_cell(env, n, {"f.py::t[1]": "passed", f"f.py::t[0.{env}{n}]": "passed"}) for env in "ab" for n in (1, 2)]
        found = label(cells)
        assert [each.label for each in found] == [FLAKY, FLAKY, FLAKY, FLAKY, GREEN]
        assert [each.note for each in found] == [self.NOTE] * 4 + [""]

    def test_ids_that_differ_between_environments_alone_are_no_such_thing(self) -> None:
        cells = [a_cell(env, n, {f"f.py::t[{env}]": "passed"}) for env in "ab" for n in (1, 2)]
        assert [(each.label, each.note) for each in label(cells)] == [(COUPLED, ""), (COUPLED, "")]

    def test_a_parameter_more_in_one_attempt_is_no_such_thing(self) -> None:
        cells = [a_cell("a", 1, {"f.py::t[1]": "passed"}), a_cell("a", 2, {"f.py::t[1]": "passed", "f.py::t[2]": "passed"})]
        assert [(each.label, each.note) for each in label(cells)] == [(GREEN, ""), (FLAKY, "")]


class TestAddresses:
    def test_ids_with_addresses_match_by_form(self) -> None:
        cells = [a_cell(env, n, {f"t[<o at 0x7f{env}{n}00aa>]": "passed"}) for env in "ab" for n in (1, 2)]
        found = only(tuple(cells))
        assert (found.nodeid, found.label) == ("t[<o at 0x...>]", GREEN)
        assert found.note == "the id holds an object address; matched by its form"

    def test_ids_that_a_cell_wrote_without_addresses_say_so(self) -> None:
        cells = [a_cell(env, 1, {"t[<o at 0x...>]": "passed"}, unstable_ids=("t[<o at 0x...>]",)) for env in "ab"]
        assert only(tuple(cells)).note == "the id holds an object address; matched by its form"

    def test_equal_forms_match_by_the_recorded_occurrence_where_there_is_one(self) -> None:
        cells = [
            a_cell(env, 1, runs=[a_run(f"t[0x{env}00001]", first), a_run(f"t[0x{env}00002]", "failed", occurrence=1)])
            for env, first in (("a", "passed"), ("b", "skipped"))
        ]
        assert [(each.occurrence, each.label) for each in label(cells)] == [(0, COUPLED), (1, RED)]

    def test_equal_forms_without_occurrence_match_by_outcome_so_that_no_difference_is_made_up(self) -> None:
        one = a_cell("a", 1, {"t[0xaaaaa1]": "passed", "t[0xaaaaa2]": "failed"})
        two = a_cell("b", 1, {"t[0xbbbbb1]": "failed", "t[0xbbbbb2]": "passed"})
        found = label([one, two])
        assert [(each.nodeid, each.occurrence, each.label) for each in found] == [("t[0x...]", 0, RED), ("t[0x...]", 1, GREEN)]
        assert all(each.note.startswith("the id holds an object address; matched by its form and") for each in found)

    def test_a_constant_in_hexadecimal_keeps_its_id(self) -> None:
        cells = [
            a_cell("a", 1, {"t[0xdeadbeef]": "passed", "t[0xcafebabe]": "passed"}),
            a_cell("b", 1, {"t[0xcafebabe]": "passed"}),
        ]
        found = label(cells)
        assert [(each.nodeid, each.label, each.note) for each in found] == [
            ("t[0xcafebabe]", GREEN, ""),
            ("t[0xdeadbeef]", COUPLED, ""),
        ]

    def test_a_running_test_is_matched_too(self) -> None:
        dead = a_cell("b", 1, status=CellStatus.TIMED_OUT, running=ids("t[0xbbbbbb]"))
        assert outcomes_of(
            only((a_cell("a", 1, {"t[0xaaaaaa]": "passed"}), a_cell("c", 1, {"t[0xcccccc]": "passed"}), dead))
        ) == {
            "a": "passed",
            "c": "passed",
            "b": "not_run",
        }


class TestVerdict:
    def test_the_parity_line_names_the_axes_that_varied(self) -> None:
        said = judged(*a_square({"a": "passed passed", "b": "passed passed"}))
        assert (said.name, said.exit_code, said.axes) == ("parity", 0, (Axis.TIMEZONE, Axis.WORKERS))
        assert said.line == "parity over timezone, workers: 1 test in 4 cells"

    @pytest.mark.parametrize(
        ("labels", "code"),
        [
            ("consistent-green", 0),
            ("consistent-green consistent-red", 1),
            ("consistent-red coupling", 3),
            ("coupling nondeterminism consistent-red", 2),
            ("coupling nondeterminism-everywhere", 2),
            ("coupling nondeterminism undecided consistent-red", 4),
        ],
    )
    def test_the_worst_label_decides(self, labels: str, code: int) -> None:
        findings = [a_finding(f"t{number}", word) for number, word in enumerate(labels.split())]
        cells = a_square({"a": "passed passed", "b": "passed passed"})
        assert verdict(findings, facts(*cells)).exit_code == code

    def test_codes_are_weighed_in_the_order_that_is_promised(self) -> None:
        order = [64, 70, 5, 4, 2, 3, 1, 0]
        for place, code in enumerate(order):
            assert precedence([ExitCode(each) for each in reversed(order[place:])]) == code
        assert precedence([]) == 0

    @pytest.mark.parametrize(
        ("outcomes", "code"), [("passed passed", 0), ("failed failed", 1), ("passed failed", 2), ("passed not_run", 4)]
    )
    def test_one_environment_alone_is_never_called_parity(self, outcomes: str, code: int) -> None:
        said = judged(*a_square({"local-like": outcomes}), axes=())
        assert said.exit_code == code
        assert "parity" not in said.line

    def test_one_environment_alone_says_that_nothing_was_compared(self) -> None:
        said = judged(*a_square({"local-like": "passed passed"}))
        assert (said.line, said.axes) == ("stable in local-like (one environment, nothing compared)", ())

    def test_several_environments_on_no_axis_are_no_verdict(self) -> None:
        cells = a_square({"a": "passed passed", "b": "passed passed"})
        same = Varied(axis=Axis.TIMEZONE, varied=False, why="`UTC` everywhere")
        said = verdict(label(cells), Facts(cells=cells, varied=(same,)))
        assert (said.exit_code, said.line) == (
            4,
            "no-verdict: no axis varied, so there is nothing to compare (timezone: `UTC` everywhere)",
        )

    def test_a_dead_cell_is_no_verdict_and_says_which_how_and_where(self) -> None:
        dead = a_cell("b", 2, status=CellStatus.TIMED_OUT, running=ids("f.py::hang"), detail="1800 s")
        said = judged(*a_square({"a": "passed passed"}), a_cell("b", 1, {"t": "passed"}), dead)
        assert said.exit_code == 4
        assert said.reasons == (
            "`b` attempt 2 ran out of time in `f.py::hang`: 1800 s",
            "2 tests could not be decided over all 4 cells, first `f.py::hang`",
        )

    def test_all_skipped_everywhere_is_no_verdict(self) -> None:
        said = judged(*a_square({"a": "skipped skipped", "b": "skipped skipped"}))
        assert (said.exit_code, said.reasons) == (4, ("every test is skipped everywhere (1 test): nothing was tested",))

    def test_some_skipped_everywhere_are_counted(self) -> None:
        cells = tuple(a_cell(env, n, {"t": "passed", "u": "skipped"}) for env in "ab" for n in (1, 2))
        assert judged(*cells).exit_code == 0
        assert skipped_everywhere(label(cells)) == 1
        assert bounds(label(cells), cells) == (
            "1 test is skipped in every cell",
            "a test that fails 5 % of the time had a chance of 19 % to be seen in these 4 runs",
        )

    def test_nothing_is_said_of_the_worth_of_green_where_nothing_ran(self) -> None:
        assert bounds((), (a_cell("a", 1, status=CellStatus.NO_TESTS),)) == ()

    def test_no_chance_is_said_where_no_test_ran(self) -> None:
        nowhere = a_cell("a", 1, status=CellStatus.NO_TESTS, missing=(NodeId("t.py::test_nope"),))
        assert [each.nodeid for each in label((nowhere,))] == ["t.py::test_nope"]
        assert bounds(label((nowhere,)), (nowhere,)) == ()
        skipped = a_cell("a", 1, {"t.py::t": "skipped"})
        assert bounds(label((skipped,)), (skipped,)) == ("1 test is skipped in every cell",)

    def test_one_run_is_said_to_be_one(self) -> None:
        cells = (a_cell("a", 1, {"t": "passed"}),)
        assert bounds(label(cells), cells) == ("a test that fails 5 % of the time had a chance of 5 % to be seen in this run",)

    def test_nothing_collected_anywhere_is_no_verdict(self) -> None:
        cells = [a_cell(env, 1, status=CellStatus.NO_TESTS, detail="`tests` does not exist") for env in "ab"]
        assert judged(*cells).reasons == ("no test was collected in any cell: `tests` does not exist",)

    def test_nothing_but_excluded_tests_is_no_verdict(self) -> None:
        cells = [a_cell(env, 1, excluded={NodeId("t"): "needs a GPU"}, status=CellStatus.NO_TESTS) for env in "ab"]
        assert judged(*cells).line == "no-verdict: no test was run: 1 test excluded, and there are no others"

    def test_no_cell_at_all_is_no_verdict(self) -> None:
        assert judged().reasons == ("no cell was run",)

    def test_pytest_that_works_nowhere_is_no_verdict(self) -> None:
        said = judged(*(a_cell(env, 1, status=CellStatus.UNUSABLE, detail="pytest.ini: bad") for env in "ab"))
        assert said.exit_code == 4
        assert said.reasons == ("pytest could not work in any of the 2 cells: pytest.ini: bad",)

    def test_pytest_that_works_nowhere_for_several_reasons_says_each_once(self) -> None:
        details = {"a": ("bad", "bad"), "b": ("bad", "worse")}
        cells = [
            a_cell(env, n, status=CellStatus.UNUSABLE, detail=detail)
            for env, said in details.items()
            for n, detail in enumerate(said, start=1)
        ]
        assert judged(*cells).reasons == (
            "pytest could not work in `a` attempt 1, `a` attempt 2, `b` attempt 1: bad",
            "pytest could not work in `b` attempt 2: worse",
        )

    def test_what_was_asked_for_and_is_nowhere_is_no_verdict_and_hides_no_other(self) -> None:
        cells = [a_cell(env, n, {"t.py::t": "passed"}, missing=("t.py::x", "u.py::y")) for env in "ab" for n in (1, 2)]
        assert labels_of(*cells) == {"t.py::t": GREEN, "t.py::x": UNDECIDED, "u.py::y": UNDECIDED}
        assert label(cells)[1].note == "asked for, and found in no cell"
        said = judged(*cells)
        assert (said.exit_code, said.reasons) == (4, ("`t.py::x` was asked for and is in no cell, and 1 more",))

    def test_what_was_asked_for_and_is_in_one_environment_only_is_coupled(self) -> None:
        lost = (NodeId("t.py::p[2026-11-29]"),)
        cells = [a_cell("a", n, {lost[0]: "passed"}) for n in (1, 2)]
        cells += [a_cell("b", n, status=CellStatus.NO_TESTS, missing=lost) for n in (1, 2)]
        assert labels_of(*cells) == {lost[0]: COUPLED}
        assert judged(*cells).exit_code == 3

    @pytest.mark.parametrize("asked", ["t.py::p", "t.py::C", "t.py", "broken.py::t", "gpu.py::t"])
    def test_what_was_asked_for_is_there_where_anything_in_it_or_around_it_is(self, asked: str) -> None:
        there = a_cell(
            "a",
            1,
            {"t.py::p[1]": "passed", "t.py::C::m": "passed"},
            runs=[a_broken_file("broken.py")],
            excluded={NodeId("gpu.py::t"): "needs a GPU"},
        )
        lacking = a_cell("b", 1, missing=(NodeId(asked),))
        assert set(labels_of(there, lacking)) == {"t.py::p[1]", "t.py::C::m", "broken.py"}

    def test_pytest_that_works_in_one_environment_only_is_a_coupling(self) -> None:
        cells = [a_cell("a", n, {"t": "passed"}) for n in (1, 2)] + [a_cell("b", n, status=CellStatus.UNUSABLE) for n in (1, 2)]
        assert judged(*cells).exit_code == 3

    def test_paths_that_one_tree_lacks_are_a_coupling(self) -> None:
        cells = [a_cell("a", n, {"t": "passed"}) for n in (1, 2)] + [a_cell("b", n, status=CellStatus.NO_TESTS) for n in (1, 2)]
        assert judged(*cells).exit_code == 3

    def test_undeclared_differences_leave_no_verdict(self) -> None:
        cells = a_square({"a": "passed passed", "b": "passed passed"})
        said = verdict(label(cells), facts(*cells, blocking=("packages differ",)))
        assert (said.exit_code, said.reasons) == (4, ("packages differ",))

    def test_names_of_the_tree_that_are_one_where_case_does_not_count_are_a_coupling_though_every_test_is_green(self) -> None:
        cells = a_square({"a": "passed passed", "b": "passed passed"})
        pairs = tuple(f"`A{number}` and `a{number}`" for number in range(7))
        said = verdict(label(cells), msgspec.structs.replace(facts(*cells), collisions=pairs))
        assert (said.exit_code, said.line) == (
            3,
            (
                "coupling: the worktree has names that are one where case does not count: `A0` and `a0`, `A1` and `a1`, "
                "`A2` and `a2`, `A3` and `a3`, `A4` and `a4` and 2 more"
            ),
        )

    def test_an_undecided_confirmation_gives_its_reason(self) -> None:
        cells = a_square({"a": "passed passed", "b": "passed passed"})
        said = verdict([a_finding("t", "undecided", note="looks coupled")], facts(*cells))
        assert said.reasons == ("1 test could not be decided over all 4 cells, first `t` (looks coupled)",)

    def test_diagnoses_come_with_numbers_worst_first(self) -> None:
        cells = a_square({"a": "passed passed", "b": "passed passed"})
        findings = [
            a_finding("r", "consistent-red"),
            a_finding("c", "coupling"),
            a_finding("d", "coupling"),
            a_finding("n", "nondeterminism"),
        ]
        assert verdict(findings, facts(*cells)).reasons == (
            "1 test disagrees with itself inside one environment, first `n`",
            "2 tests agree with themselves and differ between environments, first `c`",
            "1 test fails the same way everywhere, first `r`",
        )


class TestSurroundings:
    def test_axes_vary_by_value_and_say_why_not(self) -> None:
        local = a_record("a", {"timezone": "Asia/Shanghai", "locale": "C.UTF-8", "case_sensitive": "any", "worktree": "dirty"})
        server = a_record("b", {"timezone": "UTC", "locale": "C.UTF-8", "case_sensitive": "any", "worktree": "clean"})
        assert varied([local, server], [], {"dirty": "d", "clean": "d"}) == (
            Varied(axis=Axis.TIMEZONE, varied=True),
            Varied(axis=Axis.LOCALE, varied=False, why="`C.UTF-8` everywhere"),
            Varied(axis=Axis.CASE_SENSITIVE, varied=False, why="not provided"),
            Varied(axis=Axis.WORKTREE, varied=False, why="the trees `clean`, `dirty` are equal"),
        )

    def test_trees_with_different_digests_vary(self) -> None:
        records = [a_record("a", {"worktree": "dirty"}), a_record("b", {"worktree": "clean"})]
        assert varied(records, [], {"dirty": "d", "clean": "c"}) == (Varied(axis=Axis.WORKTREE, varied=True),)

    def test_case_does_not_vary_where_one_side_takes_what_there_is(self) -> None:
        records = [a_record("a", {"case_sensitive": "any"}), a_record("b", {"case_sensitive": "true"})]
        assert varied(records, [], {})[0].why == "not provided"

    def test_values_that_come_to_the_same_in_the_cells_do_not_vary(self) -> None:
        records = [a_record("a", {"timezone": "Etc/UTC"}), a_record("b", {"timezone": "UTC"})]
        cells = [a_cell(env, 1, {"t": "passed"}, probe=a_probe()) for env in "ab"]
        assert varied(records, cells, {})[0].why == "`Etc/UTC`, `UTC` come to the same in the cells"

    def test_one_environment_varies_nothing(self) -> None:
        assert varied([a_record("a", {"timezone": "UTC"})], [], {}) == (
            Varied(axis=Axis.TIMEZONE, varied=False, why="one environment"),
        )

    def test_environments_can_be_described_by_what_their_cells_measured(self) -> None:
        cells = [a_cell("a", 1, probe=a_probe(timezone="Asia/Shanghai"), workers=0), a_cell("b", 1, probe=a_probe(), workers=4)]
        first, second = observed(cells)
        assert (first.name, first.axes[Axis.TIMEZONE], first.axes[Axis.WORKERS]) == ("a", "Asia/Shanghai", "0")
        assert (second.name, second.axes[Axis.TIMEZONE], second.axes[Axis.WORKERS]) == ("b", "UTC", "4")

    def test_equal_probes_have_no_differences(self) -> None:
        found = undeclared_differences([a_cell(env, n, probe=a_probe()) for env in "ab" for n in (1, 2)])
        assert (found.blocking, found.notes) == ((), ())

    @pytest.mark.parametrize(
        ("field", "value", "said"),
        [
            ("python", "3.12.1", "python differs (`3.11.2`, `3.12.1`)"),
            ("libc", "musl", "libc differs (`glibc 2.36`, `musl`)"),
            ("tzdata", "2023a", "tzdata differs (`2024b`, `2023a`)"),
            (
                "distributions",
                (Distribution("pytest", "8.0.0"),),
                "packages differ (pluggy 1.5.0 / absent, pytest 8.3.4 / 8.0.0)",
            ),
        ],
    )
    def test_packages_interpreter_libc_and_tzdata_have_to_be_equal(self, field: str, value: object, said: str) -> None:
        cells = [a_cell("a", 1, probe=a_probe()), a_cell("b", 1, probe=a_probe(**{field: value}))]
        assert undeclared_differences(cells).blocking == (f"{said} between `a` attempt 1 and `b` attempt 1",)
        assert undeclared_differences(cells, frozenset({Axis.IMAGE})).blocking == ()

    @pytest.mark.parametrize(
        ("field", "value"),
        [("uid", 0), ("hostname", "x"), ("limits", {"nofile": (1, 1)}), ("variables", ("HOME",)), ("umask", 0), ("cpus", 1.0)],
    )
    def test_other_differences_are_noted(self, field: str, value: object) -> None:
        found = undeclared_differences([a_cell("a", 1, probe=a_probe()), a_cell("b", 1, probe=a_probe(**{field: value}))])
        assert found.blocking == ()
        assert [note.split()[0] for note in found.notes] == [field]

    def test_a_declared_axis_is_no_undeclared_difference(self) -> None:
        cells = [a_cell("a", 1, probe=a_probe()), a_cell("b", 1, probe=a_probe(umask=0o002))]
        assert undeclared_differences(cells, frozenset({Axis.UMASK})).notes == ()

    def test_a_cell_without_a_probe_is_noted(self) -> None:
        assert undeclared_differences([a_cell("a", 1)]).notes == ("`a` attempt 1 has no probe",)

    def test_of_folders_that_tell_case_apart_those_are_named_that_differ_and_none_that_a_variable_put_elsewhere(self) -> None:
        one = a_probe(case_sensitive=(False, False, False), filesystems={"tmp": "fuse", "home": "fuse"})
        other = a_probe(case_sensitive=(False, False, True), filesystems={"tmp": "fuse", "home": "tmpfs"}, home="/home/read-only")
        cells = [a_cell("a", 1, probe=one), a_cell("b", 1, probe=other)]
        pair = "between `a` attempt 1 and `b` attempt 1"
        assert [note for note in undeclared_differences(cells).notes if "home differs" not in note] == [
            f"filesystems differ (home: fuse / tmpfs) {pair}",
            f"case_sensitive differs (home: false / true) {pair}",
        ]
        assert undeclared_differences(cells, frozenset({Axis.VARIABLES})).notes == ()
        assert len(undeclared_differences(cells, frozenset({Axis.VARIABLES, Axis.CASE_SENSITIVE})).notes) == 0

    def test_cells_before_midnight_are_found_when_the_date_moved_between_or_during_cells(self) -> None:
        before, after = Dates("2024-05-02", "2024-05-01"), Dates("2024-05-02", "2024-05-02")
        cells = [
            a_cell("a", 1, dates=(before, before)),
            a_cell("a", 2, dates=(before, after)),
            a_cell("a", 3, dates=(after, after)),
            a_cell("b", 1, dates=(Dates("2024-05-01", "2024-05-01"),)),
            a_cell("b", 2, dates=(after,)),
        ]
        a, b = EnvironmentName("a"), EnvironmentName("b")
        assert dates_moved(cells) == (Attempt(a, 1), Attempt(a, 2), Attempt(b, 1))

    def test_nothing_moved_while_the_dates_stay(self) -> None:
        still = Dates("2024-05-02", "2024-05-01")
        assert dates_moved([a_cell("a", n, dates=(still, still)) for n in (1, 2)]) == ()

    def test_power_is_said_in_a_sentence(self) -> None:
        assert power(20, 0.1) == "a test that fails 10 % of the time had a chance of 88 % to be seen in these 20 runs"
