"""The gate with one environment on another computer: verdicts, bad ends, and what is left there."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from paritygate import machine
from paritygate.config import file as config_file
from paritygate.guest.lodging import MARK
from paritygate.machine import Row
from paritygate.outcomes.artifact import Cause
from paritygate.outcomes.words import Axis, CauseKind, Label, Outcome
from tests.support.command_line import call
from tests.support.gate_runs import PATIENCE_SECONDS, Ended, Gate, lay_out, run
from tests.support.sshd import TARGET, Sshd, program

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="cells outside of containers take Linux"),
    pytest.mark.skipif(not program(), reason="sshd is not installed"),
]

PASSES = "def test_passes():\n    pass\n"
SLEEPS = "import time\n\ndef test_sleeps():\n    time.sleep(600)\n"
NOT_EXPLAINED = ("--explain-budget", "0")


@pytest.fixture
def elsewhere(tmp_path: Path, kept: Path) -> Iterator[Sshd]:
    with Sshd(tmp_path / "sshd", kept) as server:
        yield server


def laid_out(tmp_path: Path, packages: Path, files: dict[str, str], settings: str = "") -> Path:
    """Lay out a project with one environment here, one there."""
    own = (
        f'runner = "host"\n{settings}\n[host]\npython = "{packages}/bin/python"\n'
        '[environments.server-like]\nrunner = "ssh"\nworkers = 0\n'
    )
    return lay_out(tmp_path / "project", files | {"paritygate.toml": own})


def processes_there(server: Sshd) -> list[str]:
    """List the processes of cells there."""
    mark = f"{MARK}={server.temporary}".encode()
    return [entry.name for entry in Path("/proc").iterdir() if entry.name.isdecimal() and mark in variables_of(entry)]


def variables_of(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes()
    except OSError:
        return b""


def files_there(server: Sshd) -> list[str]:
    """List what runs have left there, but for what is there for the next one."""
    left = [*server.temporary.glob("parity-*/*"), *server.temporary.glob("paritygate-*")]
    return sorted(path.name for path in left if path.name not in {"lock", "fs", "fs.lock"})


def assert_nothing_is_left(server: Sshd) -> None:
    give_up = time.monotonic() + PATIENCE_SECONDS
    while left := (processes_there(server), files_there(server)):
        if left == ([], []):
            return
        assert time.monotonic() < give_up, left
        time.sleep(0.05)


def errors(ended: Ended) -> str:
    return "\n".join(ended.errors)


GREEN = """\
import os
from pathlib import Path

def test_the_project_is_the_copy_in_the_cell():
    import shop
    assert shop.__file__ == os.getcwd() + "/src/shop.py"

def test_nothing_secret_is_there():
    assert not (Path(__file__).parent / ".env").exists()
    assert "PARITY_SSH_TARGET" not in os.environ

def test_home_is_the_cells_own():
    assert Path.home() == Path.cwd().parent / "home"
