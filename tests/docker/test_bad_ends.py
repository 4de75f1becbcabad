"""Every bad end that a run can come to, each by dying in that very way: exit code, message, and what is left behind.

`docs/bad-ends.md` is the table of what is shown here; a unit test compares the two.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import IO

import msgspec
import pytest
from docker import APIClient

import paritygate
from paritygate.docker_engine.engine import DockerEngine
from paritygate.docker_engine.requests import BuildRequest
from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.cells import Cell, EnvironmentName
from paritygate.outcomes.words import CellStatus, Label, Outcome
from tests.support.gate_runs import PATIENCE_SECONDS, QUICK, Ended, Gate, Leftovers, lay_out, run, start
from tests.support.samples import clean_environment

pytestmark = pytest.mark.docker

PASSES = "def test_passes():\n    pass\n"
SLEEPS = "import time\n\ndef test_sleeps():\n    time.sleep(600)\n"
LOCAL = EnvironmentName("local-like")
ENDS_WITHIN_SECONDS = 30.0

DEATHS = """\
import ctypes, os, signal, subprocess, sys, time

def test_hangs():
    time.sleep(600)

def test_exits_with_zero():
    os._exit(0)

def test_segfaults():
    ctypes.string_at(0)

def test_leaves_a_grandchild_that_holds_every_pipe():
    script = "import os, time; os.fork() and os._exit(0); os.setsid(); time.sleep(600)"
    subprocess.run([sys.executable, "-c", script], check=True, close_fds=False)

def test_cannot_hurt_the_launcher():
    refused = 0
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as stream:
                command = stream.read()
        except OSError:
            continue
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP) if b"launcher.py" in command else ():
            try:
                os.kill(int(name), number)
            except PermissionError:
                refused += 1
    assert refused >= 3

def test_fills_shared_memory():
    try:
        with open("/dev/shm/all", "wb") as stream:
            while True:
                stream.write(bytes(1 << 20))
    except OSError as error:
        assert error.errno == 28
    os.unlink("/dev/shm/all")

def test_fine():
    pass
"""

USES_UP_PROCESSES = """\
import errno, os, signal, time

def test_forks_as_long_as_it_may():
    children = []
    try:
        while len(children) < 1000:
            child = os.fork()
            if child == 0:
                time.sleep(600)
                os._exit(0)
            children.append(child)
    except OSError as error:
        assert error.errno == errno.EAGAIN
    assert 10 < len(children) < 64

def test_after():
    pass
"""

EATS = "x = bytearray(1)\nwhile True:\n    x += bytearray(b'x') * (1 << 22)\n"

SLOW_BUILD = """\
[build-system]
requires = []
build-backend = "slow"
backend-path = ["."]

[project]
name = "slow"
version = "1"
"""

MAY_NOT_BE_SEEN = ("Traceback", "Exception ignored", "ResourceWarning")


Project = Callable[..., Path]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Lay out a project of a test file and a configuration; further files by name."""
    number = itertools.count()

    def make(test: str = PASSES, configuration: str = "", **files: str) -> Path:
        everything = {"tests/test_it.py": test, "paritygate.toml": configuration}
        everything |= {name.replace("_py", ".py").replace("_toml", ".toml"): content for name, content in files.items()}
        return lay_out(tmp_path / f"project{next(number)}", everything)

    return make


