"""Run one cell: read its specification, probe, supervise pytest, relay events, and leave no process behind.

It decides nothing about tests beyond limits and deaths, and imports nothing of paritygate; docs/cell-protocol.md is its contract.
Exit status: 0 after an orderly `end` or `mismatch`, 64 for a specification that cannot be used, 75 when the gate is gone.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from typing import Any, Callable, Dict, Iterator, List, Optional, Set, Tuple

try:
    import ctypes

    LIBC: Any = ctypes.CDLL(None, use_errno=True)
except (ImportError, OSError):  # an interpreter built without libffi: no prctl then, which the probe shows
    LIBC = None

Json = Dict[str, Any]
Id = Tuple[str, int]

PROTOCOL = 1
USAGE, GONE = 64, 75
REFUSALS = range(2, 6)  # pytest's own: interrupted, internal error, usage error, no tests
MAX_LINE = 16 << 20
MAX_CRASHES = 5
DUMP_GRACE = 0.5  # seconds between the dump signal and the kill
LOOK_SECONDS = 1.0  # between two looks at what dead workers have left
EXIT_GRACE = 30.0  # seconds for pytest to exit after its last event, before what holds it back is ended
HARD_GRACE = 15.0  # seconds after which the gate's watcher ends everything itself, if the main thread is stuck
PROBE_SECONDS = 120.0
STACK_BYTES = 64 << 10
DUMP_SIGNAL = getattr(signal, "SIGRTMIN", 34) + 11
PR_SET_PDEATHSIG, PR_CAPBSET_DROP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 1, 24, 36, 38
LAST_CAPABILITY = 63
OF_ROOT = (0, 1, 3, 4, 5, 6, 7)  # chown, dac_override, fowner, fsetid, kill, setgid, setuid: what root in a container goes by
LINUX_CAPABILITY_VERSION_3 = 0x20080522
GUEST = os.path.dirname(os.path.abspath(__file__))
SPARED: Set[int] = set()  # processes below the launcher that are not the tests'
SENTINEL = os.path.join(os.path.dirname(GUEST), "sentinel")
# As `python -m pytest` does, the working directory comes first; the recorder's folder comes last, so that it shadows nothing.
# It is imported before pytest could: pytest would parse it anew, to find out that it is not to be rewritten.
BOOT = """\
import os, runpy, sys
if sys.path and sys.path[0] == "":
    sys.path[0] = os.getcwd()
sys.path.append(%r)
import paritygate_recorder
runpy.run_module("pytest", run_name="__main__", alter_sys=True)
""" % os.path.join(GUEST, "plugin")
# Only these may come from the process of the tests; the others are the launcher's to say.
RELAYED = {
    *("collected", "collect-error", "collect-skip", "collect-missing"),
    *("workers", "partition", "test-start", "test", "touched", "neutralised", "finish"),
}
SHAPE: Dict[str, type] = {
    "protocol": int,
    "nonce": str,
    "python": str,
    "workspace": str,
    "directory": str,
    "environment": dict,
    "expect": dict,
    "umask": int,
    "workers": int,
    "seed": int,
    "order": dict,
    "pytest": dict,
    "limits": dict,
    "stack_directory": str,
}


class SpecificationError(Exception):
    """The first line of stdin is not something that can be run."""


def beside(name: str) -> Any:
    """Load a module from the launcher's own folder, which `-I` leaves out of the search; others of its name count for less."""
    sys.path.insert(0, GUEST)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(GUEST)


making: Any = beside("filesystem.making")
mounting: Any = beside("filesystem.mounting")
namespaces: Any = beside("filesystem.namespaces")
clocks: Any = beside("clocks")
forbidden: Any = beside("forbidden")
fixtures: Any = beside("fixtures")


# --- the specification ------------------------------------------------------------------------------------------------


def read_first_line(descriptor: int) -> bytes:
    """Read up to the first newline and not a byte more than one read gives; what follows has no meaning."""
    data = b""
    while b"\n" not in data:
        piece = os.read(descriptor, 1 << 16)
        if not piece:
            raise SpecificationError("stdin ended before the specification's newline, after %d bytes" % len(data))
        data += piece
    return data.partition(b"\n")[0]


def parse_specification(line: bytes) -> Json:
    """Check the shape of a specification; raise SpecificationError with everything that is wrong."""
    try:
        specification = json.loads(line.decode("utf-8"))
    except ValueError as error:
        raise SpecificationError("the first line of stdin is not JSON: %s" % error) from None
    if not isinstance(specification, dict):
        raise SpecificationError("the first line of stdin is no JSON object")
    wrong = [
        "`%s` must be a JSON %s" % (key, kind.__name__)
        for key, kind in SHAPE.items()
        if not isinstance(specification.get(key), kind)
    ]
    wrong += [
        "`%s` must be a JSON object or null" % key
        for key in ("filesystem", "apart", "clock")
        if not isinstance(specification.get(key), (dict, type(None)))
    ]
    if not wrong and specification["protocol"] != PROTOCOL:
        wrong.append("`protocol` is %r, this launcher speaks %d" % (specification["protocol"], PROTOCOL))
    if not wrong and not os.path.isdir(origin_of(root_of(specification), specification.get("apart"))):
        wrong.append("there is no folder `%s`" % root_of(specification))
    if not isinstance(specification.get("hash_seed", 0), int):
        wrong.append("`hash_seed` must be a JSON int")
    if wrong:
        raise SpecificationError("; ".join(wrong))
    return dict(specification)


def root_of(specification: Json) -> str:
    """Say where pytest runs."""
    return os.path.normpath(os.path.join(specification["workspace"], specification["directory"]))


def origin_of(path: str, apart: Optional[Json]) -> str:
    """Say where a path leads before the cell's folder is shown where it will be."""
    if apart and path.startswith(apart["as"] + "/"):
        return str(apart["folder"]) + path[len(apart["as"]) :]
    return path


