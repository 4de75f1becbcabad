"""A connection to another computer by the system's own OpenSSH: its configuration, agent, known hosts and jump hosts.

One connection carries all that a run does there. What ssh says of one that fails is put into words here, and nowhere else.
"""

from __future__ import annotations

import shlex
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from paritygate.errors import RunnerError

CONNECT_SECONDS = 60.0
LOOK_SECONDS = 0.05
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
        self._folder = tempfile.TemporaryDirectory(prefix="pg-")  # short, for the path of a socket
        self._control = Path(self._folder.name, "m")
        self._said = Path(self._folder.name, "said")
        command = ("ssh", *OPTIONS, "-M", "-S", str(self._control), "-N", "-T", "--", target)
        try:
            with self._said.open("wb") as said:
                self._master = subprocess.Popen(  # noqa: S603 - the user's own ssh, to where the settings say
                    command, env=self.variables, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
                )
        except OSError as error:
            self._folder.cleanup()
            what = f"`ssh` cannot be started: {(error.strerror or str(error)).lower()}"
            raise RunnerError(what, "install the OpenSSH client") from error

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
        self._master.terminate()
        self._master.wait()
        self._folder.cleanup()

    def command(self, *words: str) -> tuple[str, ...]:
        """Make the command that runs another one there, by a POSIX shell, whatever the user's own is."""
        remote = f"exec sh -c {shlex.quote(' '.join(words))}"
        return ("ssh", *OPTIONS, "-S", str(self._control), "-o", "ControlMaster=no", "-T", "--", self.target, remote)

    def failure(self) -> RunnerError:
        """Say why the connection failed, by what ssh has said."""
        said = self._said.read_text(errors="replace") if self._said.exists() else ""
        return failure(self.target, said)


def failure(target: str, said: str) -> RunnerError:
    """Put into words what ssh says of a connection that failed."""
    for words, what, now in SAYINGS:
        if words in said:
            return RunnerError(f"no connection to `{target}`: {what}", now.format(target=target))
    last = said.strip().splitlines()[-1:] or ["ssh ended without a word"]
    return RunnerError(f"no connection to `{target}`: {last[0].strip()}", f"try `ssh -o BatchMode=yes {target} true`")
