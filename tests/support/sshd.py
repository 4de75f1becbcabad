"""A real sshd on the loopback interface with keys of its own, and a program `ssh` that is the system's own with a configuration.

It is another computer as far as ssh can tell: its own folder for temporary files, and one for what is kept.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import signal
import socket
import stat
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

PATIENCE_SECONDS = 60.0
TARGET = "elsewhere"


def program() -> str:
    """Find sshd, empty where it is not installed; it wants to be started by its absolute path."""
    return shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin") or ""


class Sshd:
    """A server that runs while the context lasts; `kept` is the folder of its cache, to be shared by several."""

    def __init__(self, folder: Path, kept: Path, *lines: str) -> None:
        self.folder = folder
        self.temporary = folder / "tmp"
        for each in (folder / "bin", self.temporary):
            each.mkdir(parents=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        for name in ("host", "user", "other"):
            keygen = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", folder / name)
            subprocess.run(keygen, check=True, timeout=60)
        self.allow("user")
        self.know("host")
        self.use("user")
        self._configuration = folder / "sshd_config"
        self._configuration.write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\nUsePAM no\nStrictModes no\n"
            f"AuthorizedKeysFile {folder}/authorized_keys\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
            f"PermitRootLogin prohibit-password\nMaxSessions 20\n"
            f"SetEnv TMPDIR={self.temporary} XDG_CACHE_HOME={kept}\n" + "".join(f"{line}\n" for line in lines)
        )

    @property
    def variables(self) -> dict[str, str]:
        """Say with which variables a gate finds it, and this `ssh` first."""
        return {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "PARITY_SSH_TARGET": TARGET}

    def allow(self, key: str) -> None:
        """Let in who has a key."""
        shutil.copyfile(self.folder / f"{key}.pub", self.folder / "authorized_keys")

    def know(self, key: str) -> None:
        """Have the client know the server by a key, or by none."""
        known = (self.folder / f"{key}.pub").read_text() if key else ""
        (self.folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {known}" if known else "")

    def use(self, key: str) -> None:
        """Have the client show a key."""
        configuration = self.folder / "ssh_config"
        configuration.write_text(
            f"Host {TARGET}\n  HostName 127.0.0.1\n  Port {self.port}\n  User {getpass.getuser()}\n  IdentitiesOnly yes\n"
            f"  IdentityFile {self.folder}/{key}\n  UserKnownHostsFile {self.folder}/known_hosts\n  GlobalKnownHostsFile none\n"
        )
        client = self.folder / "bin" / "ssh"
        client.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {configuration} "$@"\n')
        client.chmod(client.stat().st_mode | stat.S_IXUSR)

    def __enter__(self) -> Self:
        """Start it, and wait until it listens."""
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        log = (self.folder / "log").open("wb")
        self._process = subprocess.Popen(
            (program(), "-D", "-e", "-f", self._configuration), stdin=subprocess.DEVNULL, stderr=log, start_new_session=True
        )
        log.close()
        give_up = time.monotonic() + PATIENCE_SECONDS
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return self
            assert self._process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < give_up
            time.sleep(0.05)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End it with all its connections."""
        self.cut()
        self._process.terminate()
        self._process.wait()

    def have_one_processor(self) -> None:
        """Have what is started there from now on run on one processor."""
        os.sched_setaffinity(self._process.pid, {min(os.sched_getaffinity(0))})

    def stop(self) -> None:
        """Let in nobody any more, and cut every connection."""
        children = self._children()
        self._process.kill()
        self._process.wait()
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def cut(self) -> None:
        """Cut every connection, as a network does that is gone: nobody there is told anything."""
        for pid in self._children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _children(self) -> list[int]:
        """List the processes that hold connections: those below the server that are sshd's own."""
        parents = {}
        names = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                with contextlib.suppress(OSError):
                    text = (entry / "stat").read_text(errors="replace")
                    names[int(entry.name)] = text.partition("(")[2].rpartition(")")[0]
                    parents[int(entry.name)] = int(text.rpartition(")")[2].split()[1])
        found = {self._process.pid}
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        return [pid for pid in found - {self._process.pid} if names[pid].startswith("sshd")]
