"""A freeze lets through what was frozen, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

import msgspec
import pytest

from paritygate.classifier import labels, verdicts
from paritygate.confirm.flow import Confirmation
from paritygate.disciplines.freezing import Frozen
from paritygate.environments import Resolution
from paritygate.errors import RefusedError
from paritygate.freezes import evidence, judging, ledger
from paritygate.freezes.ledger import Entry
from paritygate.gate.explaining import Known
from paritygate.gate.ledger import explain_others
from paritygate.gate.material import Planned
from paritygate.outcomes.artifact import Freeze, Varied
from paritygate.outcomes.cells import Cell, NodeId
from paritygate.outcomes.plans import Selection
from paritygate.outcomes.words import Axis, CellStatus, ExitCode, FreezeState, Purpose
from tests.support.builders import a_cell, a_failure, a_run, an_artifact, ids

T = "tests/test_a.py::test_t"
SELECTED = Selection(paths=("tests",))
STABLE, LET_THROUGH, DRIFTED, NOT_RUN, UNKNOWN = (
    FreezeState.STABLE,
    FreezeState.LET_THROUGH,
    FreezeState.DRIFTED,
    FreezeState.NOT_RUN,
    FreezeState.UNKNOWN,
)


FAILURE = {"failed": a_failure("f1")}


def cells(a: str, b: str, fingerprint: str = "f1", **changes: Any) -> tuple[Cell, ...]:
    """Make a gate in which the test has these outcomes, each red one with the same fingerprint, beside one that is green."""
    made = []
    for env, words in (("a", a), ("b", b)):
        for attempt, word in enumerate(words.split(), start=1):
            failure = a_failure(fingerprint) if word in {"failed", "error"} else None
            made.append(
                a_cell(env, attempt, {"tests/test_a.py::test_u": "passed"}, runs=[a_run(T, word, failure=failure)], **changes)
            )
    return tuple(made)


def an_entry(gate: Sequence[Cell] = cells("passed failed", "passed passed")) -> Entry:
    """Freeze the test on the evidence of a gate."""
    artifact = an_artifact(cells=tuple(gate), tests=labels.label(gate))
    asked = evidence.Asked(nodeid=T, owner="@me", expires=date(2026, 12, 31), reason="later")
    return evidence.entry(asked, evidence.Report(name="r.json", artifact=artifact, content=b"{}"), date(2026, 12, 1))


def judged(gate: Sequence[Cell], entry: Entry, selection: Selection = SELECTED, nodeid: str = T) -> Freeze:
    return judging.judge({nodeid: entry}, labels.label(gate), gate, selection)[NodeId(nodeid)]


def exit_code(gate: Sequence[Cell], entry: Entry) -> int:
    findings = labels.label(gate)
    facts = verdicts.Facts(
        cells=tuple(gate),
        varied=(Varied(axis=Axis.TIMEZONE, varied=True),),
        frozen=judging.let_through({T: entry}, findings, gate),
    )
    return verdicts.verdict(findings, facts).exit_code


@pytest.mark.parametrize(
    ("a", "b", "fingerprint", "state", "code"),
    [
        ("passed passed", "passed passed", "", STABLE, ExitCode.PARITY),
        ("passed failed", "passed passed", "f1", LET_THROUGH, ExitCode.PARITY),
        ("failed passed", "passed passed", "f1", LET_THROUGH, ExitCode.PARITY),
        ("passed passed", "passed failed", "f1", LET_THROUGH, ExitCode.PARITY),
        ("passed failed", "passed passed", "f2", DRIFTED, ExitCode.NONDETERMINISM),
        ("passed error", "passed passed", "f1", DRIFTED, ExitCode.NONDETERMINISM),
        ("passed skipped", "passed passed", "", DRIFTED, ExitCode.NONDETERMINISM),
        ("passed crashed", "passed passed", "", DRIFTED, ExitCode.NONDETERMINISM),
        ("passed timed_out", "passed passed", "", DRIFTED, ExitCode.NONDETERMINISM),
        ("passed failed", "failed passed", "f1", DRIFTED, ExitCode.NONDETERMINISM),
        ("failed failed", "failed failed", "f1", DRIFTED, ExitCode.CONSISTENT_RED),
        ("failed failed", "passed passed", "f1", DRIFTED, ExitCode.COUPLING),
        ("not_run passed", "passed passed", "", DRIFTED, ExitCode.NO_VERDICT),
    ],
)
def test_only_the_kind_and_the_way_that_were_frozen_are_let_through(
    a: str, b: str, fingerprint: str, state: FreezeState, code: ExitCode
) -> None:
    gate = cells(a, b, fingerprint)
    assert judged(gate, an_entry()).state is state
    assert exit_code(gate, an_entry()) == code


def test_what_further_attempts_saw_counts_too() -> None:
    gate = cells("passed failed", "passed passed")
    further = a_cell("a", 3, runs=[a_run(T, "failed", failure=a_failure("f3"))], purpose=Purpose.CONFIRM)
    hybrid = msgspec.structs.replace(further, purpose=Purpose.HYBRID)
    findings = labels.label(gate)
    assert judging.judge({T: an_entry()}, findings, (*gate, further), SELECTED)[NodeId(T)].state is DRIFTED
    assert judging.judge({T: an_entry()}, findings, (*gate, hybrid), SELECTED)[NodeId(T)].state is LET_THROUGH
    assert judging.judge({T: an_entry((*gate, further))}, findings, (*gate, further), SELECTED)[NodeId(T)].state is LET_THROUGH


def test_a_drift_says_where_and_how() -> None:
    freeze = judged(cells("passed failed", "passed passed", "f2"), an_entry())
    assert freeze.why == "in `a` attempt 2 it fails in another way than was frozen: failed"
    assert (
        judged(cells("failed failed", "passed passed"), an_entry()).why == "frozen as `nondeterminism`, and now it is `coupling`"
    )


def test_a_hang_that_was_frozen_is_known_by_what_it_is() -> None:
    gate = cells("passed timed_out", "passed passed")
    assert judged(gate, an_entry(gate)).state is LET_THROUGH


def test_an_entry_written_by_hand_without_a_fingerprint_is_bound_to_the_kind_alone_and_that_is_said() -> None:
    fields = {"owner": "@me", "expires": "2026-12-31", "evidence": "r.json", "reason": "later"}
    entry = ledger.made(dict(fields))
    freeze = judged(cells("passed failed", "passed passed", "f9"), entry)
    assert (freeze.state, "has no fingerprint" in freeze.why) == (LET_THROUGH, True)
    assert judged(cells("passed failed", "failed passed", "f9"), entry).state is DRIFTED
    one = ledger.made({**fields, "fingerprint": "f1"})
    assert judged(cells("passed failed", "passed passed", "f9"), one).state is DRIFTED
    assert judged(cells("passed failed", "passed passed", "f1"), one).state is LET_THROUGH


RENAMED = "tests/test_a.py::test_v"


@pytest.mark.parametrize(
    ("changes", "selection", "nodeid", "state"),
    [
        ({}, SELECTED, RENAMED, UNKNOWN),
        ({}, Selection(), RENAMED, UNKNOWN),
        ({}, Selection(paths=("tests",), keyword="u"), RENAMED, NOT_RUN),
        ({}, Selection(paths=("tests",), marker="slow"), RENAMED, NOT_RUN),
        ({}, Selection(arguments=("--lf",)), RENAMED, NOT_RUN),
        ({}, Selection(paths=("tests/test_a.py::test_u",)), RENAMED, NOT_RUN),
        ({}, SELECTED, "tests/test_b.py::test_v", NOT_RUN),
        ({}, Selection(paths=("tests/test_b.py",)), "tests/test_b.py::test_v", UNKNOWN),
        ({"deselected": 1}, SELECTED, RENAMED, NOT_RUN),
        ({"status": CellStatus.CRASHED}, SELECTED, RENAMED, NOT_RUN),
        ({"excluded": {NodeId(RENAMED): "needs a GPU"}}, SELECTED, RENAMED, NOT_RUN),
        ({"running": ids(RENAMED)}, SELECTED, "tests/test_a.py::test_w", UNKNOWN),
        ({}, SELECTED, f"{T}::inner", NOT_RUN),
    ],
)
def test_an_id_is_unknown_only_where_its_whole_file_was_collected(
    changes: dict[str, Any], selection: Selection, nodeid: str, state: FreezeState
) -> None:
    assert judged(cells("passed passed", "passed passed", **changes), an_entry(), selection, nodeid).state is state


def test_a_renamed_id_is_guessed() -> None:
    freeze = judged(cells("passed passed", "passed passed"), an_entry(), nodeid="tests/test_a.py::test_uu")
    assert freeze.why == "there is no such test in its file; did you mean `tests/test_a.py::test_u`?"


def test_an_id_that_is_unknown_refuses_whatever_else_there_is() -> None:
    gate = cells("failed failed", "passed passed")
    facts = verdicts.Facts(cells=gate, varied=(), refused=("`t` is frozen: there is no such test",))
    verdict = verdicts.verdict(labels.label(gate), facts)
    assert (verdict.exit_code, verdict.line) == (5, "refused: `t` is frozen: there is no such test")


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("failed failed", "passed passed", "it is `coupling` there"),
        ("passed failed", "failed passed", "it is `nondeterminism-everywhere` there"),
        ("failed failed", "failed failed", "it is `consistent-red` there"),
        ("passed passed", "passed passed", "it is `consistent-green` there"),
        ("not_run passed", "passed passed", "it is `undecided` there"),
    ],
)
def test_nothing_but_nondeterminism_is_frozen(a: str, b: str, said: str) -> None:
    with pytest.raises(RefusedError, match=said):
        an_entry(cells(a, b))


def test_a_test_of_which_the_report_says_nothing_is_not_frozen() -> None:
    asked = evidence.Asked(nodeid="t", owner="@me", expires=date(2026, 12, 31), reason="later")
    report = evidence.Report(name="r.json", artifact=an_artifact(tests=(), excluded={NodeId("t"): "needs a GPU"}), content=b"{}")
    with pytest.raises(RefusedError, match="it is `excluded`"):
        evidence.entry(asked, report, date(2026, 12, 1))
    with pytest.raises(RefusedError, match=r"`r\.json` says nothing of `u`"):
        evidence.entry(msgspec.structs.replace(asked, nodeid="u"), report, date(2026, 12, 1))


def test_the_entry_holds_what_proves_it() -> None:
    further = a_cell("a", 3, runs=[a_run(T, "crashed")], purpose=Purpose.CONFIRM)
    entry = an_entry((*cells("passed failed", "passed passed"), further))
    assert entry.fingerprint == ("crashed", "f1")
    assert entry.fields["cells"] == {"a": {"crashed": 1, "failed": 1, "passed": 1}, "b": {"passed": 2}}
    assert entry.fields["evidence"] == "r.json sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    assert entry.fields["label"] == "nondeterminism"
    assert entry.fields["since"] == "2026-12-01"


@pytest.mark.parametrize(
    ("purpose", "word", "refused"),
    [
        (Purpose.CONFIRM, "failed", True),
        (Purpose.CONFIRM, "passed", False),
        (Purpose.HYBRID, "failed", False),
    ],
)
def test_what_confirming_cells_show_to_be_unstable_everywhere_is_not_frozen(
    purpose: Purpose, word: str, *, refused: bool
) -> None:
    run = a_run(T, word, failure=a_failure("f1") if word == "failed" else None)
    further = a_cell("b", 3, runs=[run], purpose=purpose)
    gate = cells("passed failed", "passed passed")
    if not refused:
        assert an_entry((*gate, further)).fields["label"] == "nondeterminism"
        return
    with pytest.raises(RefusedError, match="with its confirming cells it disagrees with itself in every environment"):
        an_entry((*gate, further))


@pytest.mark.parametrize(("runs", "chance"), [(2, 2), (5, 16)])
def test_how_little_the_stable_side_was_seen_is_said(runs: int, chance: int) -> None:
    said = evidence.doubt(an_entry(cells("passed failed", " ".join(["passed"] * runs))))
    assert (
        f"it ran {runs} times; a test that is unstable everywhere looks stable on one side in about one of {chance} such" in said
    )


def test_a_side_that_was_seen_often_enough_leaves_no_doubt() -> None:
    assert evidence.doubt(an_entry(cells("passed failed", " ".join(["passed"] * evidence.ENOUGH)))) == ""


def test_causes_are_looked_for_of_all_but_what_is_let_through() -> None:
    gate = cells("passed failed", "passed passed")
    both = tuple(
        msgspec.structs.replace(cell, tests=(*cell.tests, a_run("x", "failed" if cell.attempt == 1 else "passed")))
        for cell in gate
    )
    findings = labels.label(both)
    asked: list[str] = []

    def explain(known: Known) -> Confirmation:
        asked.extend(each.nodeid for each in known.confirmation.findings)
        noted = tuple(msgspec.structs.replace(each, note="looked at") for each in known.confirmation.findings)
        return Confirmation(findings=noted, cells=())

    known = Known(
        planned=Planned(plans=(), resolution=Resolution(environments=()), lacking={}, nothing={}),
        varied=frozenset(),
        gate=both,
        confirmation=Confirmation(findings=findings, cells=()),
    )
    found = explain_others(Frozen(path="ledger.json", entries={T: an_entry()}), known, explain)
    assert asked == ["tests/test_a.py::test_u", "x"]
    assert [(each.nodeid, each.note) for each in found.findings] == [
        ("tests/test_a.py::test_t", ""),
        ("tests/test_a.py::test_u", "looked at"),
        ("x", "looked at"),
    ]


def test_what_was_let_through_stays_so_while_it_is_of_that_kind() -> None:
    freezes = {NodeId(T): judged(cells("passed failed", "passed passed"), an_entry())}
    assert judging.still_let_through(freezes, labels.label(cells("passed failed", "passed passed"))) == set(ids(T))
    assert judging.still_let_through(freezes, labels.label(cells("passed failed", "passed failed"))) == set()


def test_a_freeze_whose_test_turns_out_to_be_of_another_kind_after_the_run_has_drifted() -> None:
    before = labels.label(cells("passed failed", "passed passed"))
    freezes = {NodeId(T): judged(cells("passed failed", "passed passed"), an_entry())}
    assert judging.since(freezes, before, before) == freezes
    now = judging.since(freezes, before, labels.label(cells("failed failed", "passed passed")))[NodeId(T)]
    assert (now.state, now.why) == (DRIFTED, "frozen as `nondeterminism`, and now it is `coupling`")


def test_a_freeze_that_has_drifted_is_not_let_through_by_what_turns_out_after_the_run() -> None:
    before = labels.label(cells("failed failed", "passed passed"))
    freezes = {NodeId(T): judged(cells("failed failed", "passed passed"), an_entry())}
    now = judging.since(freezes, before, labels.label(cells("passed failed", "passed passed")))[NodeId(T)]
    assert (now.state, now.why) == (DRIFTED, judging.TURNED_TO_IT)
    assert judging.still_let_through(freezes, labels.label(cells("passed failed", "passed passed"))) == set()


def twins(first: str, second: str, order: tuple[int, int] = (0, 1)) -> tuple[Cell, ...]:
    """Make a gate with two tests of one id; what is said are their outcomes in the second attempt of `a`."""
    return tuple(
        a_cell(env, attempt, runs=[a_run(T, words[each], occurrence=each, failure=FAILURE.get(words[each])) for each in order])
        for env, attempt, words in (
            ("a", 1, ("passed", "passed")),
            ("a", 2, (first, second)),
            ("b", 1, ("passed", "passed")),
            ("b", 2, ("passed", "passed")),
        )
    )


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_tests_with_one_id_the_worst_counts(order: tuple[int, int]) -> None:
    assert judged(twins("passed", "failed", order), an_entry()).state is LET_THROUGH


def test_an_id_that_two_unstable_tests_share_is_not_frozen() -> None:
    assert an_entry(twins("passed", "failed")).fingerprint == ("f1",)
    with pytest.raises(RefusedError, match="several tests have that id"):
        an_entry(twins("failed", "failed"))
