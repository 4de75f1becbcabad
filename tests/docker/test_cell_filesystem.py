"""Cells whose files lie on the filesystem that ignores case, or on the same one where it does not: real engine, real pytest."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Any, cast

import msgspec
import pytest
from docker import APIClient

from paritygate.docker_engine.engine import DockerEngine
from paritygate.docker_engine.requests import ContainerRequest
from paritygate.docker_engine.verbs import Container, Engine
from paritygate.outcomes.cells import Cell, FilesystemFacts, NodeId, Spelling, TestId
from paritygate.outcomes.plans import CellPlan, Filesystem, Limits, Order, Progress, Selection
from paritygate.outcomes.words import CellStatus, Outcome
from paritygate.runners.docker import CellImage, DockerRunner
from tests.support import cell_images
from tests.support.plans import a_plan, an_environment

pytestmark = pytest.mark.docker

RunnerOf = Callable[[dict[str, str]], DockerRunner]
CASEFS = FilesystemFacts(way="casefs", unicode="14.0.0")


@pytest.fixture(scope="session")
def daemon_image(engine: DockerEngine, plain_image: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Make an image with the daemon besides, once for each session."""
    tag = f"paritygate-test-casefs:{uuid.uuid4().hex[:12]}"
    cell_images.add_daemon(engine, plain_image, tag, tmp_path_factory.mktemp("casefs"))
    yield tag
    engine.remove_image(tag)


@pytest.fixture
def runner_of(engine: DockerEngine, daemon_image: str) -> Iterator[RunnerOf]:
    """Make a runner whose cells hold a tree."""
    with ExitStack() as stack:

        def make(files: dict[str, str]) -> DockerRunner:
            tag = f"paritygate-test-tree:{uuid.uuid4().hex[:12]}"
            stack.enter_context(cell_images.with_tree(engine, daemon_image, tag, files))
            return DockerRunner(engine, lambda _plan: CellImage(tag, cell_images.SENTINEL))

        yield make


def ignore(progress: Progress) -> None:
    return


def the_plan(*, fold: bool = True, workers: int = 0, shadowed: tuple[str, ...] = (), **values: Any) -> CellPlan:
    environment = an_environment(case_sensitive=not fold, workers=workers)
    filesystem = Filesystem(fold=fold, shadowed=shadowed)
    return a_plan(**{"environment": environment, "selection": Selection(), "filesystem": filesystem, **values})


def red(cell: Cell) -> dict[str, str]:
    return {run.nodeid: run.failure.text if run.failure else run.outcome for run in cell.tests if not run.outcome.green}


def outcomes(cell: Cell) -> dict[str, Outcome]:
    return {run.nodeid.rpartition("::")[2]: run.outcome for run in cell.tests}


def spellings(cell: Cell) -> dict[str, tuple[Spelling, ...]]:
    return {run.nodeid.rpartition("::")[2]: run.spellings for run in cell.tests if run.spellings}


def assert_green(cell: Cell) -> None:
    assert (cell.detail, cell.status, red(cell)) == ("", CellStatus.FINISHED, {})


FOLDING = """
import os, pathlib, subprocess, tempfile
import pytest

def places():
    return [os.getcwd(), tempfile.gettempdir(), os.path.expanduser("~"), "/tmp"]

@pytest.mark.parametrize("number", range(4))
def test_one_file_has_two_spellings(number):
    place = pathlib.Path(places()[number])
    (place / f"Made-{number}").write_text("x")
    assert (place / f"MADE-{number}").read_text() == "x"
    assert os.path.samefile(place / f"Made-{number}", place / f"mADE-{number}")
    assert f"Made-{number}" in os.listdir(place)

def test_places():
    assert places() == ["/parity/workspace", "/parity/tmp", "/parity/home", "/tmp"]
    assert os.environ["TMPDIR"] == "/parity/tmp"

def test_a_rename_leads_from_the_temporary_folder_into_the_tree():
    handle, path = tempfile.mkstemp()
    os.close(handle)
    os.rename(path, "moved")
    os.rename("moved", os.path.expanduser("~/moved"))

def test_what_is_temporary_is_one_folder_by_both_names():
    pathlib.Path("/tmp/here").write_text("1")
    assert pathlib.Path("/parity/tmp/HERE").read_text() == "1"

def test_case_alone_is_renamed():
    pathlib.Path("old").write_text("1")
    os.rename("old", "OLD")
    assert "OLD" in os.listdir(".") and "old" not in os.listdir(".")
    subprocess.run(["mv", "OLD", "Old"], check=True)
    assert "Old" in os.listdir(".")
"""


