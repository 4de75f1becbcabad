"""A second Docker engine on this computer, as far from the first as another computer: its own data, network and processes.

It never sees the network of this computer, whose rules a second engine would spoil for the first; so images have to be brought.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from paritygate.docker_engine.connect import connect
from paritygate.docker_engine.endpoints import EndpointSearch
from paritygate.docker_engine.engine import DockerEngine

PATIENCE_SECONDS = 60.0
APART = ("--net", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child", "--mount-proc")
# The shell holds it on a line to this process: it goes however this one does.
LEASH = '"$@" <&3 & read _; kill -9 $!; wait'
CGROUPS = Path("/sys/fs/cgroup")


def obstacle() -> str:
    """Say why there can be none here, empty where there can."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        return "a second engine takes Linux, and root"
    missing = [name for name in ("dockerd", "unshare") if shutil.which(name) is None]
    return f"{' and '.join(missing)} is not installed" if missing else ""


class SecondEngine:
    """An engine that runs while the context lasts, with its files below a folder; nothing of it stays."""

    def __init__(self, folder: Path) -> None:
        self.url = f"unix://{folder}/engine.sock"
        self._folder = folder
        self._group = f"paritygate-{os.getpid()}-{folder.name}"
        self._leash: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Start it, and wait until it answers."""
        self._folder.mkdir(parents=True)
        files = ("--data-root", "data", "--exec-root", "exec", "--pidfile", "pid")
        paths = (word if word.startswith("--") else str(self._folder / word) for word in files)
        daemon = ("dockerd", *paths, "-H", self.url, "--bridge=none", "--iptables=false", "--ip6tables=false")
        command = ("unshare", *APART, *daemon, "--cgroup-parent", f"/{self._group}")
        with (self._folder / "log").open("wb") as log:
            self._leash = subprocess.Popen(
                ["/bin/sh", "-c", f"exec 3</dev/null; {LEASH}", "sh", *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            self.connect().close()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End it with all that it has started, and remove its files."""
        self.kill()
        shutil.rmtree(self._folder)
        for group in CGROUPS.glob(f"*/{self._group}"):
            for each in (*sorted(group.rglob("*/"), reverse=True), group):
                with contextlib.suppress(OSError):
                    each.rmdir()

    def connect(self) -> DockerEngine:
        """Connect to it, as a gate does whose settings name it."""
        search = EndpointSearch(environment={}, home=self._folder, engine=self.url, ready_seconds=PATIENCE_SECONDS)
        return connect(search)

    def kill(self) -> None:
        """Have it die at once with all its processes: the daemon is the first of its process namespace."""
        if self._leash is None:
            return
        if self._leash.stdin is not None:
            self._leash.stdin.close()
        try:
            self._leash.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self._leash.pid, signal.SIGKILL)
            self._leash.wait()
        give_up = time.monotonic() + PATIENCE_SECONDS
        while processes_of(self._folder) and time.monotonic() < give_up:
            time.sleep(0.05)
        assert not processes_of(self._folder)


def processes_of(folder: Path) -> list[str]:
    """List the daemons that have their files in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = process.joinpath("cmdline").read_bytes().split(b"\0")
            if any(str(folder).encode() in word for word in words[1:]):
                found.append(process.name)
    return found