@pytest.fixture(scope="module")
def deaths(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """Run one gate over many ways to die, with and without workers."""
    files = {
        "tests/test_deaths.py": DEATHS,
        "tests/test_broken.py": "import nothing_of_that_name\n" + PASSES,
        "tests/test_fine.py": PASSES,
        "paritygate.toml": "test-timeout = 4\nshared-memory = '8m'\n",
    }
    ended = run(lay_out(tmp_path_factory.mktemp("deaths") / "project", files), "--attempts", "1")
    assert ended.artifact is not None, ended.stderr
    return ended


@pytest.fixture(scope="module")
def passing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lay out a project whose one test passes."""
    return lay_out(tmp_path_factory.mktemp("passing") / "project", {"tests/test_it.py": PASSES})


def refused(ended: Ended, status: int, *lines: str) -> None:
    """Check how a run ended that came to no artifact: by its status, and by these very lines with no others."""
    assert (ended.status, ended.errors) == (status, list(lines)), ended.stderr
    assert ended.artifact is None
    assert ended.stdout == ""


def only_cell(ended: Ended) -> Cell:
    assert ended.artifact is not None, ended.stderr
    (cell,) = ended.artifact.cells
    return cell


def verdict_line(ended: Ended) -> str:
    return ended.stdout.splitlines()[0]


# --- no run at all ----------------------------------------------------------------------------------------------------


def test_no_engine_at_the_host_that_was_named(project: Project) -> None:
    refused(
        run(project(), "--host", "unix:///nowhere/engine.sock"),
        4,
        "paritygate: the engine chosen by flag does not answer:",
        "  `unix:///nowhere/engine.sock` (flag): [Errno 2] No such file or directory",
        "hint: start that engine, or leave out `--host` to let the usual places be tried",
    )


def test_no_engine_at_docker_host(project: Project, tmp_path: Path) -> None:
    socket = tmp_path / "dead.sock"
    refused(
        run(project(), variables={"DOCKER_HOST": f"unix://{socket}"}),
        4,
        "paritygate: the engine chosen by DOCKER_HOST does not answer:",
        f"  `unix://{socket}` (DOCKER_HOST): [Errno 2] No such file or directory",
        "hint: start that engine, or unset `DOCKER_HOST` to let the usual places be tried",
    )


def test_an_unknown_docker_context(project: Project, tmp_path: Path) -> None:
    refused(
        run(project(), variables={"DOCKER_CONTEXT": "elsewhere", "DOCKER_CONFIG": str(tmp_path), "DOCKER_HOST": ""}),
        64,
        "paritygate: 1 problem in `DOCKER_CONTEXT`:",
        "  there is no Docker context `elsewhere`; known are `default`",
    )


def test_everything_wrong_in_the_configuration_is_said_at_once(project: Project) -> None:
    configuration = """\
atempts = 2
test-timeout = "long"
selection = 3

[image]
bse = "x"

[environments.local-like]
timzone = "UTC"
workers = -1
locale = "xx"
"""
    refused(
        run(project(configuration=configuration)),
        64,
        "paritygate: 7 problems in `paritygate.toml`:",
        "  `atempts`: there is no such key; did you mean `attempts`?",
        '  `test-timeout`: expected a number greater than 0, got `"long"`',
        "  `selection`: expected an array of texts, got `3`",
        "  `image.bse`: there is no such key; did you mean `base`?",
        "  `environments.local-like.timzone`: there is no such key; did you mean `timezone`?",
        '  `environments.local-like.workers`: expected a whole number from 0 up or `"auto"`, got `-1`',
        "  `environments.local-like.locale`: `xx` is not a locale: write `C`, `POSIX`, `C.UTF-8` or a name such as `de_DE.UTF-8`",
    )


def test_a_configuration_that_is_no_toml(project: Project) -> None:
    refused(
        run(project(configuration="attempts =\n")),
        64,
        "paritygate: 1 problem in `paritygate.toml`:",
        "  line 1, column 11: it is not TOML: invalid value",
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--nonsense",), "paritygate: there is no option `--nonsense`"),
        (("--repot", "r.json"), "paritygate: there is no option `--repot`; did you mean `--report`?"),
        (("-k",), "paritygate: option `-k` requires an argument"),
        (("--", "-k"), "paritygate: `-k` needs a value"),
        (("--report", ""), "paritygate: `--report` expects the path of a file, not ``"),
        (("--attempts", "two"), "paritygate: invalid value for `--attempts`: `two` is not a valid integer"),
        (("--attempts", "0"), "paritygate: the command line asks for 0 attempts"),
        (("--env", "elsewhere"), "paritygate: the command line asks for environment `elsewhere`"),
        (("--timeout", "-1"), "paritygate: the command line sets a timeout of -1 seconds"),
        (("--seed", "-1"), "paritygate: the command line gives seed -1"),
        (("--project", "/nowhere"), "paritygate: invalid value for `--project`: Directory `/nowhere` does not exist"),
    ],
)
def test_options_that_cannot_be(project: Project, options: tuple[str, ...], message: str) -> None:
    ended = run(project(), *options)
    assert (ended.status, ended.stdout, ended.artifact) == (64, "", None)
    assert ended.errors[0].startswith(message)
    assert ended.errors[1].startswith("hint: ")
    assert "engine: " not in ended.stderr


def test_a_selection_that_is_in_no_tree(project: Project) -> None:
    place = project()
    refused(
        run(place, "tests/test_if.py"),
        64,
        f"paritygate: `tests/test_if.py` is in no tree of `{place}`",
        "hint: did you mean `tests/test_it.py`?",
    )


def test_what_is_asked_for_in_vain_is_said_before_any_engine_is_asked(project: Project) -> None:
    ended = run(project(), "tests/test_if.py", "--host", "unix:///nowhere")
    assert (ended.status, ended.stdout, ended.artifact) == (64, "", None)
    assert "engine" not in ended.stderr


def test_a_host_that_is_no_address(project: Project) -> None:
    refused(
        run(project(), "--host", "garbage"),
        64,
        "paritygate: `--host` is `garbage`, which is no address of an engine",
        "hint: write a URL, such as `unix:///var/run/docker.sock` or `tcp://HOST:2376`",
    )


@pytest.mark.parametrize(
    ("report", "why"),
    [
        ("tests", "it is a folder, not a file"),
        ("paritygate.toml/r.json", "Not a directory"),
        ("fifo", "it is a FIFO, not a file"),
    ],
)
def test_a_report_that_cannot_be_written_is_refused_before_anything_runs(project: Project, report: str, why: str) -> None:
    place = project()
    os.mkfifo(place / "fifo")
    ended = run(place, "--report", f"{place}/{report}")
    refused(
        ended,
        64,
        f"paritygate: cannot write `{place}/{report}`: {why}",
        "hint: give another place with `--report PATH`",
    )
    assert "engine: " not in ended.stderr


def test_a_report_in_a_folder_that_is_missing(project: Project) -> None:
    place = project()
    refused(
        run(place, "--report", f"{place}/test/r.json"),
        64,
        f"paritygate: cannot write `{place}/test/r.json`: there is no folder `{place}/test`; did you mean `tests`?",
        "hint: make it first, or give another place with `--report PATH`",
    )


@pytest.mark.parametrize("broken", ["click", "docker", "paritygate/process"])
def test_an_installation_that_is_broken(project: Project, tmp_path: Path, broken: str) -> None:
    """Nothing of it may end with 1, which is what Python itself would say: that means that tests are red."""
    shadow = tmp_path / "shadow" / f"{broken}.py"
    shadow.parent.mkdir(parents=True)
    shadow.write_text("raise ImportError('half of it is missing')\n", encoding="utf-8")
    if "/" in broken:
        source = Path(paritygate.__file__).parent
        (shadow.parent / "__init__.py").touch()
        shutil.copy(source / "__main__.py", shadow.parent)
    ended = run(project(), variables={"PYTHONPATH": str(tmp_path / "shadow")})
    refused(
        ended,
        70,
        "paritygate: it could not be loaded: ImportError('half of it is missing')",
        "hint: install it anew: `pip install --force-reinstall paritygate`",
    )


# --- no images --------------------------------------------------------------------------------------------------------


def test_a_base_image_that_nobody_has(project: Project) -> None:
    refused(
        run(project(configuration="[image]\nbase = 'nowhere.invalid/none:0'\n")),
        4,
        "paritygate: the base image `nowhere.invalid/none:0` is not there and cannot be pulled",
        "hint: correct `base` under `[tool.paritygate.image]`, or load the image into the engine",
    )


def test_dependencies_that_cannot_be_installed(project: Project, leftovers: Leftovers) -> None:
    place = project(configuration="[image]\ninstall = ['seq 1 100', 'pip install ./nowhere']\n")
    ended = run(place, *QUICK)
    assert ended.status == 4
    assert ended.errors[0] == "paritygate: the dependencies could not be installed from `install` of the configuration"
    (log,) = (place / ".paritygate" / "logs").glob("dependencies-*.log")
    assert ended.errors[-5:] == [
        "  | $ sh -e -c pip install ./nowhere",
        "  | ERROR: Invalid requirement: './nowhere'",
        "  | Hint: It looks like a path. File './nowhere' does not exist.",
        f"  full log: `{log}`",
        "hint: correct `install` under `[tool.paritygate.image]`",
    ]
    assert "  | 1" not in ended.errors
    assert "\n1\n2\n3\n" in log.read_text(encoding="utf-8")
    assert leftovers.everything(ended.pid) == []


def test_an_environment_to_which_pytest_cannot_be_added(project: Project, leftovers: Leftovers) -> None:
    place = project(configuration="[image]\ninstall = ['rm -r /opt/paritygate/venv/lib/python3*/site-packages/pip']\n")
    ended = run(place, *QUICK)
    assert (ended.status, ended.artifact) == (4, None)
    assert ended.errors[0] == (
        "paritygate: the dependencies could not be installed from `install` of the configuration: "
        "the environment has no pip, so neither pytest nor the project can be added to it"
    )
    assert ended.errors[-1].startswith("hint: let `install` under `[tool.paritygate.image]` leave pip where it is")
    assert leftovers.everything(ended.pid) == []


def test_a_locale_that_no_image_can_make(project: Project, leftovers: Leftovers) -> None:
    ended = run(project(configuration="[environments.local-like]\nlocale = 'xx_YY.UTF-8'\n"), *QUICK)
    assert (ended.status, ended.artifact) == (4, None)
    assert ended.errors[0] == "paritygate: the locale `xx_YY.UTF-8` cannot be made in this image"
    assert ended.errors[-1] == "hint: correct `environments.local-like.locale`"
    assert leftovers.everything(ended.pid) == []


def test_a_base_on_which_the_case_folding_filesystem_cannot_be_built(
    project: Project, engine: DockerEngine, base: str, tag: str, leftovers: Leftovers
) -> None:
    engine.build(BuildRequest(tag=tag, files={"Dockerfile": f"FROM {base}\nRUN rm /usr/bin/apt-get".encode()}, labels={}), print)
    ended = run(project(configuration=f"[image]\nbase = '{tag}'\n"))
    assert (ended.status, ended.artifact) == (4, None)
    assert ended.errors[0].startswith(
        "paritygate: the case-folding filesystem cannot be built: the base image has no apt-get and lacks:"
    )
    assert ended.errors[-1].startswith(
        "hint: name another image with `base` under `[tool.paritygate.image]`; to do without, set "
    )
    assert leftovers.everything(ended.pid) == []


def test_a_project_that_cannot_be_installed_runs_from_its_root(project: Project) -> None:
    # Another tree in each run of this test: one that has an image from an earlier run is not installed again.
    backend = f"# {uuid.uuid4().hex}\ndef build_editable(*given):\n    raise RuntimeError('no')\n"
    place = project(pyproject_toml=SLOW_BUILD, slow_py=backend)
    ended = run(place, *QUICK)
    assert ended.status == 0
    assert ended.artifact is not None
    assert "local-like: the project could not be installed and runs from its root" in ended.artifact.notes
    (log,) = (place / ".paritygate" / "logs").glob("tree-*.log")
    assert f"warning: the project could not be installed and runs from its root; why is in `{log}`" in ended.stderr.splitlines()
    assert log.read_text(encoding="utf-8").count("RuntimeError: no") >= 3


# --- nothing that could be judged -------------------------------------------------------------------------------------


def test_a_root_conftest_that_breaks_everywhere(project: Project) -> None:
    ended = run(project(conftest_py="raise RuntimeError('no such luck')\n"), *QUICK)
    assert ended.status == 4
    assert only_cell(ended).status is CellStatus.UNUSABLE
    assert verdict_line(ended) == (
        "no-verdict: pytest could not work in `local-like` attempt 1: pytest did not start (exit status 4): "
        "ImportError while loading conftest '/parity/workspace/conftest.py'. | conftest.py:1: in <module> | "
        "raise RuntimeError('no such luck') | E   RuntimeError: no such luck (exit 4)"
    )


def test_a_project_without_tests(project: Project) -> None:
    ended = run(project(test="x = 1\n"), *QUICK)
    assert (ended.status, only_cell(ended).status) == (4, CellStatus.NO_TESTS)
    assert verdict_line(ended) == "no-verdict: no test was collected in any cell: no test was selected (exit 4)"


def test_a_keyword_that_matches_nothing(project: Project) -> None:
    ended = run(project(), *QUICK, "-k", "nothing_like_it")
    assert (ended.status, only_cell(ended).status) == (4, CellStatus.NO_TESTS)
    assert verdict_line(ended) == "no-verdict: no test was collected in any cell: no test was selected (exit 4)"


def test_an_expression_that_is_none(project: Project) -> None:
    ended = run(project(), "--attempts", "1", "-k", "and and")
    said = "paritygate: pytest refuses `-k and and`: Wrong expression passed to '-k': and and"
    assert (ended.status, ended.artifact) == (64, None)
    assert ended.errors[0].startswith(said)


def test_an_option_that_pytest_does_not_know(project: Project) -> None:
    ended = run(project(), "--attempts", "1", "--", "--frobnicate")
    said = "paritygate: pytest refuses `--frobnicate`: unrecognized arguments: --frobnicate"
    assert (ended.status, ended.errors[0]) == (64, said)


def test_an_id_that_is_nowhere_hides_no_other(project: Project) -> None:
    ended = run(project(), "--attempts", "1", "tests/test_it.py::test_passes", "tests/test_it.py::nosuch")
    said = "no-verdict: `tests/test_it.py::nosuch` was asked for and is in no cell (exit 4)"
    assert (ended.status, verdict_line(ended)) == (4, said)
    assert ended.finding("tests/test_it.py::nosuch").label is Label.UNDECIDED
    assert ended.finding("tests/test_it.py::test_passes").label is Label.CONSISTENT_GREEN


def test_every_test_skipped_everywhere(project: Project) -> None:
    ended = run(project(test="import pytest\n\n@pytest.mark.skip(reason='later')\n" + PASSES), *QUICK)
    assert ended.status == 4
    assert verdict_line(ended) == "no-verdict: every test is skipped everywhere (1 test): nothing was tested (exit 4)"


# --- tests that die ---------------------------------------------------------------------------------------------------


def test_a_file_that_cannot_be_collected_is_red_and_the_rest_is_judged(deaths: Ended) -> None:
    assert deaths.status == 1
    broken = deaths.finding("tests/test_broken.py")
    assert (broken.label, broken.outcomes) == (
        Label.CONSISTENT_RED,
        {"local-like": (Outcome.ERROR,), "server-like": (Outcome.ERROR,)},
    )
    assert "tests/test_broken.py:1 ModuleNotFoundError: No module named 'nothing_of_that_name'" in deaths.stdout
    assert deaths.finding("tests/test_fine.py::test_passes").label is Label.CONSISTENT_GREEN


def test_a_test_that_hangs_is_ended_with_its_stack_and_the_rest_is_judged(deaths: Ended) -> None:
    hangs = deaths.finding("tests/test_deaths.py::test_hangs")
    assert hangs.outcomes == {"local-like": (Outcome.TIMED_OUT,), "server-like": (Outcome.TIMED_OUT,)}
    assert "tests/test_deaths.py:4 Timeout: over the limit of 4 s" in deaths.stdout
    for text in failures(deaths, "tests/test_deaths.py::test_hangs"):
        assert 'File "/parity/workspace/tests/test_deaths.py", line 4 in test_hangs' in text
    assert deaths.finding("tests/test_deaths.py::test_fine").label is Label.CONSISTENT_GREEN


def failures(ended: Ended, nodeid: str) -> list[str]:
    """Give the text of a test's failure in each cell."""
    assert ended.artifact is not None
    runs = [run for cell in ended.artifact.cells for run in cell.tests if run.nodeid == nodeid]
    return [run.failure.text for run in runs if run.failure is not None]


def test_a_test_that_exits_with_zero_is_no_success(deaths: Ended) -> None:
    exits = deaths.finding("tests/test_deaths.py::test_exits_with_zero")
    assert exits.outcomes == {"local-like": (Outcome.CRASHED,), "server-like": (Outcome.CRASHED,)}
    assert "the process ended itself (`os._exit` or the like) with exit status 0" in deaths.stdout


def test_a_segmentation_fault_is_the_tests_own(deaths: Ended) -> None:
    segfaults = deaths.finding("tests/test_deaths.py::test_segfaults")
    assert segfaults.outcomes == {"local-like": (Outcome.CRASHED,), "server-like": (Outcome.CRASHED,)}
    assert "SIGSEGV: the process was killed by `SIGSEGV`" in deaths.stdout


def test_a_worker_that_dies_is_replaced_and_the_rest_is_judged(deaths: Ended) -> None:
    assert deaths.artifact is not None
    (cell,) = (cell for cell in deaths.artifact.cells if cell.env == "server-like")
    assert cell.status is CellStatus.FINISHED
    assert [run.outcome for run in cell.tests if run.outcome is Outcome.NOT_RUN] == []


def test_a_grandchild_that_holds_every_pipe_holds_nothing_up(deaths: Ended, leftovers: Leftovers) -> None:
    assert deaths.finding("tests/test_deaths.py::test_leaves_a_grandchild_that_holds_every_pipe").label is Label.CONSISTENT_GREEN
    assert leftovers.everything(deaths.pid) == []


def test_a_test_cannot_hurt_the_launcher(deaths: Ended) -> None:
    assert deaths.finding("tests/test_deaths.py::test_cannot_hurt_the_launcher").label is Label.CONSISTENT_GREEN


def test_a_test_that_fills_shared_memory_meets_the_limit(deaths: Ended) -> None:
    assert deaths.finding("tests/test_deaths.py::test_fills_shared_memory").label is Label.CONSISTENT_GREEN


def test_a_test_that_ends_the_session_is_red_and_the_rest_is_judged(project: Project) -> None:
    exits = 'import pytest\n\ndef test_exits():\n    pytest.exit("bye")\n\n'
    interrupts = "def test_interrupts():\n    raise KeyboardInterrupt\n\n"
    ended = run(project(test=exits + interrupts + PASSES), "--attempts", "1")
    assert ended.status == 1
    assert ended.finding("tests/test_it.py::test_exits").label is Label.CONSISTENT_RED
    assert ended.finding("tests/test_it.py::test_interrupts").label is Label.CONSISTENT_RED
    assert ended.finding("tests/test_it.py::test_passes").label is Label.CONSISTENT_GREEN
    assert "pytest.exit: bye" in ended.stdout
    assert "KeyboardInterrupt" in ended.stdout


def test_a_test_that_kills_its_process_group_takes_the_controller_of_workers_with_it(project: Project) -> None:
    test = "import os, signal\n\ndef test_kills():\n    os.killpg(0, signal.SIGKILL)\n\n" + PASSES
    ended = run(project(test=test), "--attempts", "1")
    assert ended.status == 4
    assert ended.finding("tests/test_it.py::test_kills").outcomes[LOCAL] == (Outcome.CRASHED,)
    assert ended.finding("tests/test_it.py::test_passes").outcomes[LOCAL] == (Outcome.PASSED,)
    assert ended.artifact is not None
    assert [cell.status for cell in ended.artifact.cells] == [CellStatus.FINISHED, CellStatus.CRASHED]
    assert "pytest was killed by `SIGKILL`, by whom is not known" in verdict_line(ended)


def test_a_test_that_forks_without_end_meets_the_limit(project: Project, leftovers: Leftovers) -> None:
    ended = run(project(test=USES_UP_PROCESSES, configuration="processes = 64\n"), *QUICK)
    assert ended.status == 0, ended.stdout
    assert leftovers.everything(ended.pid) == []


def test_a_test_that_runs_out_of_memory(project: Project) -> None:
    eats = "".join(f"    {line}\n" for line in EATS.splitlines())
    ended = run(project(test=f"def test_eats():\n{eats}\n" + PASSES, configuration="memory = '96m'\n"), *QUICK)
    assert (ended.status, only_cell(ended).status) == (4, CellStatus.OUT_OF_MEMORY)
    assert verdict_line(ended) == (
        "no-verdict: `local-like` attempt 1 ran out of memory: certain: the engine says that memory ran out; "
        "the limit is 96 MiB (exit 4)"
    )
    assert ended.finding("tests/test_it.py::test_eats").outcomes == {"local-like": (Outcome.CRASHED,)}
    assert ended.finding("tests/test_it.py::test_passes").outcomes == {"local-like": (Outcome.PASSED,)}


def test_a_child_of_a_test_that_runs_out_of_memory(project: Project) -> None:
    test = (
        "import subprocess, sys\n\n"
        f"def test_starts_what_eats():\n    assert subprocess.run([sys.executable, '-c', {EATS!r}]).returncode == 0\n"
    )
    ended = run(project(test=test, configuration="memory = '96m'\n"), *QUICK)
    assert (ended.status, only_cell(ended).status) == (1, CellStatus.FINISHED)
    assert "note: cell local-like-1 (gate): all tests ran, though " in ended.stdout
    assert "AssertionError: assert -9 == 0" in ended.stdout


def test_a_cell_over_its_limit_names_the_test_that_was_running(project: Project) -> None:
    ended = run(project(test=SLEEPS), *QUICK, "--timeout", "5")
    assert (ended.status, only_cell(ended).status) == (4, CellStatus.TIMED_OUT)
    assert verdict_line(ended) == (
        "no-verdict: `local-like` attempt 1 ran out of time in `tests/test_it.py::test_sleeps`: "
        "the cell was over its limit, 0 of 1 tests are decided (exit 4)"
    )


def test_a_cell_that_is_silent_for_too_long_shows_where_it_hangs(project: Project) -> None:
    ended = run(project(test="import time\ntime.sleep(600)\n" + PASSES, configuration="idle-timeout = 4\n"), *QUICK)
    assert (ended.status, only_cell(ended).status) == (4, CellStatus.TIMED_OUT)
    assert verdict_line(ended) == (
        "no-verdict: `local-like` attempt 1 ran out of time: nothing happened for longer than the idle limit, "
        "before tests were collected (exit 4)"
    )
    assert 'File "/parity/workspace/tests/test_it.py", line 2 in <module>' in only_cell(ended).stderr_tail


FILESYSTEM_TESTS = """\
import ctypes, errno, os, pathlib, signal

import pytest

def the_daemon():
    (found,) = [int(each.name) for each in pathlib.Path("/proc").glob("[0-9]*") if (each / "comm").read_text() == "casefs\\n"]
    return found

def test_cannot_hurt_the_filesystem():
    libc = ctypes.CDLL(None, use_errno=True)
    for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
        with pytest.raises(PermissionError):
            os.kill(the_daemon(), number)
    assert (libc.ptrace(16, the_daemon(), 0, 0), ctypes.get_errno()) == (-1, errno.EPERM)
    assert (libc.umount2(b"/parity", 2), ctypes.get_errno()) == (-1, errno.EPERM)

def test_fills_the_filesystem():
    with pytest.raises(OSError) as caught, open("all", "wb") as stream:
        for _ in range(200):
            stream.write(bytes(1 << 20))
    assert caught.value.errno == errno.ENOSPC
    os.unlink("all")

def test_writes(tmp_path):
    (tmp_path / "small").write_bytes(bytes(1 << 20))
"""


@pytest.fixture(scope="module")
def on_a_filesystem(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """Run once, for the tests of what tests can do to the filesystem that their cell lies on."""
    files = {"tests/test_it.py": FILESYSTEM_TESTS, "paritygate.toml": "memory = '256m'\n"}
    return run(lay_out(tmp_path_factory.mktemp("filesystem") / "project", files), *QUICK)


def test_a_test_cannot_hurt_the_filesystem(on_a_filesystem: Ended) -> None:
    assert on_a_filesystem.finding("tests/test_it.py::test_cannot_hurt_the_filesystem").label is Label.CONSISTENT_GREEN
    assert on_a_filesystem.status == 0, on_a_filesystem.stdout


def test_a_test_that_fills_the_filesystem_meets_its_size(on_a_filesystem: Ended) -> None:
    assert on_a_filesystem.finding("tests/test_it.py::test_fills_the_filesystem").label is Label.CONSISTENT_GREEN
    assert on_a_filesystem.finding("tests/test_it.py::test_writes").label is Label.CONSISTENT_GREEN


USES_FILES = """\
import time

def test_uses_files():
    until = time.monotonic() + 100
    while time.monotonic() < until:
        open("file", "w").close()
"""


def with_a_daemon_that_gets(name: str, project: Path, leftovers: Leftovers, engine: DockerEngine) -> Ended:
    """Run a gate whose only cell loses its filesystem's daemon while a test is under way."""
    script = f'for p in /proc/[0-9]*; do [ "$(cat $p/comm 2>/dev/null)" = casefs ] && kill -{name} "${{p#/proc/}}"; done; true'
    client = APIClient(base_url=engine.info.endpoint.url, version="auto")
    with Gate(project, *QUICK) as gate:
        gate.wait_for_line("local-like-1: collected")
        time.sleep(1.0)
        (container,) = leftovers.running(gate.pid)
        client.exec_start(client.exec_create(container, ["sh", "-c", script], user="0:0")["Id"])
        ended = gate.ended()
    client.close()
    assert (ended.status, only_cell(ended).status) == (4, CellStatus.CRASHED)
    assert [test.nodeid for test in only_cell(ended).running] == ["tests/test_it.py::test_uses_files"]
    assert only_cell(ended).tests == ()
    assert leftovers.everything(ended.pid) == []
    return ended


def test_a_filesystem_whose_daemon_dies(project: Project, leftovers: Leftovers, engine: DockerEngine) -> None:
    ended = with_a_daemon_that_gets("KILL", project(test=USES_FILES), leftovers, engine)
    assert "the cell's filesystem failed: its daemon was killed by `SIGKILL`" in verdict_line(ended)
    assert "tests/test_it.py::test_uses_files" in verdict_line(ended)


def test_a_filesystem_whose_daemon_hangs(project: Project, leftovers: Leftovers, engine: DockerEngine) -> None:
    ended = with_a_daemon_that_gets("STOP", project(test=USES_FILES, configuration="test-timeout = 5\n"), leftovers, engine)
    assert "the cell's filesystem failed: its daemon did not answer for 10 s and was killed" in verdict_line(ended)


# --- interruptions ----------------------------------------------------------------------------------------------------


def interrupted(ended: Ended, leftovers: Leftovers, signal_name: str, status: int) -> None:
    """Check that a run said once that it was interrupted, and left neither a report nor anything on the engine."""
    refused(ended, status, f"paritygate: interrupted by `{signal_name}`; nothing is left running")
    assert [word for word in MAY_NOT_BE_SEEN if word in ended.stderr] == []
    assert leftovers.everything(ended.pid) == []


@pytest.fixture(scope="module")
def sleeping(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Lay out a project whose cells run until something ends them."""
    return lay_out(tmp_path_factory.mktemp("sleeping") / "project", {"tests/test_it.py": SLEEPS})


@pytest.mark.parametrize("seconds", [0.15, 0.4, 0.8])
def test_control_c_while_the_program_is_loaded(passing: Path, leftovers: Leftovers, seconds: float) -> None:
    with Gate(passing, *QUICK) as gate:
        time.sleep(seconds)
        gate.press_control_c()
        ended = gate.ended()
    interrupted(ended, leftovers, "SIGINT", 130)


def test_control_c_while_dependencies_are_installed(project: Project, leftovers: Leftovers) -> None:
    with Gate(project(configuration=f"[image]\ninstall = ['echo {uuid.uuid4()}; sleep 600']\n"), *QUICK) as gate:
        gate.wait_for(lambda: leftovers.running(gate.pid))
        gate.press_control_c()
        ended = gate.ended()
    assert "installing dependencies from `install` of the configuration" in ended.stderr
    interrupted(ended, leftovers, "SIGINT", 130)


def test_sigterm_while_an_image_is_built(project: Project, engine: DockerEngine, base: str, leftovers: Leftovers) -> None:
    start_from = f"paritygate-test-base:{uuid.uuid4().hex[:12]}"
    slow = f"FROM {base}\nLABEL unique={start_from}\nRUN printf '#!/bin/sh\\nsleep 600\\n' >/usr/local/bin/localedef"
    slow += " && chmod +x /usr/local/bin/localedef"
    engine.build(BuildRequest(tag=start_from, files={"Dockerfile": slow.encode()}, labels={}), lambda _line: None)
    try:
        place = project(configuration=f"[image]\nbase = '{start_from}'\n")
        with Gate(place, *QUICK, "--without-axis", "case_sensitive") as gate:
            gate.wait_for(lambda: leftovers.made_of(start_from))
            gate.send(signal.SIGTERM)
            ended = gate.ended()
        assert "making the system layer on" in ended.stderr
        interrupted(ended, leftovers, "SIGTERM", 143)
        wait_until(lambda: not leftovers.made_of(start_from), "the container of the build is still there")
        assert leftovers.unnamed(f"unique={start_from}") == set()
    finally:
        leftovers.remove_labelled(f"unique={start_from}")


def wait_until(what: Callable[[], object], otherwise: str, seconds: float = ENDS_WITHIN_SECONDS) -> None:
    """Wait for what happens without the gate; fails where it does not."""
    give_up = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < give_up, otherwise
        time.sleep(0.1)


def test_control_c_while_the_project_is_installed_in_its_tree(project: Project, leftovers: Leftovers) -> None:
    place = project(pyproject_toml=SLOW_BUILD, slow_py="import time\n\ndef build_editable(*given):\n    time.sleep(600)\n")
    with Gate(place, *QUICK) as gate:
        gate.wait_for_line("putting the dirty tree")
        gate.wait_for(lambda: leftovers.running(gate.pid))
        gate.press_control_c()
        ended = gate.ended()
    interrupted(ended, leftovers, "SIGINT", 130)


@pytest.mark.parametrize(
    ("press", "name", "status"),
    [
        (Gate.press_control_c, "SIGINT", 130),
        (lambda gate: gate.send(signal.SIGTERM), "SIGTERM", 143),
        (lambda gate: gate.send(signal.SIGHUP), "SIGHUP", 129),
    ],
    ids=["control-c", "sigterm", "sighup"],
)
def test_interruption_while_cells_run(
    sleeping: Path, leftovers: Leftovers, press: Callable[[Gate], None], name: str, status: int
) -> None:
    with Gate(sleeping) as gate:
        gate.wait_for_line("collected 1")
        press(gate)
        ended = gate.ended()
    interrupted(ended, leftovers, name, status)
    assert "local-like-1: stopped, " in ended.stderr
    assert "crashed" not in ended.stderr


SPOILS_AND_IS_SPOILED = """
STATE = []


def test_spoils():
    STATE.append(1)


def test_is_spoiled():
    assert STATE == []
"""


def test_control_c_while_causes_are_looked_for_keeps_the_report(tmp_path: Path, leftovers: Leftovers) -> None:
    project = lay_out(tmp_path / "project", {"tests/test_it.py": SPOILS_AND_IS_SPOILED})
    with Gate(project, "--env", "local-like") as gate:
        gate.wait_for_line("looking for causes")
        gate.press_control_c()
        ended = gate.ended()
    place = project / "parity_report.json"
    assert (ended.status, ended.errors[-1]) == (130, "paritygate: interrupted by `SIGINT`; nothing is left running")
    assert f"report: {place}, complete but for causes: `paritygate explain {place}` looks for them" in ended.stderr.splitlines()
    assert ended.artifact is not None
    assert ended.artifact.verdict.exit_code == 2
    assert [each.cause for each in ended.artifact.tests] == [None, None]
    assert leftovers.everything(ended.pid) == []


def test_a_second_signal_is_answered_and_the_cleaning_goes_on(sleeping: Path, leftovers: Leftovers) -> None:
    with Gate(sleeping) as gate:
        gate.wait_for_line("collected 1")
        gate.press_control_c()
        gate.send(signal.SIGTERM)
        ended = gate.ended()
    assert (ended.status, ended.artifact) == (130, None)
    assert "paritygate: stopping; once more to abandon, the next run cleans up" in ended.errors
    assert ended.errors[-1] == "paritygate: interrupted by `SIGINT`; nothing is left running"
    assert leftovers.everything(ended.pid) == []


def test_a_third_signal_ends_at_once_and_the_next_run_cleans_up(sleeping: Path, leftovers: Leftovers) -> None:
    with Gate(sleeping) as gate:
        gate.wait_for_line("collected 1")
        gate.press_control_c()
        gate.send(signal.SIGTERM)
        gate.wait_for_line("once more to abandon")
        gate.press_control_c()
        ended = gate.ended()
    assert (ended.status, ended.artifact) == (130, None)
    assert [word for word in MAY_NOT_BE_SEEN if word in ended.stderr] == []
    wait_until(lambda: not leftovers.running(ended.pid), "cells go on without their gate")
    run(sleeping, "--env", "local-like", "--attempts", "1", "--timeout", "1")
    assert leftovers.everything(ended.pid) == []


def test_a_killed_run_ends_its_cells_and_the_next_run_removes_them(sleeping: Path, leftovers: Leftovers) -> None:
    with Gate(sleeping) as gate:
        gate.wait_for_line("collected 1")
        left = leftovers.running(gate.pid)
        gate.send(signal.SIGKILL)
        killed = gate.ended()
    assert (killed.status, killed.artifact) == (-signal.SIGKILL, None)
    wait_until(lambda: not leftovers.running(killed.pid), "cells go on without their gate")
    ended = run(sleeping, *QUICK, "--timeout", "1")
    assert leftovers.everything(killed.pid) == []
    for name in left:
        assert f"removed what an earlier run left: container `{name}`" in ended.stderr


def test_two_gates_at_once_do_not_touch_each_other(project: Project, leftovers: Leftovers) -> None:
    one = project(test="import time\n\ndef test_one():\n    time.sleep(2)\n")
    other = project(test="import time\n\ndef test_other():\n    time.sleep(2)\n    assert not 'red'\n")
    again = ("--env", "local-like", "--attempts", "2", "--report", f"{one}/third.json")
    with Gate(one, *QUICK) as first, Gate(other, *QUICK) as second, Gate(one, *again) as third:
        ends = [gate.ended() for gate in (first, second, third)]
    assert [ended.status for ended in ends] == [0, 1, 0], [ended.stderr for ended in ends]
    assert ends[0].finding("tests/test_it.py::test_one").label is Label.CONSISTENT_GREEN
    assert ends[1].finding("tests/test_it.py::test_other").label is Label.CONSISTENT_RED
    assert [leftovers.everything(ended.pid) for ended in ends] == [[], [], []]


# --- the engine goes away ---------------------------------------------------------------------------------------------


class SecondEngine:
    """An engine beside the one that is there, without a network, that may be stopped.

    It lives in a network namespace of its own: an engine that is told to have no bridge removes the one it finds, which would
    be that of the usual engine.
    """

    def __init__(self, folder: Path) -> None:
        self.host = f"unix://{folder}/engine.sock"
        places = ("--data-root", f"{folder}/data", "--exec-root", f"{folder}/exec", "--pidfile", f"{folder}/pid")
        alone = ("--host", self.host, "--bridge", "none", "--iptables=false")
        with (folder / "log").open("wb") as log:
            self._daemon = subprocess.Popen(
                ["unshare", "--net", "dockerd", *places, *alone],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        wait_until(lambda: self.docker("version").returncode == 0, (folder / "log").read_text(encoding="utf-8"))

    def docker(self, *arguments: str, stdin: IO[bytes] | None = None) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(["docker", "--host", self.host, *arguments], stdin=stdin, capture_output=True, check=False)

    def copy(self, images: list[str]) -> None:
        """Take images over from the usual engine."""
        with subprocess.Popen(["docker", "save", *images], stdout=subprocess.PIPE) as saved:
            loaded = self.docker("load", stdin=saved.stdout)
        assert (saved.returncode, loaded.returncode) == (0, 0), loaded.stderr

    def stop(self) -> None:
        self._daemon.terminate()
        try:
            self._daemon.wait(60)
        except subprocess.TimeoutExpired:
            self._daemon.kill()
            self._daemon.wait()


@pytest.mark.skipif(
    os.geteuid() != 0 or not all(map(shutil.which, ("docker", "dockerd", "unshare"))),
    reason="starting a second engine takes root, `docker`, `dockerd` and `unshare`",
)
def test_an_engine_that_goes_away_while_cells_run(sleeping: Path, engine: DockerEngine, base: str, tmp_path: Path) -> None:
    made = run(sleeping, *QUICK, "--timeout", "1")
    assert made.artifact is not None, made.stderr
    tree = made.artifact.images[LOCAL]
    client = APIClient(base_url=engine.info.endpoint.url, version="auto")
    (environment,) = client.inspect_image(client.inspect_image(tree)["Parent"])["RepoTags"]
    client.close()
    folder = Path(tempfile.mkdtemp(prefix="engine-"))  # a socket's path has to be short
    second = SecondEngine(folder)
    try:
        second.copy([base, environment, tree])
        with Gate(sleeping, *QUICK, "--host", second.host) as gate:
            gate.wait_for_line("collected 1")
            second.stop()
            ended = gate.ended()
    finally:
        second.stop()
        shutil.rmtree(folder, ignore_errors=True)
    assert (ended.status, only_cell(ended).status) == (4, CellStatus.CRASHED)
    assert verdict_line(ended).startswith("no-verdict: `local-like` attempt 1 died in `tests/test_it.py::test_sleeps`: ")
    assert "the engine could not look at the container: " in verdict_line(ended)
    assert [word for word in MAY_NOT_BE_SEEN if word in ended.stderr] == []


# --- streams ----------------------------------------------------------------------------------------------------------


def test_quiet_leaves_only_the_answer(passing: Path) -> None:
    ended = run(passing, *QUICK, "--quiet")
    assert (ended.status, ended.stderr) == (0, "")
    assert verdict_line(ended) == "stable in local-like (one environment, nothing compared) (exit 0)"


def test_debug_adds_the_traceback_to_an_error(passing: Path) -> None:
    ended = run(passing, "--debug", "--host", "unix:///nowhere/engine.sock")
    assert ended.status == 4
    assert "Traceback (most recent call last):" in ended.stderr
    assert "paritygate: the engine chosen by flag does not answer:" in ended.stderr.splitlines()


@pytest.mark.parametrize("gone", ["stdout", "both"])
def test_a_reader_that_has_left_changes_no_verdict(passing: Path, gone: str) -> None:
    (passing / "parity_report.json").unlink(missing_ok=True)
    reading, writing = os.pipe()
    os.close(reading)
    with tempfile.TemporaryFile() as said:
        process = start(("run", "--project", str(passing), *QUICK), None, writing, writing if gone == "both" else said)
        os.close(writing)
        status = process.wait(PATIENCE_SECONDS)
        said.seek(0)
        stderr = said.read().decode()
    assert status == 0, stderr
    assert [word for word in (*MAY_NOT_BE_SEEN, "BrokenPipe") if word in stderr] == []
    assert msgspec.json.decode((passing / "parity_report.json").read_bytes(), type=Artifact).verdict.exit_code == 0


def test_an_answer_that_cannot_be_written(passing: Path) -> None:
    with Path("/dev/full").open("wb") as full, tempfile.TemporaryFile() as said:
        process = start(("run", "--project", str(passing), *QUICK), None, full, said)
        status = process.wait(PATIENCE_SECONDS)
        said.seek(0)
        lines = said.read().decode().splitlines()
    assert status == 4, lines
    assert lines[-2:] == [
        "paritygate: the answer could not be written to stdout: No space left on device",
        "hint: make room there, or write elsewhere",
    ]
    assert [line for line in lines if any(word in line for word in MAY_NOT_BE_SEEN)] == []


def test_a_report_that_can_no_longer_be_written_when_all_is_done(passing: Path) -> None:
    ended = run(passing, *QUICK, "--report", "/dev/full")
    assert verdict_line(ended) == "stable in local-like (one environment, nothing compared) (exit 0)"
    assert (ended.status, ended.artifact, ended.errors) == (
        4,
        None,
        [
            "paritygate: cannot write `/dev/full`: No space left on device",
            "hint: give another place with `--report PATH`",
        ],
    )


def test_a_closed_stdin_is_no_hindrance(passing: Path) -> None:
    command = (sys.executable, "-m", "paritygate", "run", "--project", str(passing), *QUICK)
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *command], env=clean_environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_no_color_is_honoured_on_a_terminal(passing: Path) -> None:
    near, far = os.openpty()
    process = start(("run", "--project", str(passing), *QUICK), {"NO_COLOR": "1", "TERM": "xterm-256color"}, far, far)
    os.close(far)
    said = b""
    with contextlib.suppress(OSError):  # how a terminal says that the other side has gone
        while piece := os.read(near, 1 << 16):
            said += piece
    os.close(near)
    assert process.wait(PATIENCE_SECONDS) == 0, said
    assert b"stable in local-like" in said
    assert re.findall(rb"\x1b\[[0-9;]*3[0-9][0-9;]*m", said) == []
