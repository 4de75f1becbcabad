"""Put all that a cell may write on one filesystem that folds the case of names, or on the same one without folding.

What the image holds below one folder, the top, is copied into a tmpfs that no path leads to; over the top a daemon is mounted
(images/casefs) that serves it, or, where that cannot be, the tmpfs itself with the kernel's own folding. It decides nothing about
the cell, runs as root before any test does, and imports nothing of paritygate.
"""

from __future__ import annotations

import collections
import contextlib
import errno
import fcntl
import os
import select
import signal
import stat
import struct
import subprocess
import tempfile
import threading
import time
from typing import Any, Deque, Dict, FrozenSet, List, NamedTuple, Optional, Set, Tuple
from urllib.parse import unquote_to_bytes

try:
    import ctypes

    LIBC: Any = ctypes.CDLL(None, use_errno=True)
except (ImportError, OSError):  # an interpreter built without libffi
    LIBC = None

Json = Dict[str, Any]

FILES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DAEMON = os.path.join(FILES, "casefs")
DEVICE = "/dev/fuse"
TEMPORARY = "/tmp"  # noqa: S108 - what tests write there by name is to meet the same filesystem
READY_SECONDS = 5.0
HUNG_SECONDS = 10
LAST_WORDS_SECONDS = 1.0  # between the end of the connection and that of the process
STATUS_BYTES = 1 << 20  # of the pipe; half of it is for spellings
MOST_WAITING = 20_000
MOST_OF_A_TEST = 20
KERNEL_UNICODE = "12.1.0"

MS_NOSUID, MS_NODEV, MS_BIND, MNT_DETACH = 2, 4, 4096, 2
FS_IOC_SETFLAGS, FS_CASEFOLD_FL = 0x40086602, 0x40000000


class UnavailableError(Exception):
    """A way to such a filesystem is closed; the text says which step failed and why."""


class Spelling(NamedTuple):
    """A name was found by another spelling: when (`time.monotonic`), by which process and those above it, and both paths."""

    at: float
    pids: FrozenSet[int]
    asked: str
    kept: str


class Filesystem:
    """What the cell's files lie on; this one is the image's own, which cannot fail."""

    way = ""
    unicode = ""
    case_rename = True
    instead_of = ""
    pid = 0

    def facts(self) -> Optional[Json]:
        """Say what it is, None for the image's own."""
        names = ("way", "unicode", "case_rename", "instead_of")
        return {name: getattr(self, name) for name in names} if self.way else None

    def descriptors(self) -> List[int]:
        """List what is to be waited on."""
        return []

    def trouble(self) -> str:
        """Say why what tests have met since the last time may not be their own doing; empty where it is."""
        return ""

    def spellings(self, _pid: int, _began: float, _ended: float) -> List[Tuple[str, str]]:
        """List once what a process and its descendants asked for, and what is there, between two moments."""
        return []

    def end(self) -> None:
        """Let it go; nothing may use it any more."""


# --- mounting ---------------------------------------------------------------------------------------------------------


def mount(source: str, target: str, kind: str, flags: int = 0, options: str = "") -> None:
    """Mount something, as the system call does; raise UnavailableError where it fails."""
    step = "mount %s on %s" % (kind or source, target)
    if LIBC is None:
        raise UnavailableError("%s: the interpreter of the launcher has no ctypes" % step)
    words = [os.fsencode(word) for word in (source, target, kind)]
    if LIBC.mount(*words, ctypes.c_ulong(flags), os.fsencode(options)) != 0:
        raise UnavailableError("%s: %s" % (step + (" -o " + options if options else ""), named(ctypes.get_errno())))


def detach(target: str) -> None:
    """Take a mount out of the tree; who has it open keeps it."""
    if LIBC is not None:
        LIBC.umount2(os.fsencode(target), MNT_DETACH)


def named(number: int) -> str:
    """Write an error number for people and programs."""
    return "%s (%s)" % (errno.errorcode.get(number, "E%d" % number), os.strerror(number))


class Store:
    """A tmpfs on a folder that only root may enter."""

    def __init__(self, size: int, options: Tuple[str, ...] = ()) -> None:
        self.path = tempfile.mkdtemp(prefix="store-", dir=FILES)
        given = ["mode=0700", *(["size=%d" % size] if size > 0 else []), *options]
        try:
            mount("tmpfs", self.path, "tmpfs", MS_NOSUID | MS_NODEV, ",".join(given))
        except UnavailableError:
            os.rmdir(self.path)
            raise

    def hide(self) -> None:
        """Leave no path to it: what is mounted elsewhere, or open, lives on."""
        detach(self.path)
        with contextlib.suppress(OSError):
            os.rmdir(self.path)


# --- copying ----------------------------------------------------------------------------------------------------------


