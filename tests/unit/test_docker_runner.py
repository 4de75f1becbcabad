"""The runner over the engine in memory, with a launcher that says what a test tells it to."""

from __future__ import annotations

import io
import json
import tarfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from paritygate.docker_engine.lines import run_line
from paritygate.docker_engine.requests import ContainerRequest
from paritygate.errors import EngineError
from paritygate.outcomes.cells import NodeId, TestId
from paritygate.outcomes.plans import CellPlan, Filesystem, Limits, LockedFile, Order, Progress, Selection
from paritygate.outcomes.words import CellStatus, Outcome, Worktree
from paritygate.runners.conversation import Patience
from paritygate.runners.docker import CellImage, DockerRunner, request_of, with_filesystem, zone_files
from paritygate.runners.specification import Place, User, specification, variables
from paritygate.witnesses.values import NOBODYS_HOME
from tests.support.builders import a_probe
from tests.support.fake_engine import FakeContainer, FakeEngine, FakeStreams, KilledError, Process
from tests.support.plans import a_plan, an_environment

PYTHON = "/opt/paritygate/venv/bin/python"
SUPERVISOR = "/opt/paritygate/python"
IDS = [NodeId("test_a.py::test_one"), NodeId("test_a.py::test_two")]
DATES = ["2024-01-01", "2024-01-01"]
START = {"e": "start", "probe": msgspec.to_builtins(a_probe()), "dates": DATES}
WHOLE: list[dict[str, Any]] = [
    START,
    {"e": "collected", "tests": [[name, 0] for name in IDS]},
    {"e": "test-start", "nodeid": IDS[0]},
    {"e": "test", "nodeid": IDS[0], "outcome": "passed"},
    {"e": "test-start", "nodeid": IDS[1]},
    {"e": "test", "nodeid": IDS[1], "outcome": "failed"},
    {"e": "finish", "exit": 1},
    {"e": "end", "why": "finished", "returncode": 1, "dates": DATES},
]

Says = Callable[[Process, dict[str, Any], Callable[[dict[str, Any]], None]], int]


def launcher(says: Says) -> Callable[[Process], int]:
    """Make a launcher that reads its specification and then speaks, numbering what it says."""

    def program(process: Process) -> int:
        given = json.loads(process.read_line())
        count = iter(range(1000))

        def say(event: dict[str, Any]) -> None:
            process.out(json.dumps({"n": given["nonce"], "s": next(count), **event}).encode() + b"\n")

        return says(process, given, say)

    return program


def everything(process: Process, given: dict[str, Any], say: Callable[[dict[str, Any]], None]) -> int:
    for event in WHOLE:
        say(event)
    process.err(b"1 failed, 1 passed\n")
    return 0


def an_engine(says: Says) -> FakeEngine:
    engine = FakeEngine({SUPERVISOR: launcher(says)})
    engine.keep("cell:1", {}, {}, {})
    return engine


def image_of(plan: CellPlan) -> CellImage:
    return CellImage("cell:1", "5e47")


def ignore(progress: Progress) -> None:
    return


def test_a_cell_is_all_that_its_launcher_said() -> None:
    seen: list[Progress] = []
    cell = DockerRunner(an_engine(everything), image_of).run(a_plan(), seen.append)
    assert cell.status is CellStatus.FINISHED
    assert [(run.nodeid, run.outcome) for run in cell.tests] == [(IDS[0], Outcome.PASSED), (IDS[1], Outcome.FAILED)]
    assert (cell.returncode, cell.passed, cell.runner) == (1, False, "docker")
    assert cell.stderr_tail == "1 failed, 1 passed\n"
    assert cell.started.endswith("+00:00")
    assert (seen[-1].step, seen[-1].collected, seen[-1].done, seen[-1].red) == ("finished", 2, 2, 1)


def test_the_container_is_without_network_and_has_few_capabilities_and_the_limits_of_the_plan() -> None:
    engine = an_engine(everything)
    limits = Limits(cell_seconds=100, processes=33, memory=1 << 30, shared_memory=1 << 20)
    DockerRunner(engine, image_of).run(a_plan(an_environment(cpus=1.5), limits=limits), ignore)
    (request,) = engine.requests
    assert request.command == (SUPERVISOR, "-I", "-S", "-B", "/opt/paritygate/guest/launcher.py")
    assert (request.image, request.kind, request.name, request.user) == ("cell:1", "cell", "here-1", "0:0")
    assert (request.network, request.stdin) == (False, True)
    assert request.capabilities == ("KILL", "SETGID", "SETPCAP", "SETUID")
    assert request.security == ("no-new-privileges",)
    assert (request.processes, request.memory, request.cpus, request.shared_memory) == (33, 1 << 30, 1.5, 1 << 20)
    assert request.environment == {}
    assert request.seconds == 100 + 240 + 60
    assert engine.containers == {}