def test_a_folding_cell_sees_one_file_by_all_its_spellings(runner_of: RunnerOf) -> None:
    cell = runner_of({"test_here.py": FOLDING}).run(the_plan(), ignore)
    assert_green(cell)
    assert cell.filesystem == CASEFS
    assert cell.probe is not None
    habits = {"folds": True, "keeps": True, "fresh": True, "renames_case": True}
    assert cell.probe.case == {"workspace": habits, "tmp": habits, "home": habits}
    assert cell.probe.case_sensitive == (False, False, False)
    assert set(cell.probe.filesystems.values()) == {"fuse.casefs"}


NOT_FOLDING = """
import os, subprocess, tempfile

def test_names_in_another_case_are_others():
    for place in (os.getcwd(), tempfile.gettempdir(), os.path.expanduser("~"), "/tmp"):
        open(os.path.join(place, "Made"), "w").close()
        assert not os.path.exists(os.path.join(place, "MADE"))

def test_it_is_the_same_filesystem_all_the_same():
    assert "/parity fuse.casefs " in open("/proc/mounts").read()
    assert os.environ["TMPDIR"] == "/parity/tmp"
    git = subprocess.run(["git", "config", "core.ignorecase"], capture_output=True, text=True)
    assert git.stdout == "false\\n"
"""


def test_a_cell_that_does_not_fold_is_on_the_same_filesystem(runner_of: RunnerOf) -> None:
    cell = runner_of({"test_here.py": NOT_FOLDING}).run(the_plan(fold=False), ignore)
    assert_green(cell)
    assert cell.filesystem == CASEFS
    assert cell.probe is not None
    habits = {"folds": False, "keeps": True, "fresh": False, "renames_case": True}
    assert cell.probe.case == {"workspace": habits, "tmp": habits, "home": habits}
    assert cell.probe.case_sensitive == (True, True, True)
    assert spellings(cell) == {}


def test_a_folding_filesystem_where_none_was_wanted_is_a_mismatch(runner_of: RunnerOf) -> None:
    plan = the_plan(fold=False)
    wrong = msgspec.structs.replace(plan, environment=an_environment(case_sensitive=False))
    cell = runner_of({"test_here.py": "def test_one(): pass\n"}).run(wrong, ignore)
    assert cell.status is CellStatus.ENVIRONMENT_MISMATCH
    assert "case_sensitive = false: workspace `/parity/workspace` is not so" in cell.detail
    assert cell.filesystem == CASEFS


COPIED = """
import os, stat, subprocess

def look(name):
    status = os.lstat(name)
    return stat.filemode(status.st_mode), status.st_uid, status.st_gid, status.st_mtime

def test_modes_owners_and_times():
    assert look("script.sh") == ("-rwxr-x---", 1000, 1000, 1000000001.0)
    assert look("of_root") == ("-rw-r--r--", 0, 0, 1000000002.0)
    assert look("set_id") == ("-rwsr-sr-x", 1000, 1000, 1000000003.0)
    assert look("empty") == ("drwxrws--T", 1000, 1000, 1000000004.0)
    assert os.listdir("empty") == []
    assert subprocess.run(["./script.sh"], capture_output=True).stdout == b"ran\\n"

def test_links():
    assert os.readlink("symbolic") == "nowhere/at/all"
    assert look("symbolic") == ("lrwxrwxrwx", 1000, 1000, 1000000005.0)
    assert os.path.samefile("script.sh", "sub/hard") and os.stat("script.sh").st_nlink == 2

def test_a_fifo():
    assert stat.S_ISFIFO(os.stat("fifo").st_mode)

def test_names_come_in_an_order_that_nobody_meant():
    assert os.listdir("names") == ["\\xe9", *"ihgfedca", "B"]

def test_of_files_with_one_name_the_first_is_there():
    assert os.listdir("twins") == ["README"] and open("twins/readme").read() == "first"

def test_folders_with_one_name_are_one():
    assert [name for name in os.listdir(".") if name.lower() == "both"] == ["Both"]
    assert sorted(os.listdir("both")) == ["one", "two"] and open("BOTH/one").read() == "first"
    assert look("both/two") == ("-rw-------", 1000, 1000, 1000000006.0)
"""