class Copy:
    """Copies a tree with modes, owners, times, symbolic and hard links; names are created in the order of their bytes."""

    def __init__(self, source: str, left_out: Set[str]) -> None:
        self.source = source
        self.left_out = left_out
        self.links: Dict[Tuple[int, int], str] = {}

    def to(self, target: str) -> None:
        """Copy all that is below the source, and the source's own attributes."""
        folders = [(self.source, target, os.lstat(self.source))]
        for source, destination, _ in folders:  # grows while it is read
            with os.scandir(source) as entries:
                found = sorted(entries, key=lambda entry: os.fsencode(entry.name))
            for entry in found:
                if entry.path not in self.left_out:
                    status = entry.stat(follow_symlinks=False)
                    copied = os.path.join(destination, entry.name)
                    self.one(entry.path, copied, status)
                    if stat.S_ISDIR(status.st_mode):
                        folders.append((entry.path, copied, status))
        for _, destination, status in reversed(folders):  # only now: whatever is put into a folder changes its time
            give_attributes(destination, status)

    def one(self, source: str, target: str, status: os.stat_result) -> None:
        """Copy one name; what is neither file, folder, symbolic link nor FIFO has no meaning in a copy."""
        kind = stat.S_IFMT(status.st_mode)
        if kind == stat.S_IFDIR:
            os.mkdir(target, 0o700)
        elif kind == stat.S_IFLNK:
            os.symlink(os.readlink(source), target)
            os.lchown(target, status.st_uid, status.st_gid)
            os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns), follow_symlinks=False)
        elif kind in (stat.S_IFREG, stat.S_IFIFO):
            known = self.links.setdefault((status.st_dev, status.st_ino), target) if status.st_nlink > 1 else target
            if known != target:
                os.link(known, target)
            elif kind == stat.S_IFREG:
                copy_file(source, target, status)
            else:
                os.mkfifo(target)
                give_attributes(target, status)


def copy_file(source: str, target: str, status: os.stat_result) -> None:
    """Copy a file's bytes and attributes."""
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            while status.st_size and os.sendfile(writing, reading, None, 1 << 30):
                pass
            give_attributes(writing, status)
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def give_attributes(target: Any, status: os.stat_result) -> None:
    """Give a path or a descriptor owner, mode and times, in this order: a new owner takes bits of the mode away."""
    os.chown(target, status.st_uid, status.st_gid)
    os.chmod(target, stat.S_IMODE(status.st_mode))
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def fill(store: str, wish: Json, top: str, workspace: str) -> None:
    """Copy everything below the top into a store, and make a folder for temporary files."""
    Copy(top, {os.path.join(workspace, name) for name in wish.get("leave_out") or ()}).to(store)
    temporary = os.path.join(store, "tmp")
    os.makedirs(temporary, exist_ok=True)
    os.chmod(temporary, 0o1777)  # noqa: S103 - as every folder for temporary files


# --- the daemon -------------------------------------------------------------------------------------------------------


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
                self.blame("it does not answer: %s" % error.strerror)
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


def insist(wish: Json, ready: Dict[str, str]) -> None:
    """Refuse a daemon that folds and cannot see renames by case, which would then do nothing."""
    if wish["fold"] and ready.get("case_rename") != "yes":
        raise UnavailableError("the daemon: it may not see who renames (CAP_SYS_PTRACE, or Yama's ptrace_scope = 3)")


def start_daemon(store: str, wish: Json, top: str, workspace: str) -> Casefs:
    """Start the daemon on a filled store; raise UnavailableError where it cannot serve."""
    status = Status()
    fold = "on" if wish["fold"] else "off"
    options = ["--fold=" + fold, "--order=" + wish["order"], "--seed=%d" % wish["seed"], "--backing=" + store]
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
        )
    except OSError as error:
        raise UnavailableError("the daemon %s: %s" % (DAEMON, named(error.errno or 0))) from None
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


def with_daemon(wish: Json, top: str, workspace: str) -> Filesystem:
    """Serve a copy of the top by the daemon."""
    store = Store(wish["size"])
    try:
        fill(store.path, wish, top, workspace)
        return start_daemon(store.path, wish, top, workspace)
    finally:
        store.hide()


# --- the kernel's own way ---------------------------------------------------------------------------------------------


def fold_names_in(folder: str) -> None:
    """Make an empty folder, and all that will be made in it, fold the case of names; raise UnavailableError where it cannot."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.ioctl(descriptor, FS_IOC_SETFLAGS, struct.pack("i", FS_CASEFOLD_FL))
    except OSError as error:
        raise UnavailableError("the kernel: set FS_CASEFOLD_FL: %s" % named(error.errno or 0)) from None
    finally:
        os.close(descriptor)


def with_kernel(wish: Json, top: str, workspace: str) -> Filesystem:
    """Put a copy of the top on a tmpfs, which the kernel itself lets fold; renames that change case alone then do nothing."""
    if wish["order"] != "created":
        raise UnavailableError("the kernel: it cannot list folders in the order `%s`" % wish["order"])
    try:
        store = Store(wish["size"], ("casefold=utf8-" + KERNEL_UNICODE,) if wish["fold"] else ())
    except UnavailableError as error:
        raise UnavailableError("the kernel: %s" % error) from None
    try:
        if wish["fold"]:
            fold_names_in(store.path)
        fill(store.path, wish, top, workspace)
        mount(store.path, top, "", MS_BIND)
    finally:
        store.hide()
    made = Filesystem()
    made.way, made.unicode, made.case_rename = "kernel", KERNEL_UNICODE if wish["fold"] else "", not wish["fold"]
    return made


# --- the whole --------------------------------------------------------------------------------------------------------


def make(wish: Optional[Json], workspace: str) -> Filesystem:
    """Mount what is wished for over the workspace's parent folder, by the first way that is open.

    Raises UnavailableError where none is, OSError where the files could not be copied.
    """
    if wish is None:
        return Filesystem()
    top = os.path.dirname(os.path.normpath(workspace))
    try:
        made = with_daemon(wish, top, workspace)
    except UnavailableError as first:
        try:
            made = with_kernel(wish, top, workspace)
        except UnavailableError as second:
            raise UnavailableError("%s; %s" % (first, second)) from None
        made.instead_of = str(first)
    with contextlib.suppress(OSError):
        os.chmod(DEVICE, 0o600)
    mount(os.path.join(top, "tmp"), TEMPORARY, "", MS_BIND)
    return made
