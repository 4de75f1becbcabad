"""The gate on this computer itself, as a user has it: what cells see, what they leave, and how it ends."""

from __future__ import annotations

import os
import site
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from paritygate.guest.lodging import MARK
from paritygate.outcomes.words import CellStatus, Outcome
from tests.support.gate_runs import PATIENCE_SECONDS, Ended, Gate, lay_out, run

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="cells on the computer itself take Linux")

ON_HOST = ("--runner", "host", "--without-axis", "case_sensitive", "--explain-budget", "0")
ONE_CELL = (*ON_HOST, "--env", "local-like", "--attempts", "1")
PASSES = "def test_passes():\n    pass\n"
SLEEPS = "import time\n\ndef test_sleeps():\n    time.sleep(600)\n"


@pytest.fixture
def apart(tmp_path: Path) -> dict[str, str]:
    """Give the variables of a run that shares no folder with other runs."""
    (tmp_path / "t").mkdir()
    return {"TMPDIR": str(tmp_path / "t"), "HOST_SECRET": "hunter2", "VIRTUAL_ENV": ""}


def laid_out(tmp_path: Path, files: dict[str, str], settings: str = "") -> Path:
    """Lay out a project whose locale every computer has."""
    own = f'{settings}\n[environments.local-like]\nlocale = "C.UTF-8"\n'
    return lay_out(tmp_path / "project", files | {"paritygate.toml": own})


def marked(variables: dict[str, str]) -> list[int]:
    """List the processes that were started in cells of such a run."""
    mark = f"{MARK}={variables['TMPDIR']}".encode()
    return [int(entry.parent.name) for entry in environments() if mark in content(entry)]


def environments() -> Iterator[Path]:
    return (entry / "environ" for entry in Path("/proc").iterdir() if entry.name.isdecimal())


def content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def left(variables: dict[str, str]) -> list[str]:
    """List what runs have left in their folder, but for what is there for the next one."""
    return sorted(
        path.name for path in Path(variables["TMPDIR"]).glob("parity-*/*") if path.name not in {"lock", "fs", "fs.lock"}
    )


def outcomes(ended: Ended) -> dict[str, Outcome]:
    assert ended.artifact is not None, ended.stderr
    return {run.nodeid.rpartition("::")[2]: run.outcome for run in ended.artifact.cells[0].tests}


SURROUNDINGS = """\
import os, socket, sys, tempfile
from pathlib import Path

ROOT = Path(__file__).parent

def test_the_tree_is_a_copy_at_the_place_where_all_cells_have_it():
    assert ROOT == Path.cwd()
    assert str(ROOT).endswith("/fs/workspace")
    (ROOT / "kept.txt").write_text("changed")

def test_home_and_temporary_folder_are_the_cells_own():
    assert Path.home() == ROOT.parent / "home"
    assert tempfile.gettempdir() == str(ROOT.parent / "tmp")
    assert not list(Path.home().iterdir())

def test_nothing_of_the_callers_variables_is_there():
    assert "HOST_SECRET" not in os.environ

def test_stdin_is_empty():
    assert os.read(0, 1) == b""

def test_there_is_nobody_else_on_the_network_and_in_the_folder_of_temporary_files():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        socket.create_connection(server.getsockname()).close()
    assert [name for _, name in socket.if_nameindex()] == ["lo"]
    Path("/tmp/by-name").write_text("")
    assert [path.name for path in (ROOT.parent / "tmp").iterdir() if path.is_file()] == ["by-name"]
    assert not list(Path("/dev/shm").iterdir())

def test_bytecode_is_not_written():
    assert sys.dont_write_bytecode
"""


