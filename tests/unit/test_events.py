"""Bytes of a launcher become a cell, whatever they went through on the way."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from paritygate.events.ending import Ending
from paritygate.events.listener import Listener
from paritygate.events.stream import Lines
from paritygate.outcomes.cells import Cell, Dates, EnvironmentName, FilesystemFacts, NodeId, Spelling, TestId, TestRun
from paritygate.outcomes.plans import CellPlan, Environment, Limits, Order, Progress, Selection
from paritygate.outcomes.words import CellStatus, Outcome, Purpose, RunnerName, Worktree

NONCE = "c0ffee"
DIED = Ending(runner=RunnerName.DOCKER, exit_code=137)
ENDED = Ending(runner=RunnerName.DOCKER, exit_code=0, started="2026-03-01T12:00:00Z", seconds=9.5)
PROBE = {
    **dict.fromkeys(("python", "implementation", "platform", "libc", "tzdata", "timezone", "locale", "encoding"), "x"),
    **dict.fromkeys(
        ("local_date", "utc_date", "decimal_point", "hash_seed", "home", "hostname", "capabilities", "sentinel"), "x"
    ),
    **dict.fromkeys(("utcoffset_january", "utcoffset_july", "memory", "hash_of_string", "uid", "gid", "umask"), 1),
    **dict.fromkeys(("utf8_mode", "no_new_privileges"), False),
    **{key: [] for key in ("collation", "case_sensitive", "variables")},
    "cpus": 1.5,
    "limits": {"nofile": [1024, -1]},
    "filesystems": {"tmp": "ext4"},
    "distributions": [{"name": "pytest", "version": "8.3"}],
}
FAILURE = {"phase": "call", "exception": "AssertionError", "message": "no", "fingerprint": "f"}
BEGIN: list[dict[str, Any]] = [{"e": "start", "protocol": 1, "probe": PROBE, "dates": ["2026-03-02", "2026-03-01"], "t": 1.0}]
END: dict[str, Any] = {
    "e": "end",
    "returncode": 1,
    "signal": "",
    "why": "finished",
    "dates": ["2026-03-02", "2026-03-01"],
    "seconds": 4.0,
}


def a_plan(workers: int = 0) -> CellPlan:
    environment = Environment(
        name=EnvironmentName("server-like"),
        timezone="UTC",
        locale="C.UTF-8",
        case_sensitive=True,
        workers=workers,
        worktree=Worktree.CLEAN,
    )
    return CellPlan(
        environment=environment,
        attempt=2,
        seed=7,
        order=Order(seed=7),
        purpose=Purpose.GATE,
        selection=Selection(),
        limits=Limits(),
    )


def collected(*names: str) -> dict[str, Any]:
    return {
        "e": "collected",
        "tests": [[name, 0] for name in names],
        "deselected": 2,
        "excluded": {"t::gpu": "no card"},
        "unstable_ids": ["t::x"],
    }


def begun(name: str, worker: str = "", **more: Any) -> dict[str, Any]:
    return {"e": "test-start", "nodeid": name, "occurrence": 0, "worker": worker, **more}


def decided(name: str, outcome: str = "passed", worker: str = "", **more: Any) -> dict[str, Any]:
    return {
        "e": "test",
        "nodeid": name,
        "occurrence": 0,
        "worker": worker,
        "outcome": outcome,
        "seconds": 0.5,
        "failure": None,
        **more,
    }


def lines(events: Iterable[dict[str, Any]]) -> list[bytes]:
    return [json.dumps({"n": NONCE, "s": number, **event}).encode() + b"\n" for number, event in enumerate(events)]


def heard(*events: dict[str, Any]) -> Listener:
    listener = Listener(a_plan(), NONCE)
    listener.stdout(b"".join(lines(events)))
    return listener


def cell_of(*events: dict[str, Any], ending: Ending = ENDED) -> Cell:
    return heard(*events).cell(ending)


GREEN = [
    *BEGIN,
    collected("t::a", "t::b"),
    begun("t::a", t=1.25),
    decided("t::a"),
    begun("t::b"),
    decided("t::b", "skipped", reason="no gpu"),
]
FINISH: dict[str, Any] = {"e": "finish", "exit": 0, "collected": 2, "counts": {}}


def test_a_green_stream_becomes_a_finished_cell() -> None:
    cell = cell_of(*GREEN, FINISH, {**END, "returncode": 0})
    assert (cell.status, cell.passed, cell.returncode, cell.detail) == (CellStatus.FINISHED, True, 0, "")
    assert (cell.env, cell.attempt, cell.seed, cell.runner, cell.purpose) == (
        "server-like",
        2,
        7,
        RunnerName.DOCKER,
        Purpose.GATE,
    )
    assert (cell.started, cell.seconds, cell.overhead) == ("2026-03-01T12:00:00Z", 9.5, 0.25)
    assert (cell.collected, cell.deselected, cell.excluded, cell.unstable_ids) == (2, 2, {"t::gpu": "no card"}, ("t::x",))
    assert cell.tests == (
        TestRun(nodeid=NodeId("t::a"), outcome=Outcome.PASSED, began=1.25, seconds=0.5),
        TestRun(nodeid=NodeId("t::b"), outcome=Outcome.SKIPPED, seconds=0.5, reason="no gpu"),
    )
    assert cell.order == {"": (TestId(NodeId("t::a")), TestId(NodeId("t::b")))}
    assert cell.dates == (Dates("2026-03-02", "2026-03-01"), Dates("2026-03-02", "2026-03-01"))
    assert cell.probe is not None
    assert cell.probe.limits == {"nofile": (1024, -1)}


def test_bytes_may_be_cut_anywhere() -> None:
    whole = heard(*GREEN, decided("t::\u00e9\u20ac"), FINISH, END).cell(ENDED)
    listener = Listener(a_plan(), NONCE)
    raw = b"".join(
        json.dumps({"n": NONCE, "s": number, **event}, ensure_ascii=False).encode() + b"\n"
        for number, event in enumerate([*GREEN, decided("t::\u00e9\u20ac"), FINISH, END])
    )
    for position in range(len(raw)):
        listener.stdout(raw[position : position + 1])
    assert listener.cell(ENDED) == whole
    assert whole.tests[2].nodeid == "t::\u00e9\u20ac"


@pytest.mark.parametrize(
    "junk",
    [
        b"hello\n",
        b"\xff\xfe\x00\n",
        b"{\n",
        b"[]\n",
        b"null\n",
        b"\n",
        b'{"e":"end"}\n',
        b'{"n":"c0ffee","s":"1","e":"alive"}\n',
        b'{"n":"other","s":4,"e":"test","nodeid":"t::b","outcome":"failed"}\n',
        b'{"n":"c0ffee","s":-1,"e":"test","nodeid":"t::b","outcome":"failed"}\n',
        b"[" * 100_000 + b"\n",
    ],
)
def test_foreign_lines_change_nothing(junk: bytes) -> None:
    whole = lines([*GREEN, FINISH, END])
    listener = Listener(a_plan(), NONCE)
    listener.stdout(junk.join([b"", *whole]))
    assert listener.cell(ENDED) == cell_of(*GREEN, FINISH, END)


def test_an_unknown_kind_counts_as_a_line_and_means_nothing() -> None:
    cell = cell_of(*GREEN, {"e": "weather", "degrees": 20}, FINISH, END)
    assert cell == cell_of(*GREEN, FINISH, END)


def test_half_a_surrogate_pair_in_an_id_does_not_lose_the_test() -> None:
    cell = cell_of(*BEGIN, collected("t::\ud800"), begun("t::\ud800"), decided("t::\ud800"), FINISH, END)
    assert cell.status is CellStatus.FINISHED
    assert [run.nodeid for run in cell.tests] == ["t::\\ud800"]


def test_a_stream_that_is_read_again_from_its_beginning_counts_once() -> None:
    whole = lines([*GREEN, FINISH, END])
    listener = Listener(a_plan(), NONCE)
    listener.stdout(b"".join(whole[:4]) + whole[4][:10])
    listener.stderr(b"first\n")
    listener.replay()
    listener.stdout(b"".join(whole))
    listener.stderr(b"again\n")
    assert listener.cell(ENDED) == msgspec.structs.replace(cell_of(*GREEN, FINISH, END), stderr_tail="again\n")
    assert listener.progress.done == 2


def test_a_missing_event_leaves_no_verdict() -> None:
    whole = lines([*GREEN, FINISH, END])
    listener = Listener(a_plan(), NONCE)
    listener.stdout(b"".join(whole[:2] + whole[4:]))
    cell = listener.cell(ENDED)
    assert (cell.status, cell.passed, cell.detail) == (
        CellStatus.CRASHED,
        False,
        "the record is not whole: events 2 to 3 are missing",
    )


def test_an_event_that_is_not_understood_leaves_no_verdict() -> None:
    cell = cell_of(*GREEN, decided("t::c", "exploded"), FINISH, END)
    assert cell.status is CellStatus.CRASHED
    assert cell.detail.startswith("the record is not whole: event 6 (`test`) is not understood: Invalid enum value 'exploded'")


def test_of_two_results_for_one_test_the_first_counts() -> None:
    cell = cell_of(*BEGIN, collected("t::a"), begun("t::a"), decided("t::a", "timed_out"), decided("t::a"), FINISH, END)
    assert [run.outcome for run in cell.tests] == [Outcome.TIMED_OUT]
    assert not cell.passed


def test_a_line_over_the_cap_is_dropped_and_the_next_is_not() -> None:
    reader = Lines(cap=10)
    assert reader.feed(b"short\n" + b"x" * 8) == [b"short"]
    assert reader.feed(b"y" * 8) == []
    assert reader.feed(b"z\nnext\n") == [b"next"]
    assert reader.dropped == 1


def test_a_red_test_does_not_make_a_cell_less_finished() -> None:
    cell = cell_of(*BEGIN, collected("t::a"), begun("t::a"), decided("t::a", "failed", failure=FAILURE), FINISH, END)
    assert (cell.status, cell.passed, cell.returncode) == (CellStatus.FINISHED, False, 1)
    assert cell.tests[0].failure is not None
    assert cell.tests[0].failure.exception == "AssertionError"


def test_a_file_that_could_not_be_collected_is_an_error_of_that_file() -> None:
    broken = {"e": "collect-error", "nodeid": "test_b.py", "failure": FAILURE}
    cell = cell_of(*BEGIN, broken, collected("t::a"), begun("t::a"), decided("t::a"), FINISH, END)
    assert (cell.status, cell.passed) == (CellStatus.FINISHED, False)
    assert [(run.nodeid, run.outcome) for run in cell.tests] == [("test_b.py", Outcome.ERROR), ("t::a", Outcome.PASSED)]


def test_a_file_that_skips_itself_is_a_skip_of_that_file() -> None:
    skip = {"e": "collect-skip", "nodeid": "test_b.py", "reason": "needs a database"}
    cell = cell_of(*BEGIN, skip, collected(), {**FINISH, "exit": 5}, {**END, "returncode": 5})
    assert (cell.status, cell.passed) == (CellStatus.FINISHED, True)
    assert cell.tests == (TestRun(nodeid=NodeId("test_b.py"), outcome=Outcome.SKIPPED, reason="needs a database"),)


def test_a_dead_cell_leaves_its_tests_undecided_and_keeps_what_finished() -> None:
    events = [*BEGIN, collected("t::a", "t::b", "t::c"), begun("t::a"), decided("t::a"), begun("t::b")]
    cell = cell_of(*events, ending=DIED)
    assert cell.status is CellStatus.CRASHED
    assert cell.running == (TestId(NodeId("t::b")),)
    assert [(run.nodeid, run.outcome) for run in cell.tests] == [("t::a", Outcome.PASSED), ("t::c", Outcome.NOT_RUN)]
    assert (cell.passed, cell.returncode) == (False, None)


def test_pytest_that_stops_before_its_last_test_is_not_finished() -> None:
    cell = cell_of(*BEGIN, collected("t::a", "t::b"), begun("t::a"), decided("t::a"), FINISH, {**END, "returncode": 0})
    assert (cell.status, cell.passed) == (CellStatus.CRASHED, False)
    assert cell.detail == "pytest ended early with exit status 0 after `t::a`, 1 of 2 tests are decided"


@pytest.mark.parametrize(
    ("why", "detail"),
    [
        ("cell-timeout", "the cell was over its limit, 1 of 2 tests are decided"),
        ("idle", "nothing happened for longer than the idle limit, 1 of 2 tests are decided"),
        ("too-many-timeouts", "a fourth test was over its limit, 1 of 2 tests are decided"),
    ],
)
def test_limits_make_a_cell_timed_out(why: str, detail: str) -> None:
    cell = cell_of(*BEGIN, collected("t::a", "t::b"), begun("t::a"), decided("t::a"), {**END, "why": why, "returncode": None})
    assert (cell.status, cell.detail) == (CellStatus.TIMED_OUT, detail)


@pytest.mark.parametrize("code", [1, 2, 3, 4])
def test_a_pytest_that_refuses_before_collection_is_unusable(code: int) -> None:
    listener = heard(*BEGIN, {**END, "returncode": code})
    listener.stderr(b"usage: pytest\n\npytest: error: unrecognized arguments: --frobnicate\n=======\n")
    cell = listener.cell(ENDED)
    assert cell.status is CellStatus.UNUSABLE
    assert cell.detail == (
        f"pytest did not start (exit status {code}): usage: pytest\npytest: error: unrecognized arguments: --frobnicate"
        if code != 4
        else "ERROR: unrecognized arguments: --frobnicate"
    )


def test_what_pytest_cannot_be_asked_is_said_once_and_leaves_no_test() -> None:
    broken = {"e": "collect-error", "nodeid": "test_b.py", "failure": FAILURE}
    finish = {**FINISH, "exit": 4, "why": "Wrong expression passed to '-k': and"}
    listener = heard(*BEGIN, broken, finish, {**END, "returncode": 4})
    listener.stderr(b"ERROR: what a plugin logged\nERROR: Wrong expression passed to '-k': and\n")
    cell = listener.cell(ENDED)
    assert (cell.status, cell.detail) == (CellStatus.UNUSABLE, "ERROR: Wrong expression passed to '-k': and")


def test_a_session_that_ends_before_there_are_tests_says_what_ended_it() -> None:
    cell = cell_of(*BEGIN, {**FINISH, "exit": 2, "why": 'pytest.exit("bye")'}, {**END, "returncode": 2})
    assert cell.detail == 'pytest ended before there were tests (exit status 2): pytest.exit("bye")'


def test_what_was_asked_for_and_not_found_is_listed_once() -> None:
    lost = [{"e": "collect-missing", "nodeid": f"t::{name}"} for name in "abcda"]
    cell = cell_of(*BEGIN, *lost, collected(), {**FINISH, "exit": 5}, {**END, "returncode": 5})
    assert cell.missing == ("t::a", "t::b", "t::c", "t::d")
    assert (cell.status, cell.detail) == (CellStatus.NO_TESTS, "not found: `t::a`, `t::b`, `t::c` and 1 more")


def test_tests_that_only_some_workers_have_are_known_too() -> None:
    share = {"e": "partition", "workers": {"gw0": [["t::a", 0]], "gw1": [["t::x1", 0], ["t::x2", 0]]}, "uneven": [["t::x2", 0]]}
    listener = heard(*BEGIN, collected("t::a", "t::x1"), share, begun("t::a", "gw0"), decided("t::a", worker="gw0"))
    assert (listener.progress.done, listener.progress.collected) == (1, 3)
    cell = listener.cell(DIED)
    assert cell.collected == 3
    assert cell.running == (TestId(NodeId("t::x1")),)
    assert [(run.nodeid, run.outcome) for run in cell.tests] == [("t::a", Outcome.PASSED), ("t::x2", Outcome.NOT_RUN)]


def test_a_launcher_that_cannot_run_pytest_says_why() -> None:
    cell = cell_of({**END, "why": "unusable", "returncode": None, "detail": "pytest is not installed"})
    assert (cell.status, cell.detail) == (CellStatus.UNUSABLE, "pytest is not installed")


def test_a_launcher_that_did_not_start_leaves_an_unusable_cell() -> None:
    ending = Ending(runner=RunnerName.HOST, exit_code=127, detail="no such interpreter")
    cell = cell_of(ending=ending)
    assert (cell.status, cell.detail) == (
        CellStatus.UNUSABLE,
        "the launcher did not start pytest (exit status 127): no such interpreter",
    )


def test_nothing_collected_is_no_tests() -> None:
    cell = cell_of(*BEGIN, collected(), {**FINISH, "exit": 5}, {**END, "returncode": 5})
    assert (cell.status, cell.passed, cell.returncode) == (CellStatus.NO_TESTS, False, 5)


def test_a_mismatch_lists_every_problem() -> None:
    cell = cell_of({"e": "mismatch", "problems": ["timezone `X`", "umask"], "probe": PROBE})
    assert (cell.status, cell.detail) == (CellStatus.ENVIRONMENT_MISMATCH, "timezone `X`; umask")
    assert cell.probe is not None


LACK = {"oom_kills": 2, "peak": 5, "limit": 64 << 20}


@pytest.mark.parametrize(
    ("memory", "flag", "detail"),
    [
        ({}, True, "certain: the engine says that memory ran out"),
        (LACK, True, "certain: the engine says that memory ran out; the limit is 64 MiB"),
        (LACK, False, "likely: the kernel killed 2 of the cell's processes for lack of memory; the limit is 64 MiB"),
    ],
)
def test_lack_of_memory_says_how_sure_it_is(memory: dict[str, int], flag: bool, detail: str) -> None:  # noqa: FBT001
    ending = msgspec.structs.replace(ENDED, out_of_memory=flag)
    dead = {**END, "why": "crashed", "returncode": None, "signal": "SIGKILL", "memory": memory}
    cell = cell_of(*BEGIN, collected("t::a"), begun("t::a"), dead, ending=ending)
    assert (cell.status, cell.detail) == (CellStatus.OUT_OF_MEMORY, detail)


def test_a_kill_that_nothing_explains_is_a_crash_of_unknown_cause() -> None:
    cell = cell_of(*BEGIN, collected("t::a"), {**END, "why": "crashed", "returncode": None, "signal": "SIGKILL"})
    assert cell.status is CellStatus.CRASHED
    assert "by whom is not known" in cell.detail


def test_a_dead_container_with_the_engines_flag_was_out_of_memory() -> None:
    cell = cell_of(*BEGIN, ending=msgspec.structs.replace(DIED, out_of_memory=True))
    assert cell.status is CellStatus.OUT_OF_MEMORY


def test_a_child_that_the_kernel_killed_does_not_undo_a_finished_cell() -> None:
    cell = cell_of(*GREEN, FINISH, {**END, "returncode": 0, "memory": LACK})
    assert (cell.status, cell.passed) == (CellStatus.FINISHED, True)
    assert "the kernel killed 2" in cell.detail


@pytest.mark.parametrize("exception", ["SIGKILL", ""])
def test_a_test_whose_process_was_killed_for_memory_leaves_no_verdict(exception: str) -> None:
    crash = decided("t::a", "crashed", failure={**FAILURE, "exception": exception})
    cell = cell_of(*BEGIN, collected("t::a"), begun("t::a"), crash, {**END, "memory": LACK})
    assert cell.status is CellStatus.OUT_OF_MEMORY


def test_a_segmentation_fault_beside_a_lack_of_memory_is_a_crash_of_its_own() -> None:
    crash = decided("t::a", "crashed", failure={**FAILURE, "exception": "SIGSEGV"})
    cell = cell_of(*BEGIN, collected("t::a"), begun("t::a"), crash, {**END, "memory": LACK})
    assert cell.status is CellStatus.FINISHED


def test_workers_and_their_real_order_are_kept() -> None:
    listener = Listener(a_plan(workers=2), NONCE)
    events = [
        *BEGIN,
        {"e": "workers", "worker": "gw0", "pid": 10},
        {"e": "workers", "worker": "gw1", "pid": 11},
        collected("t::a", "t::b", "t::c"),
        begun("t::a", "gw0"),
        begun("t::b", "gw1"),
        decided("t::b", worker="gw1"),
        {"e": "restart", "worker": "gw0", "pid": 10, "nodeid": "t::a", "occurrence": 0, "why": "timed_out"},
        decided("t::a", "timed_out", worker="gw0"),
        {"e": "workers", "worker": "gw2", "pid": 12},
        begun("t::c", "gw2"),
        decided("t::c", worker="gw2"),
    ]
    listener.stdout(b"".join(lines([*events, FINISH, END])))
    cell = listener.cell(ENDED)
    assert cell.workers == 2
    assert cell.order == {
        "gw0": (TestId(NodeId("t::a")),),
        "gw1": (TestId(NodeId("t::b")),),
        "gw2": (TestId(NodeId("t::c")),),
    }


def test_a_file_that_is_broken_counts_once_however_often_pytest_had_to_start_anew() -> None:
    broken = {"e": "collect-error", "nodeid": "test_b.py", "failure": FAILURE}
    listener = heard(*BEGIN, broken, collected("t::a"), begun("t::a"), decided("t::a", "crashed"), broken, broken)
    assert (listener.progress.done, listener.progress.red) == (1, 2)


def test_progress_tells_each_step() -> None:
    listener = Listener(a_plan(), NONCE)
    told = [
        listener.stdout(line)
        for line in lines([*BEGIN, {"e": "alive"}, collected("t::a"), begun("t::a"), decided("t::a", "failed"), END])
    ]
    name = "server-like-2"
    assert told == [
        Progress(cell=name, step="collecting"),
        None,
        Progress(cell=name, step="running", collected=1),
        Progress(cell=name, step="running", collected=1, running=(TestId(NodeId("t::a")),)),
        Progress(cell=name, step="running", collected=1, done=1, red=1),
        Progress(cell=name, step="ended", collected=1, done=1, red=1),
    ]
    assert listener.ended


def test_stderr_keeps_its_end_and_survives_cut_characters() -> None:
    listener = heard(*GREEN, FINISH, END)
    listener.stderr(b"a" * 100_000 + "\u20ac".encode()[:1])
    listener.stderr("\u20ac".encode()[1:] + b"\xff")
    tail = listener.cell(ENDED).stderr_tail
    assert len(tail) == 65536 - 2
    assert tail.endswith("aa\u20ac\ufffd")


def test_a_hundred_thousand_tests_are_folded() -> None:
    names = [f"tests/test_many.py::test_number[{number}]" for number in range(100_000)]
    events = [event for name in names for event in (begun(name), decided(name))]
    cell = cell_of(*BEGIN, collected(*names), *events, FINISH, {**END, "returncode": 0})
    assert (len(cell.tests), cell.passed) == (100_000, True)


def test_the_spellings_of_a_test_are_kept_once_each_and_not_all_where_they_are_many() -> None:
    def spelling(asked: str, kept: str = "kept") -> dict[str, Any]:
        return {"e": "spelling", "nodeid": "t::a", "occurrence": 0, "worker": "", "asked": asked, "kept": kept}

    cell = cell_of(*BEGIN, collected("t::a", "t::b"), spelling("Kept"), spelling("Kept"), decided("t::a"), decided("t::b"), END)
    assert [run.spellings for run in cell.tests] == [(Spelling("Kept", "kept"),), ()]
    many = cell_of(*BEGIN, collected("t::a"), *(spelling(str(number)) for number in range(30)), decided("t::a"), END)
    assert many.tests[0].spellings == tuple(Spelling(str(number), "kept") for number in range(20))


def test_what_files_lie_on_is_kept() -> None:
    facts = {"way": "kernel", "unicode": "12.1.0", "case_rename": False, "instead_of": "the daemon: ENOENT device: /dev/fuse"}
    cell = cell_of({**BEGIN[0], "filesystem": facts}, collected("t::a"), decided("t::a"), FINISH, END)
    assert cell.filesystem == FilesystemFacts(
        way="kernel", unicode="12.1.0", case_rename=False, instead_of="the daemon: ENOENT device: /dev/fuse"
    )
    assert cell_of(*GREEN, FINISH, END).filesystem is None


def test_a_filesystem_that_failed_leaves_its_tests_undecided_and_says_how() -> None:
    detail = "the cell's filesystem failed: its daemon was killed by `SIGKILL`"
    end = {**END, "why": "filesystem", "detail": detail, "returncode": None, "signal": "SIGKILL"}
    cell = cell_of(*BEGIN, collected("t::a", "t::b"), begun("t::a"), decided("t::a"), begun("t::b"), end)
    assert (cell.status, cell.detail) == (CellStatus.CRASHED, f"{detail}, 1 of 2 tests are decided")
    assert cell.running == (TestId(NodeId("t::b")),)
    short = cell_of(*BEGIN, collected("t::a"), {**end, "memory": {"oom_kills": 1, "peak": 0, "limit": 1 << 28}})
    assert short.status is CellStatus.OUT_OF_MEMORY
