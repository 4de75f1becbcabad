"""The daemon that serves the cell's files (images/casefs): started, listened to, and ended where it hangs."""

from __future__ import annotations

import collections
import contextlib
import fcntl
import os
import select
import signal
import subprocess
import threading
import time
from typing import Any, Deque, Dict, FrozenSet, List, NamedTuple, Tuple
from urllib.parse import unquote_to_bytes

from .kinds import Filesystem
from .mounting import FILES, UnavailableError, detach, named
from .namespaces import become_daemon

DAEMON = os.path.join(FILES, "casefs")
READY_SECONDS = 5.0
HUNG_SECONDS = 10
LAST_WORDS_SECONDS = 5.0  # between the end of the connection and that of the process
STATUS_BYTES = 1 << 20  # of the pipe; half of it is for spellings
MOST_WAITING = 20_000
MOST_OF_A_TEST = 20


class Spelling(NamedTuple):
    """A name was found by another spelling: when (`time.monotonic`), by which process and those above it, and both paths."""

    at: float
    pids: FrozenSet[int]
    asked: str
    kept: str


class Status:
    """The daemon's end of a pipe, as whole lines."""

    def __init__(self) -> None:
        self.descriptor, self.writing = os.pipe()
        os.set_blocking(self.descriptor, False)
        with contextlib.suppress(OSError):
            fcntl.fcntl(self.writing, getattr(fcntl, "F_SETPIPE_SZ", 1031), STATUS_BYTES)
        self.ended = False
        self._partial = b""

    def lines(self, seconds: float = 0.0) -> List[str]:
        """Take what has been said, waiting for the first of it at most so long."""
        if self.ended or not select.select([self.descriptor], [], [], seconds)[0]:
            return []
        try:
            data = os.read(self.descriptor, STATUS_BYTES)
        except BlockingIOError:
            return []
        self.ended = not data
        *lines, self._partial = (self._partial + data).split(b"\n")
        return [line.decode("ascii", "replace") for line in lines]


class Pulse:
    """Asks the daemon every second how it is, and kills one that is silent for too long, so that nobody waits for ever.

    Two threads, because the one that asks is the first to be stuck. Seconds are counted rather than measured: a container that
    was paused has slept through them as well.
    """

    def __init__(self, top: str, pid: int) -> None:
        self.top, self.pid = top, pid
        self.answers = 0
        self.hung = False
        self.over = False
        for action in (self.ask, self.judge):
            threading.Thread(target=action, daemon=True).start()

    def ask(self) -> None:
        """Ask what no cache answers."""
        with contextlib.suppress(OSError):
            while not self.over:
                os.statvfs(self.top)
                self.answers += 1
                time.sleep(1.0)

    def judge(self) -> None:
        """Count the seconds without an answer."""
        seen, silent = self.answers, 0
        while not self.over:
            time.sleep(1.0)
            seen, silent = self.answers, silent + 1 if self.answers == seen else 0
            if silent >= HUNG_SECONDS and not self.over:
                self.hung = True
                os.kill(self.pid, signal.SIGKILL)
                return