def test_a_cell_has_a_copy_a_home_and_variables_of_its_own(tmp_path: Path, apart: dict[str, str]) -> None:
    project = laid_out(tmp_path, {"test_surroundings.py": SURROUNDINGS, "kept.txt": "as it was"})
    ended = run(project, *ONE_CELL, variables=apart)
    assert ended.status == 0, ended.stdout
    assert (project / "kept.txt").read_text() == "as it was"
    assert left(apart) == []
    assert ended.stdout.startswith("stable in local-like (one environment, nothing compared) (on host)")
    assert "parity" not in ended.stdout.splitlines()[0]
    assert "the user and `/etc/localtime`" in ended.stdout
    assert ended.artifact is not None
    assert ended.artifact.engine["name"] == "host"
    assert ended.artifact.material is not None
    assert ended.artifact.material.runners == {"local-like": "host"}


def test_the_projects_own_environment_finds_the_cells_copy_of_an_editable_project_and_stays_as_it_is(
    tmp_path: Path, apart: dict[str, str]
) -> None:
    where = "import os, shop\n\ndef test_it_is_the_copy():\n    assert shop.__file__ == os.getcwd() + '/lib/shop.py'\n"
    project = laid_out(tmp_path, {"lib/shop.py": "", "test_where.py": where, ".gitignore": ".venv\n"})
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", project / ".venv"], check=True, timeout=60)
    (packages,) = (project / ".venv").glob("lib/python*/site-packages")
    (packages / "theirs.pth").write_text("".join(f"import site; site.addsitedir({path!r})\n" for path in site.getsitepackages()))
    (packages / "shop.pth").write_text(f"{project}/lib\n")
    (packages / "shop-1.dist-info").mkdir()
    (packages / "shop-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: shop\nVersion: 1\n")
    (packages / "shop-1.dist-info" / "direct_url.json").write_text(
        f'{{"url": "file://{project}", "dir_info": {{"editable": true}}}}'
    )
    before = sorted(path for path in (project / ".venv").rglob("*"))
    ended = run(project, *ONE_CELL, variables=apart)
    assert ended.status == 0, ended.stdout
    assert f"{project}/.venv/bin/python (the project's `.venv`)" in ended.stderr
    assert sorted(path for path in (project / ".venv").rglob("*")) == before
    (packages / "shop.pth").write_text("import shop_finder\n")
    (packages / "shop_finder.py").write_text("")
    refused = run(project, *ONE_CELL, variables=apart)
    assert refused.status == 4
    assert "`shop` is installed editable" in refused.stderr
    assert "only leads to the working tree" in refused.stderr


def test_an_interpreter_without_pytest_is_said_before_anything_runs(tmp_path: Path, apart: dict[str, str]) -> None:
    project = laid_out(tmp_path, {"test_a.py": PASSES})
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True, timeout=60)
    ended = run(project, *ONE_CELL, variables=apart | {"VIRTUAL_ENV": str(tmp_path / "bare")})
    assert ended.status == 4
    assert f"pytest is not installed for `{tmp_path}/bare/bin/python` (`VIRTUAL_ENV`)" in ended.stderr
    assert "hint: install it there, or name another with `python` under `[tool.paritygate.host]`" in ended.stderr
    assert left(apart) == []


def test_an_interpreter_that_is_not_there_is_a_usage_error(tmp_path: Path, apart: dict[str, str]) -> None:
    project = laid_out(tmp_path, {"test_a.py": PASSES}, '[host]\npython = "nowhere/python"')
    ended = run(project, *ONE_CELL, variables=apart)
    assert ended.status == 64
    assert f"`host.python`: there is no program `{project}/nowhere/python`" in ended.stderr


def test_a_killed_gate_ends_its_cells_and_the_next_one_removes_what_they_left(tmp_path: Path, apart: dict[str, str]) -> None:
    project = laid_out(tmp_path, {"test_a.py": SLEEPS})
    with Gate(project, *ONE_CELL, variables=apart) as gate:
        gate.wait_for(lambda: marked(apart))
        os.kill(gate.pid, 9)
        assert gate.ended().status == -9
    give_up = time.monotonic() + PATIENCE_SECONDS
    while marked(apart):
        assert time.monotonic() < give_up
        time.sleep(0.05)
    (folder,) = left(apart)
    (project / "test_a.py").write_text(PASSES)
    ended = run(project, *ONE_CELL, variables=apart)
    assert ended.status == 0
    assert f"/{folder}" in next(line for line in ended.stderr.splitlines() if "removed what an earlier run left" in line)
    assert left(apart) == []