PREPARED = """
set -e; cd /parity/workspace
printf '#!/bin/sh\\necho ran\\n' > script.sh; chmod 750 script.sh; touch -d @1000000001 script.sh
touch of_root set_id; mkdir empty sub names twins both Both
for name in B a c d e f g h i é; do touch names/$name; done
for file in twins/README Both/one; do printf first > $file; done
for file in twins/readme both/One both/two; do printf second > $file; done
chmod 600 both/two; touch -d @1000000006 both/two
ln script.sh sub/hard; ln -s nowhere/at/all symbolic; mkfifo fifo
chown -hR 1000:1000 script.sh set_id empty sub names twins both Both symbolic fifo
chmod 6755 set_id; chmod 3770 empty
touch -d @1000000002 of_root; touch -d @1000000003 set_id; touch -d @1000000004 empty; touch -hd @1000000005 symbolic
"""


def test_what_the_image_holds_is_copied_as_it_is(engine: DockerEngine, daemon_image: str) -> None:
    tag = f"paritygate-test-tree:{uuid.uuid4().hex[:12]}"
    with cell_images.with_tree(engine, daemon_image, tag, {"test_here.py": COPIED}, PREPARED):
        plan = the_plan(shadowed=("both", "twins/readme"))
        cell = DockerRunner(engine, lambda _plan: CellImage(tag, cell_images.SENTINEL)).run(plan, ignore)
    assert_green(cell)


SPELLINGS = """
import os, subprocess, sys, pytest

def test_open():
    assert open("DATA/table.CSV").read() == "x"

def test_the_folder_is_known_by_that_spelling():
    assert open("DATA/Table.csv").read() == "x"

def test_stat():
    os.stat("data/TABLE.csv")
    os.stat("data/TABLE.csv")

def test_a_program():
    assert subprocess.run(["sh", "-c", "cat data/table.csv; true"], capture_output=True).stdout == b"x"

def test_outside_the_tree():
    os.stat("/parity/HOME")

def test_an_odd_name():
    os.stat("A b%\\xe9")

def test_many():
    for number in range(30):
        open(f"many{number}", "w").close()
        os.stat(f"MANY{number}")

def test_none():
    open("data/Table.csv").close()
    open("new", "w").close()
    os.rename("new", "NEW")
    assert os.path.exists("NEW")
    os.unlink("NEW")
"""
SEEN = {
    "test_open": (Spelling("DATA", "data"), Spelling("data/table.CSV", "data/Table.csv")),
    "test_the_folder_is_known_by_that_spelling": (Spelling("DATA", "data"),),
    "test_stat": (Spelling("data/TABLE.csv", "data/Table.csv"),),
    "test_a_program": (Spelling("data/table.csv", "data/Table.csv"),),
    "test_outside_the_tree": (Spelling("/parity/HOME", "/parity/home"),),
    "test_an_odd_name": (Spelling("A b%\xe9", "a B%\xc9"),),
    "test_many": tuple(Spelling(f"MANY{number}", f"many{number}") for number in range(20)),
}


def test_a_test_that_finds_a_name_by_another_spelling_is_named(runner_of: RunnerOf) -> None:
    files = {"test_here.py": SPELLINGS, "data/Table.csv": "x", "a B%\xc9": ""}
    cell = runner_of(files).run(the_plan(), ignore)
    assert_green(cell)
    assert spellings(cell) == SEEN


