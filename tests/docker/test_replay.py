"""What can be done with a report of a real gate: run one test once more, enter its cell, and look for causes afterwards."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest

from paritygate import archive
from paritygate.outcomes.words import Axis, Label, Purpose
from tests.support.gate_runs import Ended, lay_out
from tests.support.samples import clean_environment

pytestmark = pytest.mark.docker

TESTS = """
import os
import pytest
import time

SEEN = []


def test_sets():
    SEEN.append(1)


@pytest.mark.parametrize("value", ["a b", "Ä[1]"])
def test_in_utc(value):
    assert time.localtime(0).tm_hour == 0


def test_folds():
    open("Folded", "w").close()
    assert os.path.exists("folded")


def test_alone():
    assert not SEEN
"""
HEAD = "tests/test_it.py"
IN_UTC = f"{HEAD}::test_in_utc[a b]"
UNICODE = f"{HEAD}::test_in_utc[\\xc4[1]]"
FOLDS = f"{HEAD}::test_folds"
ALONE = f"{HEAD}::test_alone"


@pytest.fixture(scope="module")
def gated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    """Run one gate for all that is asked of its report."""
    project = lay_out(tmp_path_factory.mktemp("replay") / "shop", {"tests/test_it.py": TESTS})
    report = project / "parity_report.json"
    fewer = [word for axis in ("workers", "locale", "worktree") for word in ("--without-axis", axis)]
    status, said, errors = paritygate("run", "--project", project, "--explain-budget", "0", *fewer)
    assert status == 2, errors
    return report, Ended(status=status, stdout=said, stderr=errors, pid=0, artifact=archive.read(report))


def paritygate(*words: str | Path) -> tuple[int, str, str]:
    ended = subprocess.run(
        [sys.executable, "-m", "paritygate", *map(str, words)],
        check=False,
        capture_output=True,
        text=True,
        env=clean_environment(),
        stdin=subprocess.DEVNULL,
        timeout=600,
    )
    return ended.returncode, ended.stdout, ended.stderr


def test_a_report_lays_both_sides_beside_each_other_and_names_the_command(gated: tuple[Path, Ended]) -> None:
    report, ended = gated
    finding = ended.finding(FOLDS)
    assert [(side.env, side.attempts, side.outcome, side.line) for side in finding.sides] == [
        ("local-like", (1, 2), "passed", 0),
        ("server-like", (1, 2), "failed", 20),
    ]
    assert finding.sides[1].source == 'assert os.path.exists("folded")'
    assert f"to reproduce: paritygate repro {report} {FOLDS}" in ended.stdout
    assert "left out by `--without-axis workers`" in ended.stdout


def test_a_test_fails_once_more_in_its_cell_and_passes_once_more_in_the_other(gated: tuple[Path, Ended]) -> None:
    report, _ = gated
    status, said, _ = paritygate("repro", report, UNICODE)
    assert (status, said.splitlines()[-1]) == (0, "reproduced: failed, as in the report")
    assert said.splitlines()[2].startswith("  tests/test_it.py:15 AssertionError: assert ")
    status, said, _ = paritygate("repro", report, UNICODE, "--cell", "server-like-2")
    assert (status, said.splitlines()[-1]) == (0, "reproduced: passed, as in the report")


def test_what_ran_before_a_test_runs_before_it_unless_it_is_to_be_alone(gated: tuple[Path, Ended]) -> None:
    report, ended = gated
    assert ended.finding(ALONE).label is Label.NONDETERMINISM_EVERYWHERE
    assert paritygate("repro", report, ALONE)[0] == 0
    status, said, _ = paritygate("repro", report, ALONE, "--alone")
    assert (status, said.splitlines()[-1]) == (1, "not reproduced: passed; in the report it is failed")


@pytest.mark.skipif(shutil.which("docker") is None, reason="the line is for the engine's own program, which is not there")
def test_the_printed_line_runs_the_test_without_paritygate_on_the_same_filesystem(gated: tuple[Path, Ended]) -> None:
    report, _ = gated
    for cell, codes in (("local-like-1", (0, 1)), ("server-like-1", (1, 0))):
        seen = []
        for nodeid in (FOLDS, IN_UTC):
            status, line, lacks = paritygate("repro", report, nodeid, "--cell", cell, "--print")
            assert (status, line.count("\n")) == (0, 1), lacks
            seen.append(subprocess.run(shlex.split(line), check=False, capture_output=True, timeout=120).returncode)
        assert tuple(seen) == codes


def test_a_shell_in_a_cell_has_its_user_its_zone_and_its_files(gated: tuple[Path, Ended]) -> None:
    report, ended = gated
    command = [sys.executable, "-m", "paritygate", "repro", str(report), IN_UTC, "--shell"]
    child, terminal = pty.fork()
    if child == 0:
        os.execve(sys.executable, command, clean_environment())  # noqa: S606  # our own program, on a terminal of its own
    said = typed(terminal, b"id -u; date +%Z; touch tests/ONE; ls tests/one; echo kept=$((40+2))\rexit 7\r")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    zone = next(record for record in ended.artifact.environments if record.name == "local-like") if ended.artifact else None
    assert zone is not None
    assert zone.axes[Axis.TIMEZONE] != "UTC"
    assert re.search(r"1000\r\n(?!UTC)\S+\r\ntests/one\r\nkept=42", said), said


def typed(terminal: int, keys: bytes) -> str:
    """Type into a terminal once there is a prompt, and give all that was on it until it ended."""
    said = b""
    give_up = time.monotonic() + 120
    while time.monotonic() < give_up:
        if keys and said.rstrip().endswith((b"$", b"#")):
            os.write(terminal, keys)
            keys = b""
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                piece = os.read(terminal, 1 << 16)
            except OSError:  # the other side has closed it
                break
            if not piece:
                break
            said += piece
    os.close(terminal)
    return said.decode(errors="replace")


def test_causes_are_found_afterwards_and_written_where_it_is_asked(gated: tuple[Path, Ended], tmp_path: Path) -> None:
    report, ended = gated
    assert ended.finding(IN_UTC).cause is None
    paritygate("explain", report, "--report", tmp_path / "cut.json", "--explain-budget", "1")
    status, said, _ = paritygate("explain", tmp_path / "cut.json", "--report", tmp_path / "explained.json")
    cut, explained = (archive.read(tmp_path / name) for name in ("cut.json", "explained.json"))
    causes = {finding.nodeid: finding.cause.axes for finding in explained.tests if finding.cause and finding.cause.axes}
    assert causes == {IN_UTC: (Axis.TIMEZONE,), UNICODE: (Axis.TIMEZONE,), FOLDS: (Axis.CASE_SENSITIVE,)}
    assert status == explained.verdict.exit_code == 2
    assert "cause: timezone" in said
    before = archive.read(report)
    assert before.cells == explained.cells[: len(before.cells)]
    assert cut.cells == explained.cells[: len(cut.cells)]
    assert len(before.cells) < len(cut.cells) < len(explained.cells)
    assert all(each.cause == later.cause for each, later in zip(cut.tests, explained.tests, strict=True) if each.cause)
    names = [(cell.env, cell.attempt) for cell in explained.cells if cell.purpose is Purpose.HYBRID]
    assert len(names) == len(set(names))
    hints = next(finding.hazards for finding in explained.tests if finding.nodeid == IN_UTC)
    assert [each.kind for each in hints] == ["local-time"]
    mixed = next(cell for cell in explained.cells if "+" in cell.env)
    assert paritygate("repro", tmp_path / "explained.json", IN_UTC, "--cell", f"{mixed.env}-{mixed.attempt}")[0] == 0


def test_an_image_that_is_gone_is_said(gated: tuple[Path, Ended], tmp_path: Path, engine: object) -> None:
    del engine
    artifact = msgspec.json.decode(gated[0].read_bytes())
    for image in artifact["material"]["images"].values():
        image["name"], image["identity"] = "paritygate/none-such-tree:1", "sha256:" + 64 * "0"
    (tmp_path / "r.json").write_text(json.dumps(artifact), encoding="utf-8")
    for words in (("repro", tmp_path / "r.json", IN_UTC), ("explain", tmp_path / "r.json")):
        status, said, errors = paritygate(*words)
        assert (status, said) == (4, "")
        assert "is gone from the engine\nhint: run the gate again" in errors