def limit(specification: Json, name: str, default: float) -> float:
    """Look a limit up; 0 and less mean none."""
    value = float(specification["limits"].get(name, default))
    return value if value > 0 else float("inf")


def tests_environment(specification: Json) -> Dict[str, str]:
    """Make the whole environment of the tests."""
    environment = {str(name): str(value) for name, value in specification["environment"].items()}
    environment["PYTHONHASHSEED"] = str(hash_seed(specification))
    environment["PWD"] = root_of(specification)
    return environment


def data_seed(specification: Json) -> int:
    """Bring the seed into the range that PYTHONHASHSEED and numpy take."""
    return int(specification["seed"]) % (1 << 32)


def hash_seed(specification: Json) -> int:
    """Say what PYTHONHASHSEED is: a seed of its own where there is one."""
    return int(specification["hash_seed"] if "hash_seed" in specification else specification["seed"]) % (1 << 32)


# --- processes --------------------------------------------------------------------------------------------------------


def prctl(option: int, value: int) -> bool:
    """Call prctl, False where it fails or is not there."""
    return LIBC is not None and sys.platform == "linux" and LIBC.prctl(option, value, 0, 0, 0) == 0


def bound_capabilities(uid: int) -> None:
    """Let go for good of what no process of the tests may have: of everything, unless they are to be root."""
    for capability in range(LAST_CAPABILITY + 1):
        if uid != 0 or capability not in OF_ROOT:
            prctl(PR_CAPBSET_DROP, capability)


def drop_inheritable() -> None:
    """Let go of the capabilities that a container may give to be inherited; all others are gone with root."""
    if LIBC is not None and sys.platform == "linux":
        LIBC.capset((ctypes.c_uint32 * 2)(LINUX_CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)())


def preparation(specification: Json) -> Callable[[], None]:
    """Make what a child does to itself between fork and exec: become the tests' user, for good, in the tests' folder."""
    user = specification.get("user")
    open_files = int(specification["limits"].get("open_files", 0))
    forbid = forbidden.Filter() if specification.get("filesystem") else None

    def prepare() -> None:
        if user:
            bound_capabilities(user["uid"])
            os.setgroups([user["gid"]])
            os.setgid(user["gid"])
            os.setuid(user["uid"])
            if user["uid"] != 0:  # what root holds no more it does not get back by starting a program, under the next line
                drop_inheritable()
            prctl(PR_SET_NO_NEW_PRIVS, 1)
            if forbid:
                forbid.put_on()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # after setuid, which clears it
        os.umask(specification["umask"])
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if open_files > 0:
            wanted = open_files if hard == resource.RLIM_INFINITY else min(open_files, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted if user else hard))
        os.chdir(root_of(specification))  # only now: root without CAP_DAC_OVERRIDE may not enter the user's folders

    def prepare_aloud() -> None:
        try:
            prepare()
        except BaseException as error:
            os.write(2, ("paritygate: cannot start a process for the tests: %s\n" % error).encode())
            raise

    return prepare_aloud


def spawn(specification: Json, command: List[str], keep: Tuple[int, ...], variables: Dict[str, str]) -> "subprocess.Popen[bytes]":
    """Start a process of the tests in a session of its own; it holds no descriptor of ours but `keep` and stderr."""
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=2,
        stderr=2,
        env={**tests_environment(specification), **variables},
        pass_fds=keep,
        start_new_session=True,
        preexec_fn=preparation(specification),  # noqa: PLW1509 - the other threads only ever sleep or wait in the kernel
    )


def parents() -> Dict[int, int]:
    """Read which living process is whose child; empty where there is no /proc."""
    found: Dict[int, int] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else []:
        if name.isdigit():
            with contextlib.suppress(OSError):
                with open("/proc/%s/stat" % name, "rb") as stream:
                    fields = stream.read().rpartition(b")")[2].split()
                if fields[0] not in (b"Z", b"X"):
                    found[int(name)] = int(fields[1])
    return found


def descendants(ancestor: int) -> Set[int]:
    """List the living processes below one that are the tests'; we are their subreaper, so none escapes by forking twice."""
    tree = parents()
    found = {ancestor}
    grown = True
    while grown:
        more = {pid for pid, parent in tree.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return found - {ancestor} - SPARED


def pipes_of(pid: int) -> Set[str]:
    """List the pipes that a process has open; empty where nobody may look."""
    found: Set[str] = set()
    folder = "/proc/%d/fd" % pid
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                found.add(os.readlink(os.path.join(folder, name)))
    return {target for target in found if target.startswith("pipe:")}


def reap(but: int = 0) -> None:
    """Collect dead orphans, but not the processes that someone else waits for."""
    while True:
        try:
            dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if dead is None or dead.si_pid in {but, *SPARED}:
                return
            os.waitpid(dead.si_pid, 0)
        except ChildProcessError:
            return


def kill(pid: int) -> None:
    """Kill one process; not an error when it is gone."""
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGKILL)


def kill_all_of(uid: int) -> None:
    """Kill every process of a user, as that user, so that nothing else can be hit; a user of its own is the caller's promise."""
    try:
        child = os.fork()
    except OSError:
        return  # the tests have used up all processes; those that we know are killed by now, and there is a next time
    if child == 0:
        try:
            os.setuid(uid)
            os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def kill_everything(specification: Json, waited_for: int = 0) -> None:
    """Kill all that the tests have left, again and again until nothing is; one process's status is left for its waiter."""
    user = specification.get("user")
    uid = user["uid"] if user else 0
    own = uid != 0 and os.geteuid() == 0
    for _ in range(200):
        victims = descendants(os.getpid())
        for pid in victims:
            kill(pid)
        if own:
            kill_all_of(uid)
        reap(but=waited_for)
        if not victims:
            return
        time.sleep(0.01)


@contextlib.contextmanager
def as_user(specification: Json) -> Iterator[None]:
    """Touch files as the tests' user, so that a link that tests have planted leads no further than they may go themselves."""
    user = specification.get("user")
    if not user or os.geteuid() != 0:
        yield
        return
    os.setegid(user["gid"])
    os.seteuid(user["uid"])
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(os.getgid())