WORKER = """
import os, time

def test_{name}():
    until = time.monotonic() + 2
    while time.monotonic() < until:
        assert open("Data/{name}.TXT").read() == "x"
        time.sleep(0.01)

def test_{name}_quiet():
    assert open("data/{name}.txt").read() == "x"
"""


def test_a_spelling_belongs_to_the_test_of_its_own_worker(runner_of: RunnerOf) -> None:
    names = ("one", "two")
    files = {f"test_{name}.py": WORKER.format(name=name) for name in names} | {f"data/{name}.txt": "x" for name in names}
    cell = runner_of(files).run(the_plan(workers=2), ignore)
    assert_green(cell)
    assert cell.workers == 2
    assert {run.worker for run in cell.tests} == {"gw0", "gw1"}
    assert spellings(cell) == {
        f"test_{name}": (Spelling("Data", "data"), Spelling(f"data/{name}.TXT", f"data/{name}.txt")) for name in names
    }


HARMLESS = """
import contextlib, ctypes, errno, os, pathlib, signal, subprocess
import pytest

libc = ctypes.CDLL(None, use_errno=True)

def pid_of(name):
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit() and (folder / "comm").read_text() == name + "\\n":
            return int(folder.name)

DAEMON = pid_of("casefs")

def refused(result):
    return result == -1 and ctypes.get_errno() == errno.EPERM

def test_the_daemon_is_seen():
    assert DAEMON > 1

@pytest.mark.parametrize("command", ["umount /parity", "umount -l /parity", "umount /tmp", "fusermount3 -u /parity"])
def test_it_cannot_be_unmounted(command):
    with contextlib.suppress(FileNotFoundError):
        assert subprocess.run(command.split(), capture_output=True).returncode != 0
    assert refused(libc.umount2(b"/parity", 2))

@pytest.mark.parametrize("name", ["SIGKILL", "SIGSTOP", "SIGTERM", "SIGUSR1"])
def test_it_cannot_be_signalled(name):
    with pytest.raises(PermissionError):
        os.kill(DAEMON, getattr(signal, name))

@pytest.mark.parametrize("name", ["mem", "environ", "maps", "fd", "root", "cwd", "exe", "fd/3", "map_files", "syscall"])
@pytest.mark.parametrize("pid", [1, DAEMON])
def test_its_insides_are_hidden(pid, name):
    with pytest.raises(PermissionError):
        path = f"/proc/{pid}/{name}"
        os.listdir(path) if name in ("fd", "root", "cwd", "map_files") else open(path, "rb").read(1)

def test_it_cannot_be_traced():
    assert refused(libc.ptrace(16, DAEMON, 0, 0))
    assert refused(libc.ptrace(0x4206, DAEMON, 0, 0))

def test_nothing_can_be_mounted():
    assert refused(libc.mount(b"none", b"/parity/home", b"tmpfs", 0, None))
    assert refused(libc.mount(b"/parity", b"/tmp", b"", 4096, None))

def test_no_namespace_can_be_made():
    for flag in (0x10000000, 0x00020000, 0x10020000, 0x40000000, 0x20000000):
        assert refused(libc.unshare(flag))
    assert subprocess.run(["unshare", "-Urm", "true"], capture_output=True).returncode != 0

def test_the_device_cannot_be_opened():
    with pytest.raises(PermissionError):
        os.open("/dev/fuse", os.O_RDWR)

def test_there_are_no_privileges():
    status = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines() if ":" in line)
    assert [int(status["Cap" + name], 16) for name in ("Prm", "Eff", "Bnd", "Inh", "Amb")] == [0] * 5
    assert status["NoNewPrivs"].strip() == "1"

def test_the_store_is_nowhere():
    pathlib.Path("known-by-this-name").write_text("and by this content")
    found = [os.path.join(folder, name) for folder, folders, names in os.walk("/") for name in names
             if name == "known-by-this-name" and not folder.startswith("/proc/")]
    assert found == ["/parity/workspace/known-by-this-name"]
    assert "store-" not in open("/proc/self/mountinfo").read()
    assert [name for name in os.listdir("/opt/paritygate") if name.startswith("store-")] == []

def test_processes_start_as_ever():
    assert subprocess.run("echo a | cat", shell=True, capture_output=True).stdout == b"a\\n"
    child = os.fork()
    if child == 0:
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""


def test_tests_can_do_nothing_to_the_filesystem_and_hold_nothing_of_its_privileges(runner_of: RunnerOf) -> None:
    cell = runner_of({"test_here.py": HARMLESS}).run(the_plan(), ignore)
    assert_green(cell)
    assert len(cell.tests) == 36


def signal_daemon(engine: DockerEngine, runner: DockerRunner, name: str) -> None:
    """Do to the daemon of the only running cell what only root in its container can do."""
    script = f'for p in /proc/[0-9]*; do [ "$(cat $p/comm 2>/dev/null)" = casefs ] && kill -{name} "${{p#/proc/}}"; done; true'
    client = APIClient(base_url=engine.info.endpoint.url, version="auto")
    for container in runner.running.guests():  # trouble from outside
        made = client.exec_create(container.identity, ["sh", "-c", script], user="0:0")
        client.exec_start(made["Id"])
        assert client.exec_inspect(made["Id"])["ExitCode"] == 0
    client.close()


BUSY = """
import os, time

