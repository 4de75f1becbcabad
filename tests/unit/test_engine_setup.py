"""Making an engine ready, as far as it can be shown without touching the one of this computer.

Every program that is started is one of the test's own, in a folder that comes first in `PATH`.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import NoReturn

import pytest

from paritygate import engine_setup
from paritygate.config.settings import ImageSettings
from paritygate.docker_engine.verbs import Engine
from paritygate.engine_setup import Daemon
from paritygate.errors import EngineUnavailableError
from paritygate.images import distributions
from tests.support.fake_engine import FakeEngine

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="nothing is installed or started on Windows")


class Programs:
    """A folder of shell scripts that come before all others; whatever could change this computer is there from the first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        for name in ("apt-get", "dockerd", "systemctl"):
            self.add(name, "exit 1")

    def add(self, name: str, script: str) -> None:
        path = self._folder / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    made = Programs(tmp_path / "programs")
    monkeypatch.setenv("PATH", f"{tmp_path / 'programs'}{os.pathsep}{os.environ['PATH']}")
    return made


def a_daemon(tmp_path: Path, seconds: float = 0.0) -> Daemon:
    pids = (tmp_path / "docker.pid", tmp_path / "containerd.pid")
    return Daemon(pids=pids, log=tmp_path / "log" / "dockerd.log", systemd=tmp_path / "no-systemd", seconds=seconds)


def nobody_answers() -> NoReturn:
    raise EngineUnavailableError("no Docker engine answers", ("`unix:///x` (default socket): refused",))


def wait_until_written(path: Path, text: str) -> str:
    give_up = time.monotonic() + 60
    while text not in (found := path.read_text(encoding="utf-8")):
        assert time.monotonic() < give_up, found
        time.sleep(0.02)
    return found


def test_a_user_who_may_install_nothing_is_told_so_with_what_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    with pytest.raises(EngineUnavailableError) as caught:
        engine_setup.ensure_engine(nobody_answers, ImageSettings(), "3.12", print)
    *tried, why = caught.value.message.splitlines()
    assert tried == ["no Docker engine answers", "  `unix:///x` (default socket): refused"]
    assert why in {
        "installing one takes root, so nothing was installed",
        "this computer is not Debian or Ubuntu, so nothing was installed",
    }
    assert caught.value.hint == engine_setup.INSTALL_HINT


def test_on_another_system_nothing_is_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    release = tmp_path / "os-release"
    release.write_text("ID=fedora\nVERSION_CODENAME=x\n", encoding="utf-8")
    monkeypatch.setattr(distributions.this_distribution, "__defaults__", (tmp_path, release))
    assert engine_setup.obstacle() == "this computer is not Debian or Ubuntu, so nothing was installed"


def test_a_failing_apt_shows_its_end_and_a_failing_update_alone_is_no_failure(programs: Programs) -> None:
    programs.add("apt-get", '[ "$1" = update ] && exit 100\nseq 1 20\necho "E: Unable to locate package" "$@" >&2\nexit 100')
    said: list[str] = []
    with pytest.raises(EngineUnavailableError) as caught:
        engine_setup.install(("docker.io",), said.append)
    command = "apt-get install -y --no-install-recommends docker.io"
    assert said == ["running `apt-get update`", f"running `{command}`"]
    first, *shown = caught.value.message.splitlines()
    assert first == f"`{command}` failed:"
    assert shown[0] == "  | 10"
    assert shown[-1] == "  | E: Unable to locate package install -y --no-install-recommends docker.io"
    assert caught.value.hint == engine_setup.INSTALL_HINT


def test_packages_are_installed_without_a_question_being_asked(programs: Programs, tmp_path: Path) -> None:
    programs.add("apt-get", f'echo "$DEBIAN_FRONTEND $1" >> {tmp_path}/calls')
    engine_setup.install(("docker.io", "iptables"), print)
    assert (tmp_path / "calls").read_text(encoding="utf-8") == "noninteractive update\nnoninteractive install\n"


@pytest.mark.parametrize(
    "pid",
    [
        pytest.param("999999999", id="nobody's"),
        pytest.param(str(os.getpid()), id="another program's"),
        pytest.param("", id="empty"),
        pytest.param("../1", id="no number"),
    ],
)
def test_a_pid_file_of_a_daemon_that_is_gone_does_not_keep_the_next_from_starting(
    programs: Programs, tmp_path: Path, pid: str
) -> None:
    programs.add("dockerd", "echo started")
    daemon = a_daemon(tmp_path)
    daemon.pids[0].write_text(pid, encoding="utf-8")
    said: list[str] = []
    assert engine_setup.start(daemon, said.append) == f"started `dockerd`, whose log is `{daemon.log}`"
    assert said == [f"removing `{daemon.pids[0]}`, left by a daemon that is gone"]
    assert not daemon.pids[0].exists()
    wait_until_written(daemon.log, "started")