def handles_dump(pid: int) -> bool:
    """Say whether a process catches the dump signal; one that does not would die of it without a word."""
    try:
        with open("/proc/%d/status" % pid, encoding="ascii", errors="replace") as stream:
            caught = re.search(r"^SigCgt:\s*([0-9a-f]+)", stream.read(), flags=re.MULTILINE)
    except OSError:
        return False
    return caught is not None and bool(int(caught.group(1), 16) >> (DUMP_SIGNAL - 1) & 1)


def request_dump(pid: int) -> bool:
    """Ask a process for its stacks; False where it cannot give them."""
    with contextlib.suppress(OSError):
        if handles_dump(pid):
            os.kill(pid, DUMP_SIGNAL)
            return True
    return False


# --- the gate's end of the line ---------------------------------------------------------------------------------------


class Gate(threading.Thread):
    """Watch stdin for its end. A thread, because a main thread that is stuck in a write could not see it."""

    def __init__(self, specification: Json, seconds: float) -> None:
        super().__init__(daemon=True)
        self.specification = specification
        self.deadline = time.monotonic() + seconds
        self.gone = False
        self.wake, self._bell = os.pipe()
        os.set_blocking(self._bell, False)
        signal.set_wakeup_fd(self._bell, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self.leave)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)

    def leave(self, *_: Any) -> None:
        """Note that the gate wants us no more, and wake the main thread."""
        self.gone = True
        with contextlib.suppress(BlockingIOError):
            os.write(self._bell, b"g")

    def drain(self) -> None:
        """Forget why the main thread was woken."""
        os.read(self.wake, 4096)

    def run(self) -> None:
        """Wait for stdin's end or the deadline, then give the main thread its chance, then end everything."""
        while True:
            left = self.deadline - time.monotonic()
            ready = select.select([0], [], [], min(left, 3600.0))[0] if left > 0 else []
            if left <= 0 or (ready and not os.read(0, 4096)):
                break
        if left > 0:
            self.leave()
        time.sleep(HARD_GRACE)
        kill_everything(self.specification)
        os._exit(GONE)


class Output:
    """The only writer of stdout: gives each event the nonce, its number and the seconds since the start."""

    def __init__(self, nonce: str) -> None:
        self.nonce = nonce
        self.number = 0
        self.born = time.monotonic()

    def emit(self, kind: str, **keys: Any) -> None:
        """Write one event of our own."""
        self.relay({"e": kind, **keys})

    def relay(self, event: Json) -> None:
        """Write one event, whole, whatever its size."""
        stamp = {"n": self.nonce, "s": self.number, "t": round(time.monotonic() - self.born, 4)}
        data = memoryview((json.dumps({**event, **stamp}, separators=(",", ":")) + "\n").encode("ascii"))
        self.number += 1
        while data:
            data = data[os.write(1, data) :]


# --- the probe --------------------------------------------------------------------------------------------------------


def probe(specification: Json, gate: Gate) -> Json:
    """Measure the tests' environment from inside; what goes wrong is a `failed` key that says why."""
    reading, writing = os.pipe()
    arguments = {
        "workspace": specification["workspace"],
        "sentinel": SENTINEL,
        "timezone": specification["expect"].get("timezone") or "",
        "clock": bool(specification.get("clock")),
    }
    command = [specification["python"], "-B", os.path.join(GUEST, "probe.py"), json.dumps(arguments), str(writing)]
    try:
        process = spawn(specification, command, (writing,), {})
    except (OSError, subprocess.SubprocessError) as error:
        os.close(writing)
        return {"failed": "`%s` cannot be started: %s" % (specification["python"], error)}
    os.close(writing)
    data, deadline = b"", time.monotonic() + PROBE_SECONDS
    while not gate.gone and time.monotonic() < deadline:
        if select.select([reading], [], [], 0.5)[0]:
            piece = os.read(reading, 1 << 16)
            if not piece:
                break
            data += piece
    os.close(reading)
    kill(process.pid)
    status = process.wait()
    try:
        return dict(json.loads(data.decode("ascii")))
    except ValueError:
        return {"failed": "the probe gave no answer (exit status %d); its message is on stderr" % status}


def probe_by_clock(specification: Json, gate: Gate, clock: Any) -> Json:
    """Probe with the cell's clock, and where that fails without it: `clock` lists what is wrong with the clock."""
    if not clock.wish:
        return {**probe(specification, gate), "clock": []}
    span = clocks.Span()
    measurement = probe(specification, gate)
    span.end()
    if "failed" in measurement and not gate.gone:
        clock.take(specification["environment"])
        again = probe({**specification, "clock": None}, gate)
        found = clocks.unlike_without(measurement["failed"], again, clock.moment)
        return {**again, "clock": found} if found else {**measurement, "clock": []}
    if "failed" in measurement:
        return measurement
    measurement["probe"]["clock"] = clock.facts(measurement["checks"])
    return {**measurement, "clock": list(clock.problems(measurement["checks"], span))}


def zone_problems(name: str, measured: Json, checks: Json) -> Iterator[str]:
    """Compare the zone; the C library takes an unknown one for UTC without a word, so names prove nothing."""
    offsets = [measured["utcoffset_january"], measured["utcoffset_july"]]
    if checks["zone_file"] is None:
        yield "timezone `%s`: there is no such zone in the cell's /usr/share/zoneinfo, times would silently be UTC" % name
    elif checks["zone_file"] != offsets:
        yield "timezone `%s`: offsets in January and July are %s seconds, the zone's are %s" % (
            name,
            offsets,
            checks["zone_file"],
        )
    elif checks["zoneinfo"] not in (None, offsets):
        yield "timezone `%s`: the C library says %s seconds, Python's zoneinfo %s" % (name, offsets, checks["zoneinfo"])