class Casefs(Filesystem):
    """The daemon, once it serves."""

    way = "casefs"

    def __init__(
        self, process: "subprocess.Popen[bytes]", status: Status, ready: Dict[str, str], places: Tuple[str, str]
    ) -> None:
        self.process, self.status = process, status
        self.pid = process.pid
        self.unicode = ready.get("unicode", "")
        self.case_rename = ready.get("case_rename") == "yes"
        self.top, self.workspace = places
        self.fault = ""
        self.heard: Deque[Spelling] = collections.deque(maxlen=MOST_WAITING)
        self.pulse = Pulse(self.top, self.pid)

    def descriptors(self) -> List[int]:
        """Wait for the daemon's words until it has none."""
        return [] if self.status.ended else [self.status.descriptor]

    def listen(self, seconds: float = 0.0) -> None:
        """Take in what the daemon has said."""
        for line in self.status.lines(seconds):
            word, _, rest = line.partition(" ")
            if word == "alias":
                self.hear(rest)
            elif word == "trouble" and not rest.startswith(("ENOSPC ", "EDQUOT ")):  # a full disk is an honest answer
                self.blame("its daemon failed with `%s`" % rest)
            elif word == "ended":
                self.blame("its daemon has ended: %s" % rest)
        if self.status.ended:
            self.blame(self.death())

    def blame(self, fault: str) -> None:
        """Keep the first fault: others follow from it."""
        self.fault = self.fault or fault

    def death(self) -> str:
        """Say how a daemon died that did not say so itself."""
        if self.pulse.hung:
            return "its daemon did not answer for %d s and was killed" % HUNG_SECONDS
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self.process.wait(LAST_WORDS_SECONDS)
            if status < 0:
                return "its daemon was killed by `%s`" % signal.Signals(-status).name
        return "its daemon died"

    def trouble(self) -> str:
        """Say what is wrong, after asking the daemon: one that hangs is waited for until the pulse has ended it."""
        self.listen()
        if not self.fault:
            try:
                os.statvfs(self.top)
            except OSError as error:
                self.listen(LAST_WORDS_SECONDS)
                self.blame(self.death() if self.pulse.hung else "it does not answer: %s" % error.strerror)
        return self.fault

    def hear(self, text: str) -> None:
        """Keep a spelling until it is known whose it is; one that cannot be read is none."""
        with contextlib.suppress(ValueError):
            at, pids, asked, kept = text.split(" ")
            numbers = frozenset(int(pid) for pid in pids.split(","))
            self.heard.append(Spelling(float(at), numbers, *self.shown(asked, kept)))

    def shown(self, *encoded: str) -> List[str]:
        """Write paths below the top as they are called: relative to the workspace if all are in it."""
        paths = [os.path.join(self.top, os.fsdecode(unquote_to_bytes(path))) for path in encoded]
        tree = self.workspace + "/"
        return [path[len(tree) :] for path in paths] if all(path.startswith(tree) for path in paths) else paths

    def spellings(self, pid: int, began: float, ended: float) -> List[Tuple[str, str]]:
        """Take out what is of this process and not of a later test; what is older was of none."""
        mine = [each for each in self.heard if pid in each.pids and each.at <= ended]
        if mine:
            taken = set(map(id, mine))
            self.heard = collections.deque((each for each in self.heard if id(each) not in taken), maxlen=MOST_WAITING)
        pairs = dict.fromkeys((each.asked, each.kept) for each in mine if each.at >= began)
        return list(pairs)[:MOST_OF_A_TEST]

    def end(self) -> None:
        """End the daemon, the last process of the cell."""
        self.pulse.over = True
        with contextlib.suppress(OSError):
            self.process.terminate()


def first_word(process: "subprocess.Popen[bytes]", status: Status) -> Dict[str, str]:
    """Wait until the daemon serves; raise UnavailableError with its own words where it does not."""
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and not status.ended:
        for line in status.lines(max(0.0, deadline - time.monotonic())):
            word, _, rest = line.partition(" ")
            if word == "ready":
                return dict(pair.split("=", 1) for pair in rest.split() if "=" in pair)
            if word == "failed":
                raise UnavailableError("the daemon: %s" % rest)
    if status.ended:
        raise UnavailableError("the daemon: it ended with exit status %d and said no more" % process.wait())
    raise UnavailableError("the daemon: it was not ready within %d s" % READY_SECONDS)


def insist(wish: Dict[str, Any], ready: Dict[str, str]) -> None:
    """Refuse a daemon that folds and cannot see renames by case, which would then do nothing."""
    if wish["fold"] and ready.get("case_rename") != "yes":
        raise UnavailableError("the daemon: it may not see who renames (CAP_SYS_PTRACE, or Yama's ptrace_scope = 3)")


def start_daemon(store: str, wish: Dict[str, Any], top: str, workspace: str) -> Casefs:
    """Start the daemon on a filled store; raise UnavailableError where it cannot serve."""
    status = Status()
    fold = "on" if wish["fold"] else "off"
    # Nobody may rely on the order of a folder. A mixed one leaves two or three names tidy by chance; this one never does.
    order = wish["order"] or "reversed"
    options = ["--fold=" + fold, "--order=" + order, "--seed=%d" % wish["seed"], "--backing=" + store]
    command = [DAEMON, *options, "--status-fd=%d" % status.writing, top]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=2,
            stderr=2,
            env={},
            cwd="/",
            pass_fds=(status.writing,),
            start_new_session=True,
            preexec_fn=become_daemon if wish.get("shared") else None,  # noqa: PLW1509 - the other thread only waits
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise UnavailableError("the daemon %s: %s" % (DAEMON, named(getattr(error, "errno", 0) or 0))) from None
    finally:
        os.close(status.writing)
    try:
        ready = first_word(process, status)
        insist(wish, ready)
    except UnavailableError:
        process.kill()
        process.wait()
        detach(top)
        os.close(status.descriptor)
        raise
    return Casefs(process, status, ready, (top, workspace))
