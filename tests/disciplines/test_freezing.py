"""`paritygate freeze` and what `run` refuses because of the ledger, through the real command line; no engine is needed for it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from paritygate import archive
from paritygate.classifier import labels
from paritygate.disciplines import thawing
from paritygate.outcomes.artifact import Freeze
from paritygate.outcomes.cells import NodeId
from paritygate.outcomes.words import ExitCode, FreezeState
from paritygate.reports import terminal
from tests.support.builders import a_cell, a_failure, a_far_probe, a_probe, a_run, an_artifact
from tests.support.command_line import Said, call, commit
from tests.support.samples import clean_environment, git

T = "tests/test_a.py::test_t"
LEDGER = "tests/flake_freeze.json"
NOWHERE = ("--host", "unix:///nowhere/at/all.sock")


def day(days: int) -> str:
    """Say a day from today, in UTC; far enough from today that midnight makes no difference."""
    return (datetime.now(UTC).date() + timedelta(days=days)).isoformat()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Make a repository with a report that labels one test of it `nondeterminism`, and another one coupling."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_a.py").write_text("def test_t(): pass\n", encoding="utf-8")
    red = a_run(T, "failed", failure=a_failure("f1"))
    gate = (
        a_cell("a", 1, {T: "passed", "tests/test_a.py::test_c": "passed"}),
        a_cell("a", 2, {"tests/test_a.py::test_c": "passed"}, runs=[red]),
        a_cell("b", 1, {T: "passed", "tests/test_a.py::test_c": "failed"}),
        a_cell("b", 2, {T: "passed", "tests/test_a.py::test_c": "failed"}),
    )
    archive.write(an_artifact(cells=gate, tests=labels.label(gate)), tmp_path / "report.json")
    return commit(tmp_path, new=True)


def add(project: Path, nodeid: str = T, **options: str) -> Said:
    given = {"owner": "@me", "expires": day(30), "reason": "later", "evidence": "report.json", **options}
    return call(project, "freeze", "add", nodeid, *(word for name, value in given.items() for word in (f"--{name}", value)))


def put(project: Path, **entries: Any) -> None:
    """Write a ledger by hand, all entries under the id of the test but for what is given otherwise."""
    entry = {"owner": "@me", "expires": day(30), "evidence": "report.json", "reason": "later", **entries}
    (project / LEDGER).write_text(json.dumps({T: entry}), encoding="utf-8")


def test_a_freeze_on_few_runs_says_how_few(project: Path) -> None:
    said = add(project)
    assert (said.code, "note: where it is stable it ran 2 times" in said.err) == (0, True)


def test_a_freeze_is_added_on_evidence_listed_checked_and_extended(project: Path) -> None:
    assert add(project).code == 0
    entry = json.loads((project / LEDGER).read_text(encoding="utf-8"))[T]
    assert (entry["fingerprint"], entry["cells"]) == (["f1"], {"a": {"failed": 1, "passed": 1}, "b": {"passed": 2}})
    assert entry["evidence"].startswith("report.json sha256:")
    listed = call(project, "freeze", "list").out
    assert re.search(
        rf"{entry['expires']}  (30|29) days left  @me  {re.escape(T)}\n    later \(since {entry['since']}\)\n", listed
    )
    assert call(project, "freeze", "check").out == f"1 test frozen in `{LEDGER}`, and nothing is wrong with it\n"
    first, second = day(60), day(80)
    assert call(project, "freeze", "extend", T, "--expires", first, "--reason", "hard").code == 0
    again = call(project, "freeze", "extend", T, "--expires", second)
    assert again.out == f"`{T}` is frozen until {second} instead of {first}; extended 2 times since {entry['since']}\n"
    assert "extended 2 times" in call(project, "freeze", "list").out
    steps = json.loads((project / LEDGER).read_text(encoding="utf-8"))[T]["extended"]
    assert [(step["before"], step["after"], step["reason"]) for step in steps] == [
        (entry["expires"], first, "hard"),
        (first, second, ""),
    ]


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ({"nodeid": "tests/test_a.py::test_c"}, ExitCode.REFUSED, "it is `coupling` there"),
        ({"nodeid": "tests/test_a.py::test_x"}, ExitCode.REFUSED, "says nothing of `tests/test_a.py::test_x`"),
        ({"expires": "tomorrow"}, ExitCode.USAGE, "`--expires tomorrow` is no day"),
        ({"expires": day(-2)}, ExitCode.REFUSED, "is over"),
        ({"expires": day(95)}, ExitCode.REFUSED, "days away, and 90 are the most"),
        ({"owner": " "}, ExitCode.USAGE, "`--owner` says nothing"),
        ({"reason": ""}, ExitCode.USAGE, "`--reason` says nothing"),
        ({"evidence": "tests/test_a.py"}, ExitCode.USAGE, "is no report of paritygate: line 1, column 1: it is not JSON"),
        ({"evidence": "nothing.json"}, ExitCode.USAGE, "does not exist"),
    ],
)
def test_what_must_not_be_frozen_is_refused_and_nothing_is_written(
    project: Path, options: dict[str, str], code: ExitCode, said: str
) -> None:
    ended = add(project, **options)
    assert (ended.code, said in ended.err, (project / LEDGER).exists()) == (code, True, False), ended.err


def test_what_is_frozen_is_not_frozen_again_nor_extended_backwards(project: Path) -> None:
    assert add(project).code == 0
    assert "is frozen already" in add(project).err
    assert "give a later day" in call(project, "freeze", "extend", T, "--expires", day(20)).err
    assert f"`{T}t` is not frozen; did you mean `{T}`?" in call(project, "freeze", "extend", f"{T}t", "--expires", day(20)).err
    assert "`tests/x.py::t` is not frozen" in call(project, "freeze", "extend", "tests/x.py::t", "--expires", day(20)).err


def test_a_freeze_is_handed_to_another_owner_without_moving_its_end(project: Path) -> None:
    assert add(project).code == 0
    (project / ".github").mkdir()
    (project / ".github" / "CODEOWNERS").write_text("* @somebody\n", encoding="utf-8")
    refused = call(project, "freeze", "check")
    assert (refused.code, "`freeze extend` (with `--owner` for another owner)" in refused.err) == (ExitCode.REFUSED, True)
    handed = call(project, "freeze", "extend", T, "--owner", "@somebody")
    assert (handed.code, handed.out) == (0, f"`@somebody` answers for `{T}` instead of `@me`\n")
    entry = json.loads((project / LEDGER).read_text(encoding="utf-8"))[T]
    assert (entry["owner"], "extended" in entry) == ("@somebody", False)
    assert call(project, "freeze", "check").code == 0
    assert call(project, "freeze", "extend", T, "--owner", "@nobody").code == ExitCode.REFUSED
    assert "takes `--expires`" in call(project, "freeze", "extend", T).err
    assert call(project, "freeze", "extend", T, "--owner", "@somebody", "--reason", "x").code == ExitCode.USAGE


def test_a_reason_of_several_lines_is_listed_in_one(project: Path) -> None:
    put(project, reason="a\n::error::b\r\nc")
    assert "    a ::error::b c (since an unknown day)\n" in call(project, "freeze", "list").out


def test_a_ledger_that_is_no_json_is_to_be_mended_by_hand(project: Path) -> None:
    (project / LEDGER).write_text("{,}", encoding="utf-8")
    for words in (("freeze", "check"), ("run", "--host", "unix:///nowhere/at/all.sock")):
        said = call(project, *words)
        assert (said.code, "mend it by hand first" in said.err, "freeze extend" in said.err) == (ExitCode.REFUSED, True, False)


def test_the_longest_freeze_is_a_setting(project: Path) -> None:
    (project / "paritygate.toml").write_text("freeze-days = 10\n", encoding="utf-8")
    assert "days away, and 10 are the most" in add(project).err
    assert add(project, expires=day(9)).code == 0


def test_an_owner_has_to_be_in_codeowners_where_there_is_one(project: Path) -> None:
    (project / ".github").mkdir()
    (project / ".github" / "CODEOWNERS").write_text("* @somebody\n", encoding="utf-8")
    refused = add(project)
    assert (refused.code, "its owner `@me` is not in CODEOWNERS" in refused.err) == (ExitCode.REFUSED, True)
    assert add(project, owner="Somebody").code == 0


@pytest.mark.parametrize(
    ("ledger", "said"),
    [
        ("{", "it is not JSON"),
        ('{"tests/test_a.py::test_t": 3}', "`tests/test_a.py::test_t`: expected an object with `owner`"),
        ({"expires": day(-2)}, f"`{T}`: the freeze expired on "),
        ({"expires": "soon"}, f"`{T}`: `expires` is `soon`"),
        ({"expires": day(200)}, "90 are the most"),
        ({"label": "coupling"}, "only `nondeterminism` may be frozen"),
        ({"owner": ""}, "`owner` is empty"),
    ],
)
def test_a_run_refuses_a_ledger_that_cannot_be_relied_upon_before_it_asks_for_an_engine(
    project: Path, ledger: str | dict[str, Any], said: str
) -> None:
    if isinstance(ledger, str):
        (project / LEDGER).write_text(ledger, encoding="utf-8")
    else:
        put(project, **ledger)
    for command in (("run", *NOWHERE), ("freeze", "check")):
        ended = call(project, *command)
        assert (ended.code, said in ended.err) == (ExitCode.REFUSED, True), ended.err
        assert "hint: " in ended.err
    assert not (project / "parity_report.json").exists()


def test_a_run_with_a_ledger_that_holds_goes_on_to_the_engine(project: Path) -> None:
    put(project)
    assert call(project, "run", *NOWHERE).code == ExitCode.NO_VERDICT


def test_a_test_whose_file_is_gone_is_refused(project: Path) -> None:
    put(project)
    (project / "tests" / "test_a.py").rename(project / "tests" / "test_b.py")
    ended = call(project, "run", *NOWHERE)
    assert (ended.code, f"`{T}`: there is no file `tests/test_a.py`" in ended.err) == (ExitCode.REFUSED, True)


def test_ids_count_from_the_top_of_the_repository_wherever_the_project_is(project: Path) -> None:
    (project / "inner" / "tests").mkdir(parents=True)
    (project / "inner" / LEDGER).write_text(
        json.dumps({T: {"owner": "me", "expires": day(9), "evidence": "r", "reason": "later"}}), encoding="utf-8"
    )
    assert call(project / "inner", "freeze", "check").code == 0
    (project / "tests" / "test_a.py").unlink()
    assert call(project / "inner", "freeze", "check").code == ExitCode.REFUSED


def test_a_patch_cannot_excuse_itself(project: Path) -> None:
    put(project, owner="@kept")
    commit(project)
    git(project, "switch", "--quiet", "--create", "patch")
    put(project, owner="@kept", expires="soon")
    commit(project)
    git(project, "switch", "--quiet", "main")
    (project / "other.txt").write_text("main has moved on\n", encoding="utf-8")
    commit(project)
    git(project, "switch", "--quiet", "patch")
    assert call(project, "freeze", "check").code == ExitCode.REFUSED
    assert call(project, "freeze", "check", "--ledger-from", "main").code == 0
    assert call(project, "run", "--ledger-from", "main", *NOWHERE).code == ExitCode.NO_VERDICT
    put(project, reason="a better one")
    said = call(project, "run", "--ledger-from", "main", *NOWHERE).err
    assert f"not in force, since the merge base does not have them so: `{T}`" in said


OVER, LEFT, LATER = day(-2), day(30), day(60)


@pytest.mark.parametrize(
    ("before", "now", "code", "frozen"),
    [
        ({"expires": LEFT}, {"expires": LEFT}, 0, 1),
        ({"expires": LEFT}, {"expires": LATER}, 0, 1),
        ({"expires": LEFT}, None, 0, 0),
        ({"expires": OVER}, {"expires": OVER}, 5, 0),
        ({"expires": OVER}, {"expires": LEFT}, 0, 0),
        ({"expires": OVER}, None, 0, 0),
        ({"owner": ""}, {"owner": ""}, 5, 0),
        ({"owner": ""}, {"owner": "@me"}, 0, 0),
    ],
)
def test_a_patch_may_thaw_and_mend_what_the_merge_base_has(
    project: Path, before: dict[str, str], now: dict[str, str] | None, code: int, frozen: int
) -> None:
    put(project, **before)
    commit(project)
    git(project, "switch", "--quiet", "--create", "patch")
    if now is None:
        (project / LEDGER).write_text("{}", encoding="utf-8")
    else:
        put(project, **now)
    ended = call(project, "freeze", "check", "--ledger-from", "main")
    assert ended.code == code, ended.err
    assert ended.out.startswith(f"{frozen} test") == (code == 0)


@pytest.mark.parametrize(("before", "now", "code"), [("{", "{", 5), ("{", "{}", 0), ("{}", "{", 0), ("{", "", 5)])
def test_a_patch_may_mend_a_ledger_that_cannot_be_read(project: Path, before: str, now: str, code: int) -> None:
    (project / LEDGER).write_text(before, encoding="utf-8")
    commit(project)
    git(project, "switch", "--quiet", "--create", "patch")
    (project / LEDGER).write_text(now, encoding="utf-8")
    assert call(project, "freeze", "check", "--ledger-from", "main").code == code


def test_a_patch_may_remove_a_frozen_test_with_its_entry(project: Path) -> None:
    put(project)
    commit(project)
    git(project, "switch", "--quiet", "--create", "patch")
    (project / "tests" / "test_a.py").unlink()
    assert call(project, "freeze", "check", "--ledger-from", "main").code == ExitCode.REFUSED
    (project / LEDGER).unlink()
    assert call(project, "freeze", "check", "--ledger-from", "main").code == 0


def test_without_a_ledger_at_the_merge_base_nothing_is_frozen(project: Path) -> None:
    git(project, "switch", "--quiet", "--create", "patch")
    put(project)
    commit(project)
    assert call(project, "freeze", "check", "--ledger-from", "main").out.startswith("0 tests frozen")


@pytest.mark.parametrize("ref", ["nowhere", "--help", "unrelated"])
def test_a_branch_that_tells_of_no_merge_base_is_a_usage_error(project: Path, ref: str) -> None:
    git(project, "switch", "--quiet", "--orphan", "unrelated")
    git(project, "commit", "--quiet", "--allow-empty", "--message=Nothing in common")
    git(project, "switch", "--quiet", "main")
    ended = call(project, "freeze", "check", "--ledger-from", ref)
    assert (ended.code, "`--ledger-from`" in ended.err, "hint: " in ended.err) == (ExitCode.USAGE, True, True)


def test_pruning_removes_what_is_over_or_gone_and_thaws_what_was_stable(project: Path) -> None:
    entry = {"owner": "me", "evidence": "r", "reason": "later", "kept": ["as it is"]}
    ids = {"over": day(-3), "left": day(9), "stable": day(8), "gone": day(7)}
    files = {name: "tests/test_x.py" if name == "gone" else "tests/test_a.py" for name in ids}
    entries = {f"{files[name]}::{name}": {**entry, "expires": expires} for name, expires in ids.items()}
    (project / LEDGER).write_text(json.dumps(entries), encoding="utf-8")
    (project / ".paritygate").mkdir()
    streaks = {
        "tests/test_a.py::stable": {"expires": ids["stable"], "gates": 5},
        "tests/test_a.py::left": {"expires": ids["stable"], "gates": 5},
    }
    (project / ".paritygate" / "freezes.json").write_text(json.dumps(streaks), encoding="utf-8")
    assert "stable in 5 gates in a row" in call(project, "freeze", "list").out
    assert call(project, "freeze", "prune", "--stable").out.splitlines() == [
        f"removed `tests/test_a.py::over`, which expired on {ids['over']}",
        "thawed `tests/test_a.py::stable`, stable in 5 gates in a row",
        "removed `tests/test_x.py::gone`, whose file is gone",
    ]
    left = json.loads((project / LEDGER).read_text(encoding="utf-8"))
    assert left == {"tests/test_a.py::left": {**entry, "expires": ids["left"]}}
    assert call(project, "freeze", "prune").out == ""


def test_entries_are_removed_by_their_ids_whatever_becomes_of_the_tests(project: Path) -> None:
    entry = {"owner": "me", "evidence": "r", "reason": "later", "expires": day(9), "kept": ["as it is"]}
    faulty = {"owner": ""}
    ids = ("tests/test_a.py::gone[a b]", "tests/test_a.py::test_t", "tests/test_a.py::test_wrong")
    (project / LEDGER).write_text(json.dumps({ids[0]: entry, ids[1]: entry, ids[2]: faulty}), encoding="utf-8")
    assert "take the entry out with `paritygate freeze remove NODEID`" in call(project, "freeze", "prune").err
    removed = call(project, "freeze", "remove", ids[0], ids[2], ids[0])
    assert (removed.code, removed.out) == (0, f"removed `{ids[0]}`\nremoved `{ids[2]}`\n")
    assert removed.err == f"1 test frozen in `{LEDGER}`\n"
    assert json.loads((project / LEDGER).read_text(encoding="utf-8")) == {ids[1]: entry}


def test_an_id_that_is_not_frozen_is_answered_with_a_near_one_and_nothing_is_removed(project: Path) -> None:
    put(project)
    before = (project / LEDGER).read_bytes()
    ended = call(project, "freeze", "remove", T, f"{T}t", "x")
    assert (ended.code, (project / LEDGER).read_bytes()) == (ExitCode.USAGE, before)
    assert f"not frozen: `{T}t`; did you mean `{T}`?, `x`" in ended.err
    (project / LEDGER).unlink()
    assert call(project, "freeze", "remove", T).code == ExitCode.USAGE
    assert call(project, "freeze", "remove").code == ExitCode.USAGE
    (project / LEDGER).write_text("{", encoding="utf-8")
    assert call(project, "freeze", "remove", T).code == ExitCode.REFUSED


def test_a_run_that_finds_no_such_test_says_the_command_that_takes_the_entry_out(project: Path) -> None:
    nodeid = "tests/test_a.py::test_gone[a b]"
    entry = {"owner": "@me", "expires": day(30), "evidence": "report.json", "reason": "later"}
    (project / LEDGER).write_text(json.dumps({nodeid: entry}), encoding="utf-8")
    probes = {"a": a_far_probe(), "b": a_probe()}
    gate = tuple(a_cell(env, attempt, {T: "passed"}, probe=probes[env]) for env in "ab" for attempt in (1, 2))
    archive.write(an_artifact(cells=gate, tests=labels.label(gate)), project / "green.json")
    ended = call(project, "classify", "green.json", "--freezes-of", ".")
    assert ended.code == ExitCode.REFUSED, ended.out + ended.err
    (command,) = set(re.findall(r"take the entry out: `([^`]*)`", ended.out))
    assert command == f"paritygate freeze remove '{nodeid}'"
    assert call(project, *shlex.split(command)[1:]).code == 0
    assert call(project, "classify", "green.json", "--freezes-of", ".").code == ExitCode.PARITY


def test_a_check_says_what_it_cannot_know_and_which_entries_are_bound_to_no_failure(project: Path) -> None:
    put(project)
    unbound = f"note: `{T}`: the entry has no fingerprint, so that any failure would do; `paritygate freeze add` records one\n"
    unknown = "note: whether their files still hold these tests only a run can say, after its cells\n"
    assert call(project, "freeze", "check").err == unbound + unknown
    put(project, cells={"a": ["failed", "passed"]})
    assert call(project, "freeze", "check").err == unbound + unknown
    put(project, cells={"a": ["skipped", "passed"]})
    assert call(project, "freeze", "check").err == unknown
    (project / LEDGER).unlink()
    assert add(project).code == 0
    assert call(project, "freeze", "check").err == unknown
    (project / LEDGER).unlink()
    assert call(project, "freeze", "check").err == ""


@pytest.mark.parametrize(("content", "hint"), [("{", "mend it by hand first"), ('{"a::b": 3}', "freeze remove NODEID")])
def test_a_list_of_what_cannot_be_read_is_refused(project: Path, content: str, hint: str) -> None:
    (project / LEDGER).write_text(content, encoding="utf-8")
    ended = call(project, "freeze", "list")
    assert (ended.code, ended.out, "0 tests frozen" in ended.err) == (ExitCode.REFUSED, "", False)
    assert ended.err.startswith(f"paritygate: 1 problem in `{LEDGER}`:\n")
    assert hint in ended.err.splitlines()[-1]


def test_what_can_be_read_is_listed_before_what_cannot(project: Path) -> None:
    entry = {"owner": "@me", "expires": day(30), "evidence": "report.json", "reason": "later"}
    (project / LEDGER).write_text(json.dumps({T: entry, "a::b": 3}), encoding="utf-8")
    ended = call(project, "freeze", "list")
    assert (ended.code, T in ended.out, "`a::b`: expected an object" in ended.err) == (ExitCode.REFUSED, True, True)


def test_a_ledger_with_faults_is_not_changed(project: Path) -> None:
    put(project, owner="")
    before = (project / LEDGER).read_bytes()
    for command in (("prune",), ("extend", T, "--expires", day(9))):
        assert call(project, "freeze", *command).code == ExitCode.REFUSED
    assert (project / LEDGER).read_bytes() == before


def a_freeze(state: FreezeState, expires: date = date(2026, 12, 31)) -> dict[NodeId, Freeze]:
    return {NodeId(T): Freeze(owner="me", expires=expires.isoformat(), reason="later", state=state)}


def test_gates_in_a_row_are_counted_until_something_diverges_or_the_entry_is_another(tmp_path: Path) -> None:
    counts = []
    for state in (FreezeState.STABLE, FreezeState.NOT_RUN, FreezeState.STABLE, FreezeState.LET_THROUGH, FreezeState.STABLE):
        freezes = thawing.counted(a_freeze(state), thawing.recall(tmp_path))
        thawing.remember(tmp_path, freezes)
        counts.append(freezes[NodeId(T)].stable)
    assert counts == [1, 1, 2, 0, 1]
    assert thawing.counted(a_freeze(FreezeState.STABLE, date(2027, 1, 1)), thawing.recall(tmp_path))[NodeId(T)].stable == 1
    enough = {NodeId(T): msgspec.structs.replace(a_freeze(FreezeState.STABLE)[NodeId(T)], stable=3)}
    assert (thawing.proposals(enough, 3), thawing.proposals(enough, 4)) == ((T,), ())


def test_a_memory_that_cannot_be_read_counts_as_none(tmp_path: Path) -> None:
    (tmp_path / ".paritygate").mkdir()
    (tmp_path / ".paritygate" / "freezes.json").write_text("[", encoding="utf-8")
    assert thawing.recall(tmp_path) == {}


def test_a_selection_that_is_all_excluded_is_no_verdict(project: Path) -> None:
    reasons = {NodeId("tests/test_a.py::test_t"): "needs a GPU", NodeId("tests/test_a.py::test_u"): "needs a licence"}
    gate = tuple(a_cell(env, attempt, excluded=reasons) for env in "ab" for attempt in (1, 2))
    archive.write(an_artifact(cells=gate, tests=()), project / "excluded.json")
    ended = call(project, "classify", "excluded.json")
    assert ended.code == ExitCode.NO_VERDICT
    assert "no test was run: 2 tests excluded, and there are no others" in ended.out
    assert "excluded (2):\n  tests/test_a.py::test_t: needs a GPU\n  tests/test_a.py::test_u: needs a licence\n" in ended.out


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('exclude = { gpu = "" }', "`exclude.gpu`: say why"),
        ('exclude = { "not slow" = "takes long" }', "a marker is a name as Python has them"),
        ("exclude = { gpu = true }", "`exclude.gpu`: expected text, got `true`"),
        ('exclude = ["gpu"]', "`exclude`: expected a table of texts"),
        ("freeze-days = 0", "`freeze-days`: expected a whole number from 1 up"),
        ('freezes = ""', "`freezes`: expected the path of a file, got nothing"),
        ('lock = ""', "`lock`: expected the path of a file, got nothing"),
        ('locked = "tests"', "`locked`: expected an array of texts"),
    ],
)
def test_settings_that_cannot_be_are_named(project: Path, settings: str, said: str) -> None:
    (project / "paritygate.toml").write_text(f"{settings}\n", encoding="utf-8")
    ended = call(project, "freeze", "check")
    assert (ended.code, said in ended.err) == (ExitCode.USAGE, True), ended.err


def test_every_report_lists_frozen_tests_with_who_answers_until_when_and_what_became_of_them() -> None:
    some = Freeze(owner="@me", expires="2026-12-31", reason="later", extended=2, state=FreezeState.DRIFTED, why="now `coupling`")
    other = Freeze(owner="@you", expires="2027-01-01", reason="never\n", state=FreezeState.STABLE)
    shown = terminal.render(an_artifact(freezes={NodeId("t"): some, NodeId("u\x1b"): other}))
    assert (
        "frozen (2):\n"
        "  t: does otherwise than was frozen, and blocks (now `coupling`)\n"
        "    until 2026-12-31, @me: later; extended 2 times\n"
        "  u\\x1b: green and equal this time\n"
        "    until 2027-01-01, @you: never\\n\n"
    ) in shown


AT = """\
import sys
from datetime import UTC, datetime