def same_locale(left: str, right: str) -> bool:
    """Compare locale names as the C library does: the codeset's case and punctuation do not count."""
    plain = [name.partition(".")[0] + "." + re.sub(r"[^a-z0-9]", "", name.partition(".")[2].lower()) for name in (left, right)]
    return plain[0] == plain[1] or {left, right} == {"C", "POSIX"}


def locale_problems(name: str, measured: Json, checks: Json) -> Iterator[str]:
    """Compare the locale."""
    if checks["locale_error"]:
        yield "locale `%s`: %s; it is not generated in this cell" % (name, checks["locale_error"])
    elif not same_locale(name, measured["locale"]):
        yield "locale `%s`: the tests' locale is `%s`" % (name, measured["locale"])


def elsewhere(place: str, specification: Json) -> bool:
    """Say whether one of the three folders is the home that the environment has anywhere but beside the workspace."""
    beside = os.path.dirname(specification["workspace"])
    return place == "home" and os.path.dirname(str(specification["environment"].get("HOME", beside + "/home"))) != beside


def case_problems(specification: Json, checks: Json, *, wanted: bool) -> Iterator[str]:
    """Compare what the three folders do with a name in another case."""
    for place, folder in checks["folders"].items():
        if elsewhere(place, specification):
            continue
        if checks["case"][place] is None:
            yield "case_sensitive: nothing can be created in %s `%s`, so its kind is not known" % (place, folder)
        elif checks["case"][place] is not wanted:
            yield "case_sensitive = %s: %s `%s` is not so" % (str(wanted).lower(), place, folder)


def habit_problems(specification: Json, files: Any, measured: Json) -> Iterator[str]:
    """Compare what the filesystem that was made for the cell does with what such a one does."""
    wish = specification.get("filesystem")
    if wish is None:
        return
    wanted = {"folds": True, "keeps": True, "fresh": True} if wish["fold"] else {"folds": False, "keeps": True}
    if files.case_rename:
        wanted["renames_case"] = True
    for place, habits in measured["case"].items():
        if elsewhere(place, specification):
            continue
        for habit, value in wanted.items():
            if habits.get(habit) is not value:
                yield "filesystem (%s): `%s` is not %s in %s" % (files.way, habit, str(value).lower(), place)


def user_problems(user: Json, measured: Json) -> Iterator[str]:
    """Compare identity and privileges."""
    if (measured["uid"], measured["gid"]) != (user["uid"], user["gid"]):
        yield "user: tests run as %d:%d instead of %d:%d" % (measured["uid"], measured["gid"], user["uid"], user["gid"])
    held = re.search(r"CapEff=0*([1-9a-f][0-9a-f]*)", measured["capabilities"])
    if held and user["uid"] != 0:
        yield "user: tests hold capabilities (%s)" % measured["capabilities"]


def problems(specification: Json, measured: Json, checks: Json) -> List[str]:
    """Say everything in which the measured environment is not the one that was asked for."""
    expect = specification["expect"]
    found: List[str] = []
    if expect.get("timezone"):
        found += zone_problems(expect["timezone"], measured, checks)
    if expect.get("locale"):
        found += locale_problems(expect["locale"], measured, checks)
    if expect.get("case_sensitive") is not None:
        found += case_problems(specification, checks, wanted=expect["case_sensitive"])
    if specification.get("user"):
        found += user_problems(specification["user"], measured)
    plain = (
        ("umask", "%03o", expect.get("umask"), measured["umask"]),
        ("sentinel of the tree", "%s", expect.get("sentinel") or None, measured["sentinel"]),
        ("hash seed", "%s", str(hash_seed(specification)), measured["hash_seed"]),
    )
    for what, form, wanted, seen in plain:
        if wanted is not None and wanted != seen:
            found.append("%s: `%s` instead of `%s`" % (what, form % seen, form % wanted))
    return found


# --- pytest -----------------------------------------------------------------------------------------------------------


def pytest_arguments(specification: Json, installed: Set[str]) -> List[str]:
    """Say how pytest is called: the recorder, what the user gives, over it what makes cells comparable, then the selection."""
    arguments = ["-p", "paritygate_recorder", *specification["pytest"].get("arguments", [])]
    if "pytest-randomly" in installed:
        arguments += ["-p", "randomly", "--randomly-seed=%d" % data_seed(specification), "--randomly-dont-reorganize"]
        arguments += [] if specification.get("reseeds", True) else ["--randomly-dont-reset-seed"]
    if "pytest-xdist" in installed:
        arguments += ["-p", "xdist", "-n", str(specification["workers"])]
    if "pytest-cov" in installed:
        arguments += ["-p", "pytest_cov", "--no-cov"]
    arguments += ["--rootdir=" + root_of(specification), "--maxfail=0", "--continue-on-collection-errors", "--color=no"]
    selection = specification["pytest"]
    for option, key in (("-k", "keyword"), ("-m", "marker")):
        if selection.get(key):
            arguments += [option, selection[key]]
    return arguments + list(selection.get("paths", []))


class Process:
    """One pytest process with the pipe on which its recorder writes."""

    def __init__(self, specification: Json, command: List[str], order: Json) -> None:
        root = root_of(specification)
        shared = {key: specification[key] for key in ("nonce", "workers", "stack_directory")}
        configuration = {
            **shared,
            "seed": data_seed(specification),
            "order": order,
            "exclude": specification["pytest"].get("exclude") or {},
            "share": specification["pytest"].get("share"),
            "watched": specification.get("watched"),
            "respect_pins": bool(specification.get("respect_pins")),
            "arguments": specification["pytest"].get("arguments") or [],
            "root": specification["workspace"],
            "rootdir": root,
        }
        self.events, writing = os.pipe()
        os.set_blocking(self.events, False)
        with tempfile.TemporaryFile(dir=specification["stack_directory"]) as stream:
            stream.write(json.dumps(configuration).encode("ascii"))
            stream.flush()
            stream.seek(0)
            keep = (stream.fileno(), writing)
            self.popen = spawn(specification, command, keep, {"PARITYGATE_RECORDER": "%d,%d" % keep})
        os.close(writing)
        self.pid = self.popen.pid
        self._partial = b""
        self._skipping = False

    def read(self) -> Tuple[List[bytes], bool]:
        """Take what is in the pipe now, as whole lines; the second says whether there may be more."""
        try:
            data = os.read(self.events, 1 << 18)
        except BlockingIOError:
            return [], False
        lines = (self._partial + data).split(b"\n")
        self._partial = lines.pop()
        if self._skipping and lines:
            lines, self._skipping = lines[1:], False
        if len(self._partial) > MAX_LINE or self._skipping:
            self._partial, self._skipping = b"", True
        return lines, bool(data)

    def close(self) -> None:
        """Let go of the pipe, whoever else holds its other end."""
        os.close(self.events)