def test_a_home_in_which_nobody_can_write_is_a_folder_that_the_engine_makes() -> None:
    engine = an_engine(everything)
    homeless = an_environment(variables={"HOME": NOBODYS_HOME})
    for each in (an_environment(), an_environment(variables={"HOME": "/sys"}), homeless):
        DockerRunner(engine, image_of).run(a_plan(each), ignore)
    assert [request.empty for request in engine.requests] == [(), (), ("/home/read-only",)]
    assert "--tmpfs /home/read-only:ro,nosuid,nodev,noexec,mode=0555,size=4k " in run_line(engine.requests[-1], engine.info)


def test_an_environment_with_a_memory_of_its_own_has_that() -> None:
    engine = an_engine(everything)
    DockerRunner(engine, image_of).run(a_plan(an_environment(memory=1 << 28), limits=Limits(memory=1 << 30)), ignore)
    assert engine.requests[0].memory == 1 << 28


def test_the_time_zone_is_in_the_files_before_the_start() -> None:
    seen: dict[str, bytes] = {}

    def look(process: Process, given: dict[str, Any], say: Callable[[dict[str, Any]], None]) -> int:
        seen.update(process.files)
        return everything(process, given, say)

    DockerRunner(an_engine(look), image_of).run(a_plan(an_environment(timezone="Asia/Shanghai")), ignore)
    assert seen == {"/etc/localtime": b"/usr/share/zoneinfo/Asia/Shanghai", "/etc/timezone": b"Asia/Shanghai\n"}


def test_the_zone_files_are_roots_and_anybody_may_read_them() -> None:
    with tarfile.open(fileobj=io.BytesIO(zone_files("UTC"))) as tar:
        found = [(member.name, member.issym(), oct(member.mode), member.uid, member.gid) for member in tar]
    assert found == [("localtime", True, "0o777", 0, 0), ("timezone", False, "0o644", 0, 0)]


def test_a_launcher_that_ends_without_a_last_word_is_a_death_with_what_finished_before() -> None:
    def dies(process: Process, given: dict[str, Any], say: Callable[[dict[str, Any]], None]) -> int:
        for event in WHOLE[:5]:
            say(event)
        return 70

    cell = DockerRunner(an_engine(dies), image_of).run(a_plan(), ignore)
    assert cell.status is CellStatus.CRASHED
    assert "exit status 70" in cell.detail
    assert [(run.nodeid, run.outcome) for run in cell.tests] == [(IDS[0], Outcome.PASSED)]
    assert cell.running == (TestId(IDS[1]),)