def test_before(): pass

def test_busy():
    end = time.monotonic() + 100
    while time.monotonic() < end:
        open("file", "w").close()
        os.unlink("FILE")

def test_after(): open("file", "w").close()
"""


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(
    ("name", "words"),
    [("KILL", "its daemon was killed by `SIGKILL`"), ("STOP", "its daemon did not answer for 10 s and was killed")],
)
def test_a_daemon_that_dies_or_hangs_ends_the_cell_and_makes_no_test_red(
    runner_of: RunnerOf, engine: DockerEngine, name: str, words: str, workers: int
) -> None:
    runner = runner_of({"test_busy.py": BUSY})
    done: list[str] = []

    def watch(progress: Progress) -> None:
        if "test_busy.py::test_busy" in {test.nodeid for test in progress.running} and not done:
            done.append(name)
            signal_daemon(engine, runner, name)

    limits = Limits(cell_seconds=120.0, test_seconds=6.0, idle_seconds=60.0)
    order = Order(seed=1, exactly=tuple(TestId(NodeId(f"test_busy.py::test_{each}")) for each in ("before", "busy", "after")))
    cell = runner.run(the_plan(workers=workers, limits=limits, order=order), watch)
    assert done == [name]
    assert cell.status is CellStatus.CRASHED
    assert cell.detail == f"the cell's filesystem failed: {words}, 1 of 3 tests are decided"
    assert outcomes(cell) == {"test_before": Outcome.PASSED, "test_after": Outcome.NOT_RUN}
    assert [test.nodeid for test in cell.running] == ["test_busy.py::test_busy"]


FULL = """
import errno, os, pytest

def test_full():
    with pytest.raises(OSError) as caught:
        with open("big", "wb") as stream:
            while True:
                stream.write(b"x" * (1 << 20))
    assert caught.value.errno == errno.ENOSPC
    os.unlink("big")

def test_room():
    with open("small", "wb") as stream:
        stream.write(b"x" * (1 << 20))