def signal_name(status: int) -> str:
    """Name the signal of a negative exit status."""
    try:
        return signal.Signals(-status).name
    except ValueError:
        return "signal %d" % -status


def place_in(stack: str, workspace: str) -> Tuple[str, int]:
    """Find the innermost frame of a stack dump that lies in the tree."""
    top = workspace.rstrip("/") + "/"
    for path, line in re.findall(r'^  File "(.+)", line (\d+) in ', stack, flags=re.MULTILINE):
        if path.startswith(top):
            return path[len(top) :], int(line)
    return "", 0


class Memory:
    """The kernel's counters of the cell's control group; all 0 where there are none."""

    def __init__(self, folder: str, allowed: int) -> None:
        self.folder, self.allowed = folder, allowed
        self.before = self.kills()

    def kills(self) -> int:
        """Say how many processes the kernel has killed for lack of memory, ever."""
        for name in ("memory.events", "memory.oom_control"):
            found = re.search(r"^oom_kill (\d+)", self.text(name), flags=re.MULTILINE)
            if found:
                return int(found.group(1))
        return 0

    def text(self, name: str) -> str:
        """Read one file of the group, empty where it is not there."""
        with contextlib.suppress(OSError):
            if self.folder:
                with open(os.path.join(self.folder, name), encoding="ascii") as stream:
                    return stream.read()
        return ""

    def summary(self) -> Json:
        """Say what happened since the start."""
        peak = (self.text("memory.peak") or self.text("memory.max_usage_in_bytes")).strip()
        kills = self.kills() - self.before
        return {"oom_kills": kills, "peak": int(peak) if peak.isdigit() else 0, "limit": self.allowed}


class Record:
    """What the events have told: which tests there are, which are done, which process runs which since when."""

    def __init__(self) -> None:
        self.collected: Optional[List[Id]] = None
        self.done: Set[Id] = set()
        self.running: Dict[str, Tuple[Id, float]] = {}
        self.pids: Dict[str, int] = {}
        self.all_pids: Set[int] = set()
        self.finished_at = 0.0
        self.quiet_since = time.monotonic()

    def take(self, event: Json) -> bool:
        """Learn from one event; False where it is not to be passed on. Raises on one that is not shaped as it must be."""
        self.quiet_since = time.monotonic()
        kind = event["e"]
        if kind == "collected":
            return self.add_tests(event["tests"])
        if kind == "partition":  # what only some workers have collected is there too
            self.add_tests([test for share in event["workers"].values() for test in share])
        elif kind == "workers":
            self.add_worker(str(event["worker"]), int(event["pid"]))
        elif kind == "finish":
            self.finished_at = self.quiet_since
        elif kind in ("test-start", "test"):
            test = (str(event["nodeid"]), int(event["occurrence"]))
            if test in self.done:
                return False  # we have ended it already, and said so
            if kind == "test-start":
                self.running[str(event["worker"])] = (test, self.quiet_since)
            else:
                self.finish_test(str(event["worker"]), test)
        return kind in RELAYED

    def add_tests(self, pairs: List[Any]) -> bool:
        """Note what is to be run; False where that is no news, as what a restarted process collects."""
        first, known = self.collected is None, self.collected or []
        self.collected = list(dict.fromkeys([*known, *((str(name), int(number)) for name, number in pairs)]))
        return first

    def add_worker(self, worker: str, pid: int) -> None:
        """Note a process that runs tests, if it is one of ours: nothing that tests can write may make us kill another."""
        if pid in descendants(os.getpid()):
            self.pids[worker] = pid
            self.all_pids.add(pid)

    def finish_test(self, worker: str, test: Id) -> None:
        """Note that a test is decided."""
        self.done.add(test)
        if self.running.get(worker, (None, 0.0))[0] == test:
            del self.running[worker]

    def left(self) -> List[Id]:
        """List what is not decided, in order."""
        return [test for test in self.collected or [] if test not in self.done]