from paritygate.cli import freezes
from paritygate.cli.main import main


class At(datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.fromisoformat("{moment}").astimezone(tz)


freezes.datetime = At
main(sys.argv[1:])
"""
"""The real command line in a process of its own, whose clock stands."""


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
@pytest.mark.parametrize(
    ("moment", "code"),
    [
        ("2026-03-29T00:00:00+00:00", ExitCode.PARITY),
        ("2026-03-29T23:59:59+00:00", ExitCode.PARITY),
        ("2026-03-30T00:00:00+00:00", ExitCode.REFUSED),
    ],
)
def test_the_last_day_ends_at_the_same_moment_in_every_zone(project: Path, zone: str, moment: str, code: ExitCode) -> None:
    put(project, expires="2026-03-29")
    environment = {**clean_environment(), "TZ": zone}
    environment.pop("CI", None)
    command = [sys.executable, "-c", AT.replace("{moment}", moment), "freeze", "check"]
    ended = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == code, ended.stdout + ended.stderr
    assert ("the freeze expired on 2026-03-29, 1 day ago" in ended.stderr) == (code is ExitCode.REFUSED), ended.stderr


def test_cells_that_were_run_apart_are_held_against_the_ledger_where_that_is_asked_for(project: Path) -> None:
    assert call(project, "classify", "report.json").code == ExitCode.NONDETERMINISM
    assert add(project).code == 0
    coupled = call(project, "classify", "report.json", "--freezes-of", ".", "--report", "held.json")
    held = archive.read(project / "held.json")
    assert coupled.code == ExitCode.COUPLING, coupled.out  # what is not frozen still blocks
    assert held.freezes[NodeId(T)].state is FreezeState.LET_THROUGH
    put(project, expires=day(-2))
    refused = call(project, "classify", "report.json", "--freezes-of", ".")
    assert refused.code == ExitCode.REFUSED
    assert "is over" in refused.err or "expired" in refused.err
