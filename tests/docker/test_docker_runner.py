"""Cells in real containers, with the real launcher and recorder, and every way in which they die."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from paritygate.docker_engine.engine import DockerEngine
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import CellPlan, Limits, Progress, Selection
from paritygate.outcomes.words import CellStatus, Outcome
from paritygate.runners.docker import CellImage, DockerRunner
from tests.support import cell_images
from tests.support.plans import a_plan, an_environment

pytestmark = pytest.mark.docker

RunnerOf = Callable[[dict[str, str]], DockerRunner]


@pytest.fixture(scope="session")
def cell_base(engine: DockerEngine, base: str) -> Iterator[str]:
    """Make an image with the guest's files and pytest, once for each session."""
    tag = f"paritygate-test-cell:{uuid.uuid4().hex[:12]}"
    cell_images.make(engine, base, tag)
    yield tag
    engine.remove_image(tag)


@pytest.fixture
def runner_of(engine: DockerEngine, cell_base: str) -> Iterator[RunnerOf]:
    """Make a runner whose cells hold a tree."""
    with ExitStack() as stack:

        def make(files: dict[str, str]) -> DockerRunner:
            tag = f"paritygate-test-tree:{uuid.uuid4().hex[:12]}"
            stack.enter_context(cell_images.with_tree(engine, cell_base, tag, files))
            return DockerRunner(engine, lambda _plan: CellImage(tag, cell_images.SENTINEL))

        yield make


def ignore(progress: Progress) -> None:
    return


def the_plan(**values: Any) -> CellPlan:
    return a_plan(**{"selection": Selection(), **values})


def outcomes(cell: Cell) -> dict[str, Outcome]:
    return {run.nodeid: run.outcome for run in cell.tests}


SURROUNDINGS = """
import os, socket, subprocess, sys, time

def test_zone():
    assert time.strftime("%z", time.localtime(1700000000)) == "+0800"
    assert os.readlink("/etc/localtime") == "/usr/share/zoneinfo/Asia/Shanghai"
    assert open("/etc/timezone").read() == "Asia/Shanghai\\n"
    without = {name: value for name, value in os.environ.items() if name != "TZ"}
    assert subprocess.run(["date", "+%z"], env=without, capture_output=True, text=True).stdout == "+0800\\n"

def test_user():
    assert (os.getuid(), os.getgid(), os.getgroups()) == (1000, 1000, [1000])
    assert os.path.expanduser("~") == "/parity/home" == os.environ["HOME"]
    open(os.path.expanduser("~/written"), "w").close()
    assert os.access(".", os.W_OK)

def test_names_resolve_without_a_network():
    assert socket.gethostbyname(socket.gethostname()) == "127.0.0.1"
    assert socket.gethostbyname("localhost") == "127.0.0.1"
    assert os.listdir("/sys/class/net") == ["lo"]

def test_no_privileges():
    status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines() if ":" in line)
    assert int(status["CapBnd"], 16) == int(status["CapEff"], 16) == 0
    assert status["NoNewPrivs"].strip() == "1"

def test_stdin_is_empty():
    assert sys.stdin is None or os.read(0, 1) == b""
    assert os.getcwd() == "/parity/workspace"

def test_written_to_stdout_by_hand():
    os.write(1, b"noise on one\\n")
    os.write(2, b"noise on two\\n")
"""


def test_a_cell_is_what_its_environment_says(runner_of: RunnerOf) -> None:
    seen: list[Progress] = []
    environment = an_environment(timezone="Asia/Shanghai")
    cell = runner_of({"test_here.py": SURROUNDINGS}).run(the_plan(environment=environment), seen.append)
    assert cell.detail == ""
    assert cell.status is CellStatus.FINISHED
    assert {nodeid: outcome for nodeid, outcome in outcomes(cell).items() if not outcome.green} == {}
    assert cell.passed
    assert len(cell.tests) == 6
    assert cell.probe is not None
    assert (cell.probe.uid, cell.probe.utcoffset_january, cell.probe.sentinel) == (1000, 28800, cell_images.SENTINEL)
    assert seen[-1].done == 6
    assert cell.seconds > 0


def test_workers_share_the_tests(runner_of: RunnerOf) -> None:
    files = {f"test_{name}.py": "def test_one(): pass\ndef test_two(): pass\n" for name in "abcd"}
    cell = runner_of(files).run(the_plan(environment=an_environment(workers=2)), ignore)
    assert cell.detail == ""
    assert cell.status is CellStatus.FINISHED
    assert cell.workers == 2
    assert len(outcomes(cell)) == 8
    assert sorted(cell.order) == ["gw0", "gw1"]