class Supervisor:
    """Watches the processes of one cell, replaces those that hang or die in a test, and ends the cell."""

    def __init__(self, specification: Json, output: Output, gate: Gate, parts: Tuple[Any, Any]) -> None:
        self.specification, self.output, self.gate = specification, output, gate
        self.files, self.clock = parts
        self.command: List[str] = []
        self.record = Record()
        self.single = specification["workers"] == 0
        self.dumping: Dict[str, Tuple[Id, int, float]] = {}
        self.replaced = {"timed_out": 0, "crashed": 0}
        self.allowed = {"timed_out": int(specification["limits"].get("timeouts", 3)), "crashed": MAX_CRASHES}
        self.deadline = output.born + limit(specification, "cell_seconds", 0)
        self.test_seconds = limit(specification, "test_seconds", 0)
        self.idle_seconds = limit(specification, "idle_seconds", 0)
        self.heartbeat = float(specification.get("heartbeat_seconds") or 5.0)
        self.next_beat = 0.0
        self.put_down_main = False
        self.detail = ""
        self.spans: List[Tuple[float, float, Id]] = []
        self.last_ends: Dict[str, float] = {}
        self.next_look = 0.0
        self.released = 0

    def run(self) -> Tuple[str, int]:
        """Run pytest to its end, anew with what is left where a test took the process down; say why it ended and its status."""
        order = dict(self.specification["order"])
        while True:
            self.put_down_main = False
            process = Process(self.specification, self.command, order)
            why = self.watch(process)
            if why in ("cell-timeout", "idle"):
                self.show_stacks(process)
            if why:
                kill_everything(self.specification, waited_for=process.pid)
            status = process.popen.wait()
            self.drain(process)
            process.close()
            kill_everything(self.specification)
            if why != "gone" and self.files.trouble():
                why = "filesystem"
            if not why and not self.go_on(process, status):
                why = self.verdict(status)
            if why == "finished" and self.released and not self.detail:
                self.detail = (
                    "tests left processes behind that kept dead workers' pipes open (%d); they were ended" % self.released
                )
            if why:
                return why, status
            order = {**order, "only": None, "exactly": self.record.left()}

    def watch(self, process: Process) -> str:
        """Relay events until the process has ended (empty) or the cell must end (why)."""
        while process.popen.poll() is None:
            ready = select.select([process.events, self.gate.wake, *self.files.descriptors()], [], [], self.pause())[0]
            if self.gate.wake in ready:
                self.gate.drain()
                reap(but=process.pid)
            if set(ready).intersection(self.files.descriptors()) and self.files.trouble():
                return "filesystem"
            if process.events in ready and not self.relay(process):
                time.sleep(0.01)  # the pipe is closed and the process still there: a loop must not burn its processor
            now = time.monotonic()
            if now >= self.next_beat:
                self.output.emit("alive")
                self.next_beat = now + self.heartbeat
            self.release(process, now)
            why = self.overdue(now) or self.check_tests(process, now)
            if why:
                return why
            if self.record.finished_at and now > self.record.finished_at + EXIT_GRACE:
                self.detail = "pytest did not end by itself within %d s of its last test, and was ended" % EXIT_GRACE
                return "finished"
        return ""

    def release(self, process: Process, now: float) -> None:
        """End what dead workers have left behind and their controller waits for.

        A child that a test has forked holds its worker's end of the pipe to the controller for as long as it lives, so that the
        worker's death goes unnoticed. What does not hold one, such as a server that a fixture has started, is let be.
        """
        if self.single or now < self.next_look:
            return
        self.next_look = now + LOOK_SECONDS
        tree = parents()
        if not self.record.all_pids - set(tree):
            return
        orphans = {pid for pid, parent in tree.items() if parent == os.getpid()} - SPARED - {process.pid}
        left = orphans.union(*(descendants(pid) for pid in orphans))
        ours = pipes_of(os.getpid()) if left else set()
        with as_user(self.specification):
            waited_for = (pipes_of(process.pid) if left else set()) - ours
            holders = [pid for pid in left if pipes_of(pid) & waited_for]
        for pid in holders:
            kill(pid)
        self.released += len(holders)

    def pause(self) -> float:
        """Say how long nothing can fall due."""
        due = [self.next_beat, self.deadline, self.record.quiet_since + self.idle_seconds]
        due += [since + self.test_seconds for _, since in self.record.running.values()]
        due += [until for _, _, until in self.dumping.values()]
        return max(0.01, min(min(due) - time.monotonic(), 1.0))

    def overdue(self, now: float) -> str:
        """Say which limit of the whole cell is over. A test under way has its own, so that silence then is no hang."""
        if self.gate.gone:
            return "gone"
        if now >= self.deadline:
            return "cell-timeout"
        guarded = self.record.running and self.test_seconds < float("inf")
        return "idle" if not guarded and now - self.record.quiet_since > self.idle_seconds else ""

    def relay(self, process: Process) -> bool:
        """Pass on what is in the pipe now; False where there is nothing more to come.

        It is dropped where the filesystem failed before we had it: what a test says then may be no doing of its own.
        """
        lines, more = process.read()
        if lines and self.files.trouble():
            return False
        for line in lines:
            try:
                event = json.loads(line.decode("utf-8", "replace"))
                if event["n"] == self.specification["nonce"] and self.record.take(event):
                    began, ended = event.pop("span", (0.0, 0.0))
                    if event["e"] == "test":
                        self.note_span(event["worker"], (event["nodeid"], event["occurrence"]), float(began), float(ended))
                        self.tell_spellings(event["worker"], (event["nodeid"], event["occurrence"]), float(began), float(ended))
                    self.output.relay(event)
            except (ValueError, KeyError, TypeError):
                continue  # not the recorder's: a test has written into its pipe
        return more

    def note_span(self, worker: str, test: Id, began: float, ended: float) -> None:
        """Note from when to when a test ran."""
        self.spans.append((began, ended, test))
        self.last_ends[worker] = ended

    def tell_spellings(self, worker: str, test: Id, began: float, ended: float) -> None:
        """Say which names a test has found by another spelling."""
        for asked, kept in self.files.spellings(self.record.pids.get(worker, 0), began, ended):
            self.output.emit("spelling", nodeid=test[0], occurrence=test[1], worker=worker, asked=asked, kept=kept)

    def rewritten(self, why: str) -> List[Json]:
        """List the locked files that the tests have changed; nothing can be said of a filesystem that failed."""
        locked = self.specification.get("locked") or {}
        if not locked or why in ("gone", "filesystem") or self.files.trouble():
            return []
        with as_user(self.specification):
            return list(fixtures.rewritten(self.specification["workspace"], locked, self.spans))

    def removed(self, why: str) -> List[str]:
        """List the modules whose tests are left and which are no longer there: pytest has imported them, so they were."""
        if why in ("gone", "filesystem") or self.files.trouble():
            return []
        modules = dict.fromkeys(test[0].partition("::")[0] for test in self.record.left())
        with as_user(self.specification):
            there = {each: os.path.lexists(os.path.join(self.specification["workspace"], each)) for each in modules}
        return [each for each, is_there in there.items() if each.endswith(".py") and not is_there]

    def drain(self, process: Process) -> None:
        """Pass on what a dead process has left in its pipe; whoever else holds the pipe is not waited for."""
        until = time.monotonic() + DUMP_GRACE
        while self.relay(process) and time.monotonic() < until:
            pass

    def check_tests(self, process: Process, now: float) -> str:
        """Ask each process whose test is overdue for its stacks and, half a second later, put it down."""
        for worker, (test, since) in list(self.record.running.items()):
            asked = self.dumping.get(worker)
            if asked and asked[0] != test:
                del self.dumping[worker]  # it got done in the last moment
            elif asked and now >= asked[2]:
                if self.files.trouble():
                    return "filesystem"
                if not self.put_down(process, worker):
                    return "too-many-timeouts"
            elif not asked and now - since > self.test_seconds:
                pid = self.record.pids.get(worker, process.pid)
                request_dump(pid)
                self.dumping[worker] = (test, pid, now + DUMP_GRACE)
        return ""

    def put_down(self, process: Process, worker: str) -> bool:
        """End the process of an overdue test and say so; False where that was once too often."""
        test, pid, _ = self.dumping.pop(worker)
        seconds = time.monotonic() - self.record.running[worker][1]
        stack = self.stack(pid)
        self.mark(pid, test)
        self.decide(worker, test, "timed_out", seconds, ("Timeout", "over the limit of %g s" % self.test_seconds, stack))
        for victim in [pid, *descendants(pid)]:
            kill(victim)
        self.put_down_main = pid == process.pid
        return (self.single or not self.put_down_main) and self.count("timed_out", worker, pid, test)

    def decide(self, worker: str, test: Id, outcome: str, seconds: float, what: Tuple[str, str, str]) -> None:
        """Write the result of a test that cannot write it itself."""
        exception, message, text = what
        file, line = place_in(text, self.specification["workspace"])
        failure: Json = {"phase": "process", "exception": exception, "message": message}
        failure["fingerprint"] = hashlib.blake2b(outcome.encode(), digest_size=8).hexdigest()  # as the recorder's for workers
        failure.update({"file": file, "line": line, "text": text})
        self.record.finish_test(worker, test)
        now = time.monotonic()
        self.note_span(worker, test, self.last_ends.get(worker, self.output.born), now)  # when it began is heard too late
        self.tell_spellings(worker, test, now - seconds, now)
        self.output.emit(
            "test",
            nodeid=test[0],
            occurrence=test[1],
            worker=worker,
            outcome=outcome,
            seconds=round(seconds, 4),
            reason="",
            failure=failure,
            output="",
        )

    def count(self, why: str, worker: str, pid: int, test: Id) -> bool:
        """Count a replacement and announce it; False where that was once too often."""
        self.replaced[why] += 1
        if self.replaced[why] > self.allowed[why]:
            return False
        self.output.emit("restart", worker=worker, pid=pid, nodeid=test[0], occurrence=test[1], why=why)
        return True

    def go_on(self, process: Process, status: int) -> bool:
        """Say whether a dead process is to be replaced: it had to be put down, or it died in a test, and there is more to run."""
        running, self.record.running, self.dumping = dict(self.record.running), {}, {}
        if self.record.finished_at or not self.single:
            self.record.running = running
            return False
        if self.put_down_main:
            return bool(self.record.left())  # a test that began in the last moment is run again
        for worker, (test, since) in running.items():
            exception = signal_name(status) if status < 0 else "exit status %d" % status
            how = "the process was killed by `%s`" if status < 0 else "the process ended itself (`os._exit` or the like) with %s"
            self.decide(worker, test, "crashed", time.monotonic() - since, (exception, how % exception, ""))
            return self.count("crashed", worker, process.pid, test) and bool(self.record.left())
        return False

    def verdict(self, status: int) -> str:
        """Say what the end of the last process means."""
        if self.record.finished_at:
            return "finished"
        if self.record.collected is None:
            return "finished" if status in REFUSALS else "crashed"
        return "finished" if any(self.replaced.values()) and not self.record.left() else "crashed"

    def stack(self, pid: int) -> str:
        """Read the stacks that a process has dumped, empty where it did not."""
        path = self.stack_file(pid, "stack")
        with contextlib.suppress(OSError), as_user(self.specification), open(path, "rb") as stream:
            return stream.read(STACK_BYTES).decode("utf-8", "replace")
        return ""

    def stack_file(self, pid: int, kind: str) -> str:
        """Name a file that launcher and recorder share."""
        return os.path.join(self.specification["stack_directory"], "paritygate-%d.%s" % (pid, kind))

    def mark(self, pid: int, test: Id) -> None:
        """Tell the recorder which test of a process we have decided, before we kill it, so that it does not report it again."""
        path = self.stack_file(pid, "timed_out")
        with contextlib.suppress(OSError), as_user(self.specification), open(path, "w", encoding="ascii") as stream:
            json.dump(test, stream)

    def show_stacks(self, process: Process) -> None:
        """Put on stderr what every process does, before the cell is ended."""
        asked = [pid for pid in {process.pid, *self.record.all_pids} if request_dump(pid)]
        time.sleep(DUMP_GRACE if asked else 0)
        for pid in asked:
            sys.stderr.write("paritygate: process %d when the cell was ended:\n%s\n" % (pid, self.stack(pid)))
        sys.stderr.flush()

    def tidy(self) -> None:
        """Remove the files that launcher and recorder shared."""
        for pid in self.record.all_pids:
            for kind in ("stack", "timed_out"):
                with contextlib.suppress(OSError), as_user(self.specification):
                    os.unlink(self.stack_file(pid, kind))


