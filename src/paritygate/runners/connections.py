"""A connection to another computer by the system's own OpenSSH: its configuration, agent, known hosts and jump hosts.

One connection carries all that a run does there. What ssh says of one that fails is put into words here, and nowhere else.
Its socket lies in a folder that is locked while the run lives, as those of cells on this computer are (`guest/lodging.py`): what
a run that was killed has left is known by that, and removed by the next.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from paritygate.errors import RunnerError
from paritygate.guest import lodging

CONNECT_SECONDS = 60.0
CHECK_SECONDS = 20.0
END_SECONDS = 10.0
LOOK_SECONDS = 0.05
LONGEST_SOCKET = 80
"""How long the path of a socket may be, in bytes, for ssh to add its own letters to it while it makes one."""
SHORT = "/tmp"  # noqa: S108 - what is made in it can be entered by the user alone
WITH_US = """\
exec 3<&0
"$@" </dev/null 3<&- &
ssh=$!
{ read -r _; kill "$ssh"; } <&3 3<&- 2>/dev/null &
watch=$!
exec 3<&-
wait "$ssh"
status=$?
kill "$watch" 2>/dev/null
exit "$status"
"""
"""Words for a shell that runs a command until that ends, or until its own stdin does, which it does with us."""
LOST = 255
"""The exit status of ssh itself, where the connection is what failed."""
OPTIONS = (
    *("-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=3"),
    *("-o", "ControlPersist=no", "-o", "ForwardAgent=no", "-o", "ForwardX11=no", "-o", "ClearAllForwardings=yes"),
    *("-o", "EscapeChar=none", "-o", "LogLevel=ERROR"),
)
SAYINGS = (
    (
        "REMOTE HOST IDENTIFICATION HAS CHANGED",
        "its host key is not the one that is known",
        "find out why; then `ssh-keygen -R HOST`",
    ),
    ("Host key verification failed", "its host key is not known", "connect once by hand (`ssh {target}`) and compare the key"),
    ("Permission denied", "it refuses the key", "try `ssh -o BatchMode=yes {target} true`; add the key there, or to your agent"),
    ("Could not resolve hostname", "there is no such host", "correct `target`, or name the host in your ssh configuration"),
    ("Connection refused", "nothing answers there", "start sshd on it, or correct the port in your ssh configuration"),
    ("timed out", "it does not answer", "see whether it is on, and reachable from here"),
    ("No route to host", "it cannot be reached", "see whether it is on, and reachable from here"),
)


class Connection:
    """An open connection. Leaving the context ends it, and with it all that was started over it."""

    def __init__(self, target: str, variables: Mapping[str, str]) -> None:
        self.target = target
        self.variables = dict(variables)
        program = shutil.which("ssh", path=self.variables.get("PATH", os.defpath))
        if program is None:
            raise RunnerError("`ssh` cannot be started: no such file or directory", "install the OpenSSH client")
        self.folder, self._lock, self.swept = _own_folder(self.variables.get("TMPDIR", "") or tempfile.gettempdir())
        self._control = self.folder / "m"
        self._said = self.folder / "said"
        command = (program, *OPTIONS, "-M", "-S", str(self._control), "-N", "-T", "--", target)
        with self._said.open("wb") as said:
            self._master = subprocess.Popen(  # noqa: S603 - the user's own ssh, to where the settings say
                ("/bin/sh", "-c", WITH_US, "sh", *command),
                env=self.variables | {lodging.MARK: str(self.folder)},
                stdin=subprocess.PIPE,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        """Wait until it is open; raises `RunnerError` where it does not come about."""
        give_up = time.monotonic() + CONNECT_SECONDS
        while not self._control.exists():
            if self._master.poll() is not None or time.monotonic() > give_up:
                failure = self.failure()
                self.__exit__(None, None, None)
                raise failure
            time.sleep(LOOK_SECONDS)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End it."""
        if self._master.stdin is not None:
            self._master.stdin.close()
        try:
            self._master.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._master.pid, signal.SIGKILL)
            self._master.wait()
        lodging.remove(str(self.folder))
        os.close(self._lock)

    def is_open(self) -> bool:
        """Say whether it still carries anything, as far as ssh knows."""
        command = ("ssh", "-S", str(self._control), "-O", "check", "--", self.target)
        try:
            done = subprocess.run(  # noqa: S603 - the user's own ssh
                command, env=self.variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=CHECK_SECONDS, check=False
            )
        except (OSError, subprocess.SubprocessError):
            return False
        return done.returncode == 0

    def command(self, *words: str) -> tuple[str, ...]:
        """Make the command that runs another one there, by a POSIX shell, whatever the user's own is."""
        remote = f"exec sh -c {shlex.quote(' '.join(words))}"
        return ("ssh", *OPTIONS, "-S", str(self._control), "-o", "ControlMaster=no", "-T", "--", self.target, remote)

    def failure(self) -> RunnerError:
        """Say why the connection failed, by what ssh has said."""
        said = self._said.read_text(errors="replace") if self._said.exists() else ""
        return failure(self.target, said)


def _own_folder(temporary: str) -> tuple[Path, int, tuple[str, ...]]:
    """Make the folder of a connection; gives it, the descriptor of its lock, and what killed runs had left, which is removed."""
    try:
        top = lodging.top_of(temporary)
        if len(os.fsencode(top)) > LONGEST_SOCKET:
            top = lodging.top_of(SHORT)
        folder, lock, swept = lodging.begin(top, uuid.uuid4().hex[:8])
    except lodging.LodgingError as error:
        raise RunnerError(str(error), "remove it, or set `TMPDIR` to another folder") from error
    except OSError as error:
        said = (error.strerror or str(error)).lower()
        raise RunnerError(f"no folder can be made in `{temporary}`: {said}", "free space there, or set `TMPDIR`") from error
    return Path(folder), lock, tuple(swept)


def failure(target: str, said: str) -> RunnerError:
    """Put into words what ssh says of a connection that failed."""
    for words, what, now in SAYINGS:
        if words in said:
            return RunnerError(f"no connection to `{target}`: {what}", now.format(target=target))
    last = said.strip().splitlines()[-1:] or ["ssh ended without a word"]
    return RunnerError(f"no connection to `{target}`: {last[0].strip()}", f"try `ssh -o BatchMode=yes {target} true`")