class _Cut:
    """Streams that break in the middle of a line."""

    def __init__(self, streams: FakeStreams, after: int) -> None:
        self._streams = streams
        self._after = after

    def write(self, data: bytes) -> None:
        self._streams.write(data)

    def frames(self) -> Iterator[tuple[int, bytes]]:
        for number, (stream, data) in enumerate(self._streams.frames()):
            if number == self._after:
                yield stream, data[: len(data) // 2]
                raise EngineError("the engine could not read from the container: reset")
            yield stream, data

    def close(self) -> None:
        self._streams.close()


class _CutContainer(FakeContainer):
    def attach(self) -> FakeStreams:
        return _Cut(super().attach(), after=4)  # type: ignore[return-value] # the same verbs


class CuttingEngine(FakeEngine):
    """An engine whose connections break while a cell runs."""

    @contextmanager
    def container(self, request: ContainerRequest) -> Iterator[FakeContainer]:
        with super().container(request) as container:
            container.__class__ = _CutContainer
            yield container


def test_what_a_broken_connection_lost_is_read_from_the_engines_log() -> None:
    engine = CuttingEngine({SUPERVISOR: launcher(everything)})
    engine.keep("cell:1", {}, {}, {})
    cell = DockerRunner(engine, image_of).run(a_plan(), ignore)
    assert cell.status is CellStatus.FINISHED
    assert [(run.nodeid, run.outcome) for run in cell.tests] == [(IDS[0], Outcome.PASSED), (IDS[1], Outcome.FAILED)]
    assert cell.stderr_tail == "1 failed, 1 passed\n"


def hangs(process: Process, given: dict[str, Any], say: Callable[[dict[str, Any]], None]) -> int:
    for event in WHOLE[:3]:
        say(event)
    process.killed.wait(60)
    raise KilledError


def test_stop_ends_what_runs_and_lets_nothing_begin() -> None:
    engine = an_engine(hangs)
    runner = DockerRunner(engine, image_of)
    under_way = threading.Event()

    def watch(progress: Progress) -> None:
        if progress.running:
            under_way.set()

    cells: list[Any] = []
    thread = threading.Thread(target=lambda: cells.append(runner.run(a_plan(), watch)))
    thread.start()
    assert under_way.wait(10)
    runner.stop()
    thread.join(10)
    assert not thread.is_alive()
    cells.append(runner.run(a_plan(), ignore))
    assert [(cell.status, cell.detail) for cell in cells] == [(CellStatus.CRASHED, "stopped before its end")] * 2
    assert cells[0].running == (TestId(IDS[0]),)
    assert engine.containers == {}


def test_a_cell_whose_launcher_never_ends_is_killed_and_timed_out() -> None:
    cell = DockerRunner(an_engine(hangs), image_of, patience=Patience(grace=0.2, look=0.05)).run(
        a_plan(limits=Limits(cell_seconds=0.3)), ignore
    )
    assert cell.status is CellStatus.TIMED_OUT
    assert cell.running == (TestId(IDS[0]),)


def test_a_connection_that_is_silent_for_long_is_given_up() -> None:
    def silent(process: Process, given: dict[str, Any], say: Callable[[dict[str, Any]], None]) -> int:
        say(START)
        while process.read():
            continue
        say({"e": "end", "why": "gone", "dates": DATES})
        return 75

    cell = DockerRunner(an_engine(silent), image_of, patience=Patience(silent=0.3, look=0.05)).run(a_plan(), ignore)
    assert cell.status is CellStatus.CRASHED
    assert "not even a sign of life" in cell.detail


def test_an_engine_that_cannot_make_the_container_is_an_unusable_cell() -> None:
    cell = DockerRunner(FakeEngine(), image_of).run(a_plan(), ignore)
    assert cell.status is CellStatus.UNUSABLE
    assert "could not create a container of `cell:1`" in cell.detail
    assert cell.tests == ()


def test_the_specification_says_everything_and_nothing_of_this_computer() -> None:
    environment = an_environment(timezone="Asia/Tokyo", locale="en_US.UTF-8", workers=2, umask=0o027, variables={"CI": "1"})
    plan = a_plan(
        environment,
        order=Order(seed=3, reversed=True, only=(TestId(IDS[0]), TestId(IDS[1], 2))),
        selection=Selection(paths=("a", "b"), keyword="k", marker="m", arguments=("-x",), directory="sub"),
        limits=Limits(cell_seconds=1, test_seconds=2, idle_seconds=3, open_files=4),
        watched=("data/",),
    )
    line = specification(plan, Place(sentinel="5e47"), "nonce")
    assert line.endswith(b"\n")
    assert b"\n" not in line[:-1]
    assert json.loads(line) == {
        "protocol": 1,
        "nonce": "nonce",
        "python": PYTHON,
        "workspace": "/parity/workspace",
        "directory": "sub",
        "user": {"uid": 1000, "gid": 1000, "name": "parity", "home": "/parity/home"},
        "environment": {
            "PATH": "/opt/paritygate/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/parity/home",
            "USER": "parity",
            "LOGNAME": "parity",
            "LANG": "en_US.UTF-8",
            "LC_ALL": "en_US.UTF-8",
            "TZ": "Asia/Tokyo",
            "PYTHONDONTWRITEBYTECODE": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "PYTEST_XDIST_AUTO_NUM_WORKERS": "2",
            "CI": "1",
        },
        "filesystem": None,
        "clock": None,
        "expect": {"timezone": "Asia/Tokyo", "locale": "en_US.UTF-8", "umask": 23, "case_sensitive": None, "sentinel": "5e47"},
        "umask": 23,
        "workers": 2,
        "watched": ["data/"],
        "seed": 7,
        "hash_seed": 7,
        "reseeds": True,
        "order": {"seed": 3, "reversed": True, "exactly": None, "only": [[IDS[0], 0], [IDS[1], 2]], "shares": None},
        "pytest": {"paths": ["a", "b"], "keyword": "k", "marker": "m", "arguments": ["-x"], "exclude": {}, "share": None},
        "locked": {},
        "respect_pins": False,
        "limits": {"cell_seconds": 1, "test_seconds": 2, "idle_seconds": 3, "open_files": 4, "timeouts": 3},
        "stack_directory": "/var/tmp",  # noqa: S108 - in the guest
        "heartbeat_seconds": 5,
    }


def test_a_cell_looks_after_the_locked_files_of_its_own_tree_and_leaves_out_what_is_excluded() -> None:
    locked = {Worktree.CLEAN: (LockedFile("a", "c1", 1),), Worktree.DIRTY: (LockedFile("a", "d1", 2), LockedFile("b", "d2", 3))}
    for state, expected in ((Worktree.CLEAN, {"a": ["c1", 1]}), (Worktree.DIRTY, {"a": ["d1", 2], "b": ["d2", 3]})):
        plan = a_plan(an_environment(worktree=state), selection=Selection(exclude={"gpu": "needs a GPU"}), locked=locked)
        told = json.loads(specification(plan, Place(), "nonce"))
        assert (told["locked"], told["pytest"]["exclude"]) == (expected, {"gpu": "needs a GPU"})


def test_a_place_without_a_user_of_its_own_leaves_the_home_to_the_runner() -> None:
    made = variables(a_plan(), Place(user=None))
    assert "HOME" not in made
    assert variables(a_plan(), Place(user=User(home="/h")))["HOME"] == "/h"


def folding_plan() -> CellPlan:
    return a_plan(
        an_environment(case_sensitive=False),
        limits=Limits(memory=1 << 30),
        filesystem=Filesystem(fold=True, order="shuffled", seed=5, shadowed=("readme",)),
    )


def test_a_cell_with_a_filesystem_of_its_own_may_mount_it_and_its_tests_find_it() -> None:
    given: dict[str, Any] = {}

    def look(process: Process, specification: dict[str, Any], say: Callable[[dict[str, Any]], None]) -> int:
        given.update(specification)
        return everything(process, specification, say)

    engine = an_engine(look)
    DockerRunner(engine, image_of).run(folding_plan(), ignore)
    (request,) = engine.requests
    assert request.devices == ("/dev/fuse",)
    mounting = ("SYS_ADMIN", "SYS_PTRACE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID")
    assert request.capabilities == ("KILL", "SETGID", "SETPCAP", "SETUID", *mounting)
    assert request.security == ("no-new-privileges",)
    wish = {"fold": True, "order": "shuffled", "seed": 5, "size": 1 << 29, "shadowed": ["readme"]}
    assert given["filesystem"] == wish
    environment = given["environment"]
    assert environment["TMPDIR"] == "/parity/tmp"
    assert environment["GIT_CONFIG_COUNT"] == "2"
    assert (environment["GIT_CONFIG_KEY_1"], environment["GIT_CONFIG_VALUE_1"]) == ("core.ignorecase", "true")


def test_only_where_apparmor_runs_it_is_asked_to_let_the_cell_mount() -> None:
    request = request_of(folding_plan(), "cell:1", Place(), 1.0)
    info = msgspec.structs.replace(FakeEngine({}).info, security=("name=apparmor", "name=seccomp,profile=default"))
    assert with_filesystem(request, info).security == ("no-new-privileges", "apparmor=unconfined")
    plain = msgspec.structs.replace(info, security=("name=seccomp,profile=default",))
    assert with_filesystem(request, plain).security == ("no-new-privileges",)


def test_a_hash_seed_of_the_environment_goes_before_the_attempts_and_after_the_cells_own() -> None:
    def told(**values: Any) -> object:
        return json.loads(specification(a_plan(an_environment(hash_seed=5), **values), Place(), "nonce"))["hash_seed"]

    assert (told(), told(hash_seed=0)) == (5, 0)


def test_root_has_what_root_in_any_container_goes_by_and_nobody_else_has() -> None:
    plan = a_plan(an_environment(user="root"))
    told = json.loads(specification(plan, Place(), "nonce"))
    assert told["user"] == {"uid": 0, "gid": 0, "name": "root", "home": "/parity/home"}
    assert (told["environment"]["HOME"], told["environment"]["USER"]) == ("/parity/home", "root")
    extra = set(request_of(plan, "image", Place(), 1.0).capabilities) - set(
        request_of(a_plan(), "image", Place(), 1.0).capabilities
    )
    assert extra == {"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID"}