"""


def test_a_full_filesystem_is_the_tests_own_error(runner_of: RunnerOf) -> None:
    limits = Limits(cell_seconds=100.0, memory=400 << 20)
    order = Order(seed=1, exactly=tuple(TestId(NodeId(f"test_full.py::test_{each}")) for each in ("full", "room")))
    cell = runner_of({"test_full.py": FULL}).run(the_plan(limits=limits, order=order), ignore)
    assert_green(cell)


class WithoutDevice:
    """An engine whose containers get no device."""

    def __init__(self, engine: DockerEngine) -> None:
        self.info = engine.info
        self.engine = engine

    def container(self, request: ContainerRequest) -> AbstractContextManager[Container]:
        return self.engine.container(msgspec.structs.replace(request, devices=()))


def without_device(engine: DockerEngine, runner: DockerRunner) -> DockerRunner:
    return DockerRunner(cast(Engine, WithoutDevice(engine)), runner._image_of)  # noqa: SLF001 - the same images


def test_a_cell_without_the_device_says_why_neither_way_is_open(runner_of: RunnerOf, engine: DockerEngine) -> None:
    runner = without_device(engine, runner_of({"test_here.py": "def test_one(): pass\n"}))
    cell = runner.run(the_plan(), ignore)
    assert cell.status is CellStatus.ENVIRONMENT_MISMATCH
    assert cell.detail.startswith(
        "`/dev/fuse` is not there on the engine's computer; run `modprobe fuse` there, as root; to do without, "
        'set `case_sensitive = "any"` and no `directory_order` in every environment, or run with '
        "`--without-axis case_sensitive` (the cell's filesystem cannot be made: the daemon: ENOENT device: /dev/fuse; "
        "the kernel: mount tmpfs"
    )
    assert "casefold" in cell.detail
    assert "EINVAL" in cell.detail


class Refusing:
    """An engine on whose computer a device that is asked for is not there, as engines say it."""

    def __init__(self, engine: Engine) -> None:
        self.info = engine.info
        self.engine = engine

    def container(self, request: ContainerRequest) -> AbstractContextManager[Container]:
        return self.engine.container(
            msgspec.structs.replace(request, devices=tuple(f"{each}-absent" for each in request.devices))
        )


def test_an_engine_that_refuses_the_device_still_has_the_kernels_way_tried(runner_of: RunnerOf, engine: DockerEngine) -> None:
    images = runner_of({"test_here.py": "def test_one(): pass\n"})._image_of  # noqa: SLF001 - the same images
    cell = DockerRunner(cast(Engine, Refusing(engine)), images).run(the_plan(fold=False), ignore)
    assert_green(cell)
    assert cell.filesystem == FilesystemFacts(way="kernel", instead_of="the daemon: ENOENT device: /dev/fuse")


def test_a_cell_that_need_not_fold_runs_on_the_kernels_own_without_the_device(runner_of: RunnerOf, engine: DockerEngine) -> None:
    files = {"test_here.py": "import os\ndef test_one(): assert '/parity tmpfs ' in open('/proc/mounts').read()\n"}
    cell = without_device(engine, runner_of(files)).run(the_plan(fold=False), ignore)
    assert_green(cell)
    assert cell.filesystem == FilesystemFacts(way="kernel", instead_of="the daemon: ENOENT device: /dev/fuse")


def test_an_image_without_the_daemon_is_an_unusable_cell(engine: DockerEngine, plain_image: str) -> None:
    tag = f"paritygate-test-tree:{uuid.uuid4().hex[:12]}"
    with cell_images.with_tree(engine, plain_image, tag, {"test_here.py": "def test_one(): pass\n"}):
        cell = DockerRunner(engine, lambda _plan: CellImage(tag, cell_images.SENTINEL)).run(the_plan(), ignore)
    assert cell.status is CellStatus.ENVIRONMENT_MISMATCH
    assert cell.detail.startswith("the image's daemon cannot be run (ENOENT); make the images anew: `paritygate images prune`")
    assert "the daemon /opt/paritygate/casefs: ENOENT (No such file or directory); the kernel: " in cell.detail


GIT = """
import os, pathlib, subprocess

def git(*words):
    done = subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout

def test_git(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    git("init", "-q", "one")
    os.chdir("one")
    assert git("config", "--get", "core.ignorecase") == "true\\n"
    pathlib.Path("readme.md").write_text("x")
    git("add", ".")
    git("commit", "-qm", "first")
    git("mv", "readme.md", "README.md")
    git("commit", "-qm", "second")
    git("clone", "-q", ".", "../two")
    assert "README.md" in os.listdir("../two") and "readme.md" not in os.listdir("../two")
    os.chdir("../two")
    assert git("status", "--porcelain") == ""

def test_cache(request):
    request.config.cache.set("here/Key", [1])
    assert request.config.cache.get("here/Key", None) == [1]
    assert os.path.isdir("/parity/workspace/.pytest_cache/v/here")
"""


def test_git_and_pytests_cache_work(runner_of: RunnerOf) -> None:
    assert_green(runner_of({"test_here.py": GIT}).run(the_plan(), ignore))