@pytest.mark.skipif(not Path("/proc/self/comm").exists(), reason="what runs under a number is read from /proc")
def test_the_pid_file_of_a_daemon_that_runs_is_left(programs: Programs, tmp_path: Path) -> None:
    programs.add("dockerd", f"echo $$ > {tmp_path}/containerd.pid; echo started; sleep 600")
    daemon = a_daemon(tmp_path)
    engine_setup.start(daemon, print)
    wait_until_written(daemon.log, "started")
    pid = int(daemon.pids[1].read_text(encoding="utf-8"))
    try:
        programs.add("dockerd", "echo second")
        engine_setup.start(daemon, print)
        wait_until_written(daemon.log, "second")
        assert daemon.pids[1].read_text(encoding="utf-8") == f"{pid}\n"
    finally:
        os.killpg(os.getpgid(pid), signal.SIGKILL)


def test_a_daemon_is_started_in_a_session_of_its_own_and_its_log_is_kept(programs: Programs, tmp_path: Path) -> None:
    programs.add("dockerd", "echo out; echo err >&2; echo $$ >&2; pwd; read answer || echo end; sleep 600")
    daemon = a_daemon(tmp_path)
    daemon.log.parent.mkdir()
    daemon.log.write_text("before\n", encoding="utf-8")
    engine_setup.start(daemon, print)
    before, out, err, pid, place, _ = wait_until_written(daemon.log, "end").splitlines()
    try:
        assert (before, out, err, place) == ("before", "out", "err", "/")
        assert os.getsid(int(pid)) != os.getsid(0)
    finally:
        os.killpg(os.getpgid(int(pid)), signal.SIGKILL)


def test_systemd_is_asked_first_where_it_runs(programs: Programs, tmp_path: Path) -> None:
    programs.add("systemctl", f'echo "$@" > {tmp_path}/asked')
    (tmp_path / "no-systemd").mkdir()
    assert engine_setup.start(a_daemon(tmp_path), print) == "started `docker` with systemd"
    assert (tmp_path / "asked").read_text(encoding="utf-8") == "start docker\n"


def test_a_systemd_that_refuses_is_no_hindrance(programs: Programs, tmp_path: Path) -> None:
    programs.add("systemctl", "exit 5")
    programs.add("dockerd", "echo started")
    (tmp_path / "no-systemd").mkdir()
    daemon = a_daemon(tmp_path)
    assert engine_setup.start(daemon, print) == f"started `dockerd`, whose log is `{daemon.log}`"
    wait_until_written(daemon.log, "started")


def test_a_daemon_that_never_answers_is_an_error_with_the_end_of_its_log(tmp_path: Path) -> None:
    daemon = a_daemon(tmp_path, seconds=0.0)
    daemon.log.parent.mkdir()
    daemon.log.write_text("".join(f"line {number}\n" for number in range(20)), encoding="utf-8")
    with pytest.raises(EngineUnavailableError) as caught:
        engine_setup.wait(nobody_answers, daemon)
    first, *shown = caught.value.message.splitlines()
    assert first == "`dockerd` was started and does not answer after 0 s"
    assert shown == [f"  | line {number}" for number in range(8, 20)]
    assert caught.value.hint == f"see `{daemon.log}`, or `journalctl -u docker`"


def test_an_engine_that_answers_late_is_waited_for(tmp_path: Path) -> None:
    engine, refusals = FakeEngine(), [EngineUnavailableError("not yet")]

    def connect() -> Engine:
        if refusals:
            raise refusals.pop()
        return engine

    assert engine_setup.wait(connect, a_daemon(tmp_path, seconds=600.0)) is engine


def test_an_engine_that_answers_is_used_as_it_is() -> None:
    engine = FakeEngine()
    base = engine.keep("python:3.12-slim", {}, {}, {})
    said: list[str] = []
    ready = engine_setup.ensure_engine(lambda: engine, ImageSettings(), "3.12", said.append)
    assert (ready.base, ready.endpoint, ready.done) == (base, "memory://", ())
    assert said == ["using Fake 1 at `memory://` (a test)", "base image: `python:3.12-slim`"]
