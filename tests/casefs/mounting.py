"""Builds the filesystem daemon, mounts it, and asks it how it is."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

SOURCES = Path(__file__).parents[2] / "images" / "casefs"
USER = 1000
PATIENCE = 30.0


def build(folder: Path, *, sanitized: bool = False) -> Path:
    """Compile the daemon into a folder; warnings are errors."""
    command = ["make", "--silent", "-C", str(SOURCES), f"OUT={folder}", *(["SANITIZE=1"] if sanitized else [])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return folder / "casefs"


@dataclass
class Mount:
    """A running daemon and what it has mounted."""

    path: Path
    process: subprocess.Popen[str]
    status: int
    unread: str = ""
    lines: list[str] = field(default_factory=list)

    def line(self) -> str:
        """Wait for the next status line; the empty string is the end."""
        deadline = time.monotonic() + PATIENCE
        while "\n" not in self.unread:
            ready, _, _ = select.select([self.status], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"no status line in {PATIENCE} s"
            more = os.read(self.status, 4096).decode()
            if not more:
                return ""
            self.unread += more
        line, self.unread = self.unread.split("\n", 1)
        self.lines.append(line)
        return line

    def figures(self) -> dict[str, int]:
        """Ask for the daemon's figures."""
        self.process.send_signal(signal.SIGUSR1)
        while not (line := self.line()).startswith("figures "):
            assert line, "the daemon is gone"
        return {key: int(value) for key, value in (pair.split("=") for pair in line.split()[1:])}

    def await_figure(self, name: str, wanted: int) -> dict[str, int]:
        """Ask until a figure is as wanted: the kernel tells of closed and forgotten files when it comes to it."""
        deadline = time.monotonic() + PATIENCE
        while (figures := self.figures())[name] != wanted and time.monotonic() < deadline:
            time.sleep(0.01)
        return figures

    def memory(self) -> int:
        """Resident memory in bytes."""
        resident = Path(f"/proc/{self.process.pid}/statm").read_text(encoding="ascii").split()[1]
        return int(resident) * os.sysconf("SC_PAGESIZE")

    def forget(self) -> None:
        """Make the kernel forget every name that nothing uses."""
        subprocess.run(["mount", "-i", "-o", "remount,rw", self.path], check=True)

    def unmount(self) -> None:
        """Take the mount out of the tree."""
        subprocess.run(["umount", "--lazy", self.path], check=True)

    def end(self) -> str:
        """End the daemon; gives back its last status line."""
        self.process.terminate()
        assert self.process.wait(PATIENCE) == 0
        while self.line():
            pass
        assert self.process.stderr is not None
        said = self.process.stderr.read()
        assert said == "", said
        return self.lines[-1]


@contextmanager
def mounted(program: Path, *options: str, environment: Mapping[str, str] | None = None) -> Iterator[Mount]:
    """Run a daemon on a new mount point, with a tmpfs for a store unless the options name a backing folder."""
    path = Path(tempfile.mkdtemp(prefix="casefs-"))
    path.chmod(0o755)
    store = [] if any(option.startswith(("--backing", "--tmpfs")) for option in options) else ["--tmpfs=2g"]
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [program, *store, f"--status-fd={writer}", *options, path],
        pass_fds=[writer],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
    )
    os.close(writer)
    mount = Mount(path, process, reader)
    assert mount.line().startswith("ready "), mount.lines
    try:
        yield mount
    finally:
        mount.unmount()
        try:
            mount.end()
        finally:
            process.kill()
            process.wait()
            os.close(reader)
            assert process.stderr is not None
            process.stderr.close()
            path.rmdir()


@contextmanager
def as_user() -> Iterator[None]:
    """Touch files as an ordinary user, whose capabilities are none while it lasts."""
    groups = os.getgroups()
    os.setgroups([USER])
    os.setegid(USER)
    os.seteuid(USER)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)
