"""A stay on another computer: what becomes of it where the connection is lost, and what a killed run leaves on this one."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paritygate.errors import ConnectionLostError
from paritygate.guest import lodging
from paritygate.images import resources
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import Worktree
from paritygate.runners.connections import Connection
from paritygate.runners.host import Berth
from paritygate.runners.stays import Stay
from tests.support.builders import an_environment, gate_plans
from tests.support.gate_runs import PATIENCE_SECONDS
from tests.support.sshd import TARGET, Sshd, program

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="cells outside of containers take Linux"),
    pytest.mark.skipif(not program(), reason="sshd is not installed"),
]

VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"
CONNECTS = """\
import os, sys
from paritygate.runners.connections import Connection
with Connection({target!r}, dict(os.environ)) as connection:
    print(connection.folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def elsewhere(tmp_path: Path, kept: Path) -> Iterator[Sshd]:
    with Sshd(tmp_path / "sshd", kept) as server:
        yield server


@pytest.fixture
def variables(tmp_path: Path, elsewhere: Sshd) -> dict[str, str]:
    """Give the variables of a run that has a temporary folder of its own."""
    (tmp_path / "t").mkdir()
    return {**os.environ, **elsewhere.variables, "TMPDIR": str(tmp_path / "t")}


def wait_for(happens: Callable[[], bool]) -> None:
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not happens():
        assert time.monotonic() < give_up
        time.sleep(0.02)


def holders(folder: Path) -> dict[int, str]:
    """Give the processes that hold the connection of a folder, ssh and the shells around it, with their programs."""
    found = {}
    for pid, given in lodging.variables():
        if f"\0{lodging.MARK}={folder}\0".encode() in given:
            with contextlib.suppress(OSError):
                found[pid] = Path(f"/proc/{pid}/comm").read_text().strip()
    return found


def has_moved(stay: Stay, plan: CellPlan, first: Berth) -> bool:
    now, _ = stay.berth(plan)
    return now.folder.parent != first.folder.parent


def has_no_place(stay: Stay, plan: CellPlan) -> bool:
    try:
        stay.berth(plan)
    except ConnectionLostError:
        return True
    return False


def test_another_house_is_taken_where_the_connection_is_lost_until_there_is_none(
    elsewhere: Sshd, variables: dict[str, str], tmp_path: Path
) -> None:
    (plan, *_) = gate_plans(an_environment("there", worktree=Worktree.DIRTY))
    said: list[str] = []
    with Stay(TARGET, variables, resources.guest(), VERSION) as stay:
        stay.say = said.append
        stay.keep(Worktree.DIRTY, "a-digest", iter((b"packed", b" bytes")))
        first, _ = stay.berth(plan)
        same, _ = stay.berth(plan)
        assert (first.folder.parent, said) == (same.folder.parent, [])
        elsewhere.cut()
        wait_for(lambda: has_moved(stay, plan, first))  # ssh takes a moment to notice
        second, _ = stay.berth(plan)
        assert said == [f"the connection to `{TARGET}` was lost; it is made anew"]
        assert second.folder.parent != first.folder.parent
        assert (second.folder.parent / "dirty.tar").read_bytes() == b"packed bytes"
        assert (second.folder.parent / "dirty.digest").read_text() == second.sentinel == "a-digest"
        elsewhere.stop()
        wait_for(lambda: has_no_place(stay, plan))
        for _ in range(2):
            with pytest.raises(ConnectionLostError) as caught:
                stay.berth(plan)
            lost = f"the connection to `{TARGET}` was lost, and no other comes about: "
            assert caught.value.message == f"{lost}no connection to `{TARGET}`: nothing answers there"
        assert len(said) == 2
    assert not [*(tmp_path / "t").glob("parity-*/*/*")]


def test_a_killed_run_leaves_no_connection_and_its_folder_is_removed_by_the_next_that_leaves_living_ones_alone(
    variables: dict[str, str],
) -> None:
    command = (sys.executable, "-c", CONNECTS.format(target=TARGET))
    runs = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables, start_new_session=True)
        for _ in range(2)
    ]
    try:
        killed, living = (Path(run.stdout.readline().strip()) for run in runs if run.stdout is not None)
        assert "ssh" in holders(killed).values()
        os.killpg(runs[0].pid, signal.SIGKILL)
        wait_for(lambda: not holders(killed))
        assert killed.exists()
        with Connection(TARGET, variables) as connection:
            assert connection.swept == (str(killed),)
            assert not killed.exists()
            assert "ssh" in holders(living).values()
            assert (living / "m").exists()
    finally:
        for run in runs:
            run.kill()
            run.communicate()


def test_what_holds_the_connection_of_a_killed_run_is_ended_even_where_it_does_not_end_by_itself(
    variables: dict[str, str],
) -> None:
    command = (sys.executable, "-c", CONNECTS.format(target=TARGET))
    run = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=variables)
    assert run.stdout is not None
    folder = Path(run.stdout.readline().strip())
    for pid, what in holders(folder).items():
        if what == "sh":  # which would end it
            os.kill(pid, signal.SIGKILL)
    run.kill()
    run.communicate()
    wait_for(lambda: list(holders(folder).values()) == ["ssh"])
    with Connection(TARGET, variables) as connection:
        assert connection.swept == (str(folder),)
    assert not holders(folder)