# --- the whole --------------------------------------------------------------------------------------------------------


def dates(now: float) -> List[str]:
    """Say the local date of the tests' zone, which `main` has made ours, and UTC's, at a moment."""
    return [time.strftime("%Y-%m-%d", time.localtime(now)), time.strftime("%Y-%m-%d", time.gmtime(now))]


def use_zone(environment: Dict[str, str]) -> None:
    """Take over the tests' zone, so that the dates at the end can be said without another process."""
    os.environ.pop("TZ", None)
    os.environ.update({name: environment[name] for name in ("TZ", "TZDIR") if name in environment})
    time.tzset()


def run_tests(supervisor: Supervisor, measurement: Json) -> int:
    """Run the cell after a good probe; say the exit status."""
    specification, output, files = supervisor.specification, supervisor.output, supervisor.files
    measured, checks = measurement["probe"], measurement["checks"]
    command = supervisor.command = [
        specification["python"],
        "-c",
        BOOT,
        *pytest_arguments(specification, {one["name"] for one in measured["distributions"]}),
    ]
    memory = Memory(checks["memory_folder"], measured["memory"])
    shown = [*command[:1], "-m", "pytest", *command[3:]]
    output.emit(
        "start",
        protocol=PROTOCOL,
        probe=measured,
        dates=dates(supervisor.clock.now()),
        command=shown,
        monotonic=time.monotonic(),
        filesystem=files.facts(),
    )
    detail = ""
    try:
        why, status = supervisor.run()
    except BrokenPipeError:
        raise
    except (OSError, subprocess.SubprocessError) as error:
        why, status, detail = "crashed", -signal.SIGKILL, "pytest could not be started: %s" % error
        why = "filesystem" if files.trouble() else why
    detail = detail or supervisor.detail
    if why == "filesystem":
        detail = "the cell's filesystem failed: %s" % files.trouble()
    supervisor.tidy()
    rewritten, removed = supervisor.rewritten(why), supervisor.removed(why)
    output.emit(
        "end",
        returncode=status if status >= 0 else None,
        signal=signal_name(status) if status < 0 else "",
        why=why,
        detail=detail,
        dates=dates(supervisor.clock.now()),
        memory=memory.summary(),
        rewritten=rewritten,
        removed=removed,
        seconds=round(time.monotonic() - output.born, 4),
    )
    return GONE if why == "gone" else 0