def test_a_tree_without_the_sentinel_is_a_mismatch(engine: DockerEngine, cell_base: str) -> None:
    runner = DockerRunner(engine, lambda _plan: CellImage(cell_base, "another"))
    cell = runner.run(the_plan(), ignore)
    assert not cell.passed
    assert cell.status in {CellStatus.ENVIRONMENT_MISMATCH, CellStatus.UNUSABLE}


def test_much_output_of_tests_loses_no_result(runner_of: RunnerOf) -> None:
    content = "import os, pytest\n@pytest.mark.parametrize('n', range(200))\ndef test_loud(n):\n    os.write(1, b'x' * 20000)\n"
    cell = runner_of({"test_loud.py": content}).run(the_plan(), ignore)
    assert cell.status is CellStatus.FINISHED
    assert len(cell.tests) == 200
    assert cell.passed


def test_a_cell_over_its_limit_is_timed_out_and_keeps_what_finished(runner_of: RunnerOf) -> None:
    files = {"test_slow.py": "import time\ndef test_quick(): pass\ndef test_slow(): time.sleep(600)\n"}
    limits = Limits(cell_seconds=20, test_seconds=300, idle_seconds=300)
    cell = runner_of(files).run(the_plan(limits=limits), ignore)
    assert cell.status is CellStatus.TIMED_OUT
    assert "test_slow.py::test_slow" in {test.nodeid for test in cell.running}


def test_a_launcher_that_is_killed_leaves_a_dead_cell(runner_of: RunnerOf, engine: DockerEngine) -> None:
    files = {"test_slow.py": "import time\ndef test_slow(): time.sleep(600)\n"}
    runner = runner_of(files)

    def kill(progress: Progress) -> None:
        if progress.running:
            for container in runner.running.guests():  # death from outside
                container.kill()

    cell = runner.run(the_plan(), kill)
    assert cell.status is CellStatus.CRASHED
    assert "killed" in cell.detail
    assert [test.nodeid for test in cell.running] == ["test_slow.py::test_slow"]


def test_stop_ends_a_cell_from_another_thread(runner_of: RunnerOf) -> None:
    runner = runner_of({"test_slow.py": "import time\ndef test_slow(): time.sleep(600)\n"})
    stopper = threading.Thread(target=runner.stop)

    def watch(progress: Progress) -> None:
        if progress.running and stopper.ident is None:
            stopper.start()

    cell = runner.run(the_plan(), watch)
    stopper.join()
    assert (cell.status, cell.detail) == (CellStatus.CRASHED, "stopped before its end")


def test_a_cell_that_takes_all_memory_is_out_of_memory(runner_of: RunnerOf) -> None:
    content = "def test_small(): pass\ndef test_hungry():\n    held = bytearray(900 << 20)\n"
    limits = Limits(cell_seconds=60, memory=256 << 20)
    cell = runner_of({"test_hungry.py": content}).run(the_plan(limits=limits), ignore)
    assert cell.status is CellStatus.OUT_OF_MEMORY
    assert not cell.passed


def test_a_launcher_that_the_image_lacks_is_an_unusable_cell(engine: DockerEngine, base: str) -> None:
    cell = DockerRunner(engine, lambda _plan: CellImage(base)).run(the_plan(), ignore)
    assert cell.status is CellStatus.UNUSABLE
    assert "/opt/paritygate/python" in cell.detail


def test_the_log_is_read_again_where_the_connection_broke(runner_of: RunnerOf) -> None:
    content = "import pytest, time\n@pytest.mark.parametrize('n', range(20))\ndef test_n(n): time.sleep(0.05)\n"
    runner = runner_of({"test_n.py": content})

    def cut(progress: Progress) -> None:
        if progress.done == 5:
            for container in runner.running.guests():  # the wire is cut
                for streams in container._attached:  # type: ignore[attr-defined] # noqa: SLF001
                    streams.close()

    cell = runner.run(the_plan(), cut)
    assert cell.status is CellStatus.CRASHED
    assert "the launcher lost its runner" in cell.detail
    assert sum(run.outcome is Outcome.PASSED for run in cell.tests) >= 5
    assert len(cell.tests) + len(cell.running) == 20