def test_control_c_leaves_nothing(tmp_path: Path, apart: dict[str, str]) -> None:
    project = laid_out(tmp_path, {"test_a.py": SLEEPS})
    with Gate(project, *ONE_CELL, variables=apart) as gate:
        gate.wait_for(lambda: marked(apart))
        gate.press_control_c()
        ended = gate.ended()
    assert ended.status == 130
    assert (marked(apart), left(apart)) == ([], [])


def test_what_a_test_leaves_behind_is_ended_though_it_kills_its_launcher(tmp_path: Path, apart: dict[str, str]) -> None:
    kills = (
        "import os, signal, subprocess\n\n"
        "def test_kills():\n"
        "    subprocess.Popen(['sleep', '600'], start_new_session=True)\n"
        "    os.kill(os.getppid(), signal.SIGKILL)\n"
    )
    project = laid_out(tmp_path, {"test_a.py": kills})
    ended = run(project, *ONE_CELL, variables=apart)
    assert ended.status == 4
    assert ended.artifact is not None
    assert ended.artifact.cells[0].status is CellStatus.CRASHED
    assert (marked(apart), left(apart)) == ([], [])


def test_hung_and_dying_tests_end_as_in_containers(tmp_path: Path, apart: dict[str, str]) -> None:
    dies = "import os\n\ndef test_dies():\n    os._exit(0)\n"
    project = laid_out(tmp_path, {"test_a.py": SLEEPS, "test_b.py": PASSES, "test_c.py": dies}, "test-timeout = 2")
    ended = run(project, *ONE_CELL, variables=apart)
    assert ended.status == 1, ended.stdout
    assert outcomes(ended) == {"test_sleeps": Outcome.TIMED_OUT, "test_passes": Outcome.PASSED, "test_dies": Outcome.CRASHED}


def test_an_id_that_names_no_test_is_told_before_the_cell_and_in_the_report(tmp_path: Path, apart: dict[str, str]) -> None:
    project = laid_out(tmp_path, {"test_it.py": PASSES})
    ended = run(project, *ONE_CELL, "test_it.py::test_pases", variables=apart)
    said = "did you mean `test_it.py::test_passes`?"
    assert f"warning: `test_it.py` nowhere spells `test_pases`; {said}" in ended.stderr
    assert ended.finding("test_it.py::test_pases").note == f"asked for, and found in no cell; {said}"
    assert "had a chance of" not in ended.stdout


NAMELESS = {"shop/testprices.py": "def test_it():\n    pass\n", "shop/__init__.py": "", "shop/testing.py": "def help(): pass\n"}
PASSED_OVER = "by their content there are tests in `shop/testprices.py`, which pytest passes over, since it looks for"


def test_where_nothing_is_collected_tests_in_files_of_other_names_are_named(tmp_path: Path) -> None:
    project = laid_out(tmp_path, NAMELESS)
    ended = run(project, "shop", *ONE_CELL)
    assert ended.status == 4
    assert ended.artifact is not None
    (note,) = (note for note in ended.artifact.notes if PASSED_OVER in note)
    assert note.endswith(
        "name what is to run, as in `paritygate run shop/testprices.py`, or set `python_files` in pytest's configuration"
    )
    assert PASSED_OVER in " ".join(ended.stdout.split())
    named = run(project, "shop/testprices.py", *ONE_CELL)
    assert (named.status, outcomes(named)) == (0, {"test_it": Outcome.PASSED})