"""


def test_parity_between_here_and_there(tmp_path: Path, packages: Path, elsewhere: Sshd) -> None:
    files = {"test_a.py": GREEN, "src/shop.py": "", ".gitignore": ".env\n"}
    project = laid_out(tmp_path, packages, files)
    (project / ".env").write_text("TOKEN=hunter2\n")
    ended = run(project, *NOT_EXPLAINED, variables=elsewhere.variables)
    assert ended.status == 0, ended.stdout + ended.stderr
    assert ended.stdout.startswith("parity over timezone")
    assert "3 tests in 4 cells (local-like on host, server-like on ssh)" in ended.stdout.splitlines()[0]
    assert "withheld as secret-like: .env" in ended.stdout
    assert ended.artifact is not None
    assert [cell.runner for cell in ended.artifact.cells] == ["host", "host", "ssh", "ssh"]
    assert f"on `{TARGET}` (linux/" in ended.stderr
    case = next(each for each in ended.artifact.axes if each.axis is Axis.CASE_SENSITIVE)
    assert (case.varied, case.why) == (False, f"no filesystem that folds case can be had on `{TARGET}` over ssh")
    assert {cell.filesystem for cell in ended.artifact.cells} == {None}
    assert_nothing_is_left(elsewhere)


def test_one_environment_alone_is_no_parity(tmp_path: Path, packages: Path, elsewhere: Sshd) -> None:
    project = laid_out(tmp_path, packages, {"test_a.py": PASSES})
    options = ("--env", "local-like", "--attempts", "1", "--runner", "ssh", "--without-axis", "locale")
    ended = run(project, *NOT_EXPLAINED, *options, variables=elsewhere.variables)
    assert ended.status == 0, ended.stdout + ended.stderr
    assert ended.stdout.startswith("stable in local-like (one environment, nothing compared) (on ssh)")
    assert "parity" not in ended.stdout.splitlines()[0]
    again = call(project, "repro", "parity_report.json", "test_a.py::test_passes", variables=elsewhere.variables)
    assert (again.code, again.out.splitlines()[-1]) == (0, "reproduced: passed, as in the report"), again.err
    assert "once more in local-like-1, on ssh" in again.err


def test_a_coupling_between_here_and_there(tmp_path: Path, packages: Path, elsewhere: Sshd) -> None:
    coupled = "import os, time\n\ndef test_coupled():\n    assert time.localtime().tm_gmtoff == 0\n\n" + PASSES
    lies = f"def test_lies_there():\n    assert not os.getcwd().startswith('{elsewhere.temporary}')\n"
    project = laid_out(tmp_path, packages, {"test_a.py": f"{coupled}\n{lies}"})
    ended = run(project, variables=elsewhere.variables)
    assert ended.status == 3, ended.stdout + ended.stderr
    cause = ended.finding("test_a.py::test_coupled").cause
    assert cause is not None
    assert cause.axes == (Axis.TIMEZONE,)
    assert ended.finding("test_a.py::test_lies_there").cause == Cause(
        kind=CauseKind.COMPUTER,
        detail="not an axis: the two computers themselves (host / ssh); "
        "local-like with server-like's computer fails, 2 of 2; server-like with local-like's passes, 2 of 2",
    )
    assert "cause: computer: not an axis: the two computers themselves (host / ssh)" in ended.stdout
    assert ended.finding("test_a.py::test_passes").label is Label.CONSISTENT_GREEN
    held = call(project, "verify", "parity_report.json")
    assert held.code == 0, held.out


def test_hung_and_dying_tests_end_there_as_here(tmp_path: Path, packages: Path, elsewhere: Sshd) -> None:
    dies = "import os\n\ndef test_dies():\n    os._exit(0)\n"
    project = laid_out(tmp_path, packages, {"test_a.py": SLEEPS, "test_b.py": dies, "test_c.py": PASSES}, "test-timeout = 2")
    options = ("--env", "server-like", "--attempts", "1")
    ended = run(project, *NOT_EXPLAINED, *options, variables=elsewhere.variables)
    assert ended.status == 1, ended.stdout + ended.stderr
    assert ended.artifact is not None
    outcomes = {run.nodeid.rpartition("::")[2]: run.outcome for run in ended.artifact.cells[0].tests}
    assert outcomes == {"test_sleeps": Outcome.TIMED_OUT, "test_dies": Outcome.CRASHED, "test_passes": Outcome.PASSED}
    assert_nothing_is_left(elsewhere)


def test_a_connection_that_is_cut_is_no_verdict_and_ends_everything_there(
    tmp_path: Path, packages: Path, elsewhere: Sshd
) -> None:
    elsewhere.have_one_processor()  # so that one cell runs after the other
    sleeps = f"import os\nimport pytest\n{SLEEPS}"
    asleep = sleeps.replace("\ndef", "\n@pytest.mark.skipif(os.environ['PYTHONHASHSEED'] != '1', reason='awake')\ndef")
    project = laid_out(tmp_path, packages, {"test_a.py": f"{asleep}\n{PASSES}"})
    options = ("--env", "server-like", "--seed", "1", "--seed", "2")
    with Gate(project, *NOT_EXPLAINED, *options, variables=elsewhere.variables) as gate:
        gate.wait_for(lambda: "collected" in gate.stderr)
        elsewhere.cut()
        ended = gate.ended()
    assert ended.status == 4, ended.stdout + ended.stderr
    assert ended.stdout.startswith("no-verdict: `server-like` attempt 1 was lost: the connection to the cell was lost, ")
    assert f"ssh to `{TARGET}` ended" in ended.stdout
    assert "hint: run again; the connection was lost, and no test is to blame for that" in ended.stdout
    assert "suspect" not in ended.stdout
    assert f"the connection to `{TARGET}` was lost; it is made anew" in ended.stderr
    assert ended.artifact is not None
    assert [(cell.status, cell.lost) for cell in ended.artifact.cells] == [("crashed", True), ("finished", False)]
    assert_nothing_is_left(elsewhere)


def test_a_killed_gate_leaves_nothing_there(tmp_path: Path, packages: Path, elsewhere: Sshd) -> None:
    project = laid_out(tmp_path, packages, {"test_a.py": SLEEPS})
    options = ("--env", "server-like", "--attempts", "1")
    with Gate(project, *NOT_EXPLAINED, *options, variables=elsewhere.variables) as gate:
        gate.wait_for(lambda: "collected" in gate.stderr)
        os.kill(gate.pid, 9)
        assert gate.ended().status == -9
    assert_nothing_is_left(elsewhere)


def test_what_keeps_a_connection_from_coming_about_is_said_with_what_to_do(
    tmp_path: Path, packages: Path, elsewhere: Sshd
) -> None:
    project = laid_out(tmp_path, packages, {"test_a.py": PASSES})
    elsewhere.use("other")
    refused = run(project, variables=elsewhere.variables)
    elsewhere.use("user")
    elsewhere.know("")
    unknown = run(project, variables=elsewhere.variables)
    elsewhere.know("other")
    another = run(project, variables=elsewhere.variables)
    assert (refused.status, unknown.status, another.status) == (4, 4, 4)
    assert f"paritygate: no connection to `{TARGET}`: it refuses the key" in errors(refused)
    assert f"hint: try `ssh -o BatchMode=yes {TARGET} true`" in errors(refused)
    assert f"paritygate: no connection to `{TARGET}`: its host key is not known" in errors(unknown)
    assert f"connect once by hand (`ssh {TARGET}`)" in errors(unknown)
    assert f"paritygate: no connection to `{TARGET}`: its host key is not the one that is known" in errors(another)


def test_another_python_there_ends_the_run_before_any_cell_and_is_a_finding_of_doctor(
    tmp_path: Path, packages: Path, elsewhere: Sshd
) -> None:
    project = laid_out(tmp_path, packages, {"test_a.py": PASSES})
    here = tmp_path / "bin" / "python"
    here.parent.mkdir()
    version = sys.version.split()[0]
    here.write_text(f'#!/bin/sh\n{packages}/bin/python "$@" | sed \'s/"version": "{version}"/"version": "3.0.1"/\'\n')
    here.chmod(0o755)
    settings = project / "paritygate.toml"
    settings.write_text(settings.read_text().replace(f"{packages}/bin/python", str(here)))
    ended = run(project, variables=elsewhere.variables)
    assert (ended.status, ended.artifact, ended.stdout) == (4, None, "")
    what = f"Python is {version} on `{TARGET}` and 3.0.1 on the other side: cells of different Pythons cannot be compared"
    assert f"paritygate: {what}" in errors(ended)
    mend = f"make `.venv` here with Python {version}, or name one that has it with `python` under `[tool.paritygate.host]`"
    assert f"hint: {mend}; or install Python 3.0.1 on `{TARGET}`" in errors(ended)
    found = of_ssh(project, elsewhere)
    assert (found.well, found.hints) == (False, (f"{mend}; or install Python 3.0.1 on `{TARGET}`",))
    assert found.said.endswith(f"; {what}")
    settings.write_text(settings.read_text().replace(str(here), f"{packages}/bin/python"))
    found = of_ssh(project, elsewhere)
    assert found.well
    assert f"reaches `{TARGET}` (linux/" in found.said
    assert f", Python {version} at /" in found.said
    assert found.notes == (f"case_sensitive could not vary: no filesystem that folds case can be had on `{TARGET}` over ssh",)
    assert_nothing_is_left(elsewhere)


def of_ssh(project: Path, server: Sshd) -> Row:
    """Ask doctor of the other computer."""
    known = config_file.load(project).settings
    return next(row for row in machine.rows(known, project, {**os.environ, **server.variables}, None) if row.label == "ssh")


def test_no_python_there(tmp_path: Path, packages: Path, kept: Path) -> None:
    project = laid_out(tmp_path, packages, {"test_a.py": PASSES})
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sh").symlink_to("/bin/sh")
    with Sshd(tmp_path / "sshd", kept, f'ForceCommand PATH={tmp_path}/bin; eval "$SSH_ORIGINAL_COMMAND"') as server:
        ended = run(project, variables=server.variables)
        found = of_ssh(project, server)
    assert (found.well, found.said) == (False, f"`{TARGET}` has no Python 3.8 or later")
    assert found.hints[0].startswith("install it there")
    assert ended.status == 4
    assert f"paritygate: `{TARGET}` has no Python 3.8 or later" in errors(ended)
    assert "hint: install it there" in errors(ended)


def test_a_disk_that_is_full_there(tmp_path: Path, packages: Path, elsewhere: Sshd) -> None:
    mount = ("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(elsewhere.temporary))
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk takes the right to mount one")
    try:
        project = laid_out(tmp_path, packages, {"test_a.py": PASSES, "data.bin": "x" * 3_000_000})
        ended = run(project, variables=elsewhere.variables)
        assert ended.status == 4
        assert f"paritygate: `{TARGET}` could not do `put`: no space left on device" in errors(ended)
        assert "hint: free space there" in errors(ended)
        assert_nothing_is_left(elsewhere)
    finally:
        subprocess.run(("umount", "--lazy", str(elsewhere.temporary)), check=True)


def test_a_target_that_nobody_named_is_a_usage_error(tmp_path: Path, packages: Path) -> None:
    ended = run(laid_out(tmp_path, packages, {"test_a.py": PASSES}), variables={"PARITY_SSH_TARGET": ""})
    assert ended.status == 64
    assert '`environments.server-like.target`: with `runner = "ssh"`, name a computer' in errors(ended)