def unusable(specification: Json, measurement: Json) -> str:
    """Say why nothing can run here, empty where it can."""
    if "failed" in measurement:
        return str(measurement["failed"])
    if not measurement["checks"]["pytest"]:
        return "pytest is not installed for `%s`" % specification["python"]
    installed = {one["name"] for one in measurement["probe"]["distributions"]}
    if specification["workers"] and "pytest-xdist" not in installed:
        return "workers = %d, but pytest-xdist is not installed for `%s`" % (specification["workers"], specification["python"])
    return ""


def run_cell(specification: Json) -> int:
    """Probe, then run or refuse; say the exit status."""
    output, apart, wish = Output(specification["nonce"]), specification.get("apart"), specification.get("filesystem")
    if apart:
        try:
            namespaces.show(apart)  # before there is a second thread
        except mounting.UnavailableError as error:
            return refuse(output, "the cell's folder cannot be shown where it should be: %s" % error)
    gate = Gate(specification, limit(specification, "cell_seconds", 0))
    gate.start()
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    use_zone(tests_environment(specification))
    files = making.Filesystem()
    try:
        try:
            files = making.make({**wish, "shared": bool(apart)} if wish else None, specification["workspace"])
            if apart:
                namespaces.cover(os.path.join(apart["as"], "tmp"), making.TEMPORARY, apart.get("kept") or ())
        except mounting.UnavailableError as error:
            return refuse(output, "the cell's filesystem cannot be made: %s" % error)
        except OSError as error:
            return refuse(output, "the cell's files cannot be copied to its filesystem: %s" % error)
        SPARED.add(files.pid)
        return probe_and_run(specification, output, gate, files)
    except BrokenPipeError:
        return GONE
    finally:
        kill_everything(specification)
        files.end()


def probe_and_run(specification: Json, output: Output, gate: Gate, files: Any) -> int:
    """Move the clock where it is to be moved, probe, then run or refuse; say the exit status."""
    try:
        clock = clocks.Clock(specification.get("clock"))
        clock.give(specification["environment"])
    except clocks.UnmovableError as error:
        return refuse(output, "the clock could not be moved: %s" % error, why="clock")
    measurement = probe_by_clock(specification, gate, clock)
    if gate.gone:
        return GONE
    return judge_and_run(Supervisor(specification, output, gate, (files, clock)), measurement)


def judge_and_run(supervisor: Supervisor, measurement: Json) -> int:
    """Run the cell if the probe found what it should; say the exit status."""
    specification, output, files = supervisor.specification, supervisor.output, supervisor.files
    if files.trouble():
        return refuse(output, "the cell's filesystem failed: %s" % files.trouble(), why="filesystem")
    reason = unusable(specification, measurement)
    if reason:
        return refuse(output, reason)
    found = problems(specification, measurement["probe"], measurement["checks"])
    found += [*habit_problems(specification, files, measurement["probe"]), *measurement["clock"]]
    if found:
        output.emit("mismatch", problems=found, probe=measurement["probe"], filesystem=files.facts())
        return 0
    return run_tests(supervisor, measurement)


def refuse(output: Output, detail: str, why: str = "unusable") -> int:
    """End a cell in which nothing can run; say the exit status."""
    seconds = round(time.monotonic() - output.born, 4)
    output.emit("end", returncode=None, signal="", why=why, detail=detail, dates=dates(time.time()), memory={}, seconds=seconds)
    return 0


def main() -> int:
    """Run one cell; say the exit status."""
    warnings.simplefilter(
        "ignore", DeprecationWarning
    )  # 3.12 and later: a fork beside a thread, which only ever sleeps in select
    try:
        specification = parse_specification(read_first_line(0))
    except SpecificationError as error:
        sys.stderr.write("paritygate: %s; this is a fault between the runner and the guest\n" % error)
        return USAGE
    return run_cell(specification)


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    os._exit(status)
