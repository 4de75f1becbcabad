"""Keeps house for the cells of one run on another computer: takes files, makes the virtual environment, and cleans up.

`keeper.py keep` answers requests, one JSON object a line, until its stdin ends; the run's folder goes with it. `keeper.py cell
FOLDER NUMBER STATE COMPANY` makes the folder of a cell and runs the launcher there, on its own streams. It imports nothing of
paritygate and takes CPython 3.8 or later, with `venv` and `ensurepip` for the environment.
"""

from __future__ import annotations

import configparser
import contextlib
import errno
import fcntl
import importlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import uuid
from typing import Any, BinaryIO, Callable, Dict, List

Json = Dict[str, Any]
INSTALL_SECONDS = 1200
SHOWN_LINES = 8
FULL = 1 << 24  # bytes
KEPT = 6  # environments
COMMAND = """\
#!/bin/sh
'''exec' "%s" "$0" "$@"
' '''
import sys
from %s import %s
sys.exit(%s())
"""  # a path in the first line could be too long for the kernel, or have a blank in it


def lodging_in(folder: str) -> Any:
    """Load the module that makes folders from the guest's, which `-I` leaves out of the search."""
    sys.path.insert(0, folder)
    try:
        return importlib.import_module("lodging")
    finally:
        del sys.path[0]


def cache() -> str:
    """Say where the user keeps what can be made anew."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    return os.path.join(given if given.startswith("/") else os.path.expanduser("~/.cache"), "paritygate")


class Keeper:
    """The house of one run."""

    def __init__(self, stdin: BinaryIO, guest: str) -> None:
        self.stdin, self.guest = stdin, guest
        self.lodging = lodging_in(guest)
        self.top = self.folder = ""
        self.lock = -1

    def begin(self, _request: Json) -> Json:
        """Make the run's folder, and move the guest's files there, which have come before."""
        if not sys.platform.startswith("linux"):
            raise RuntimeError("cells on another computer take Linux, and that is %s" % platform.system())
        self.top = self.lodging.top_of(tempfile.gettempdir())
        self.folder, self.lock, swept = self.lodging.begin(self.top, uuid.uuid4().hex[:8])
        shutil.move(self.guest, os.path.join(self.folder, "guest"))
        return {
            "folder": self.folder,
            "shown": os.path.join(self.top, self.lodging.SHOWN),
            "python": sys.executable,
            "prefixes": sorted({os.path.realpath(path) for path in (sys.prefix, sys.base_prefix)}),
            "version": platform.python_version(),
            "release": platform.release(),
            "platform": "%s/%s" % (sys.platform, platform.machine()),
            "cpus": len(os.sched_getaffinity(0)),
            "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "path": os.environ.get("PATH", os.defpath),
            "obstacle": self.lodging.obstacle_to_namespaces(os.path.join(self.folder, "guest")),
            "swept": swept,
        }

    def put(self, request: Json) -> Json:
        """Write a file of the run's folder; its bytes follow the request."""
        left = int(request["size"])
        failure = None
        with open(os.path.join(self.folder, os.path.basename(request["name"])), "wb", buffering=0) as stream:
            while left:
                piece = self.stdin.read(min(left, 1 << 18))
                if not piece:
                    raise EOFError
                left -= len(piece)
                try:
                    while piece and failure is None:
                        piece = piece[stream.write(piece) :]
                except OSError as error:
                    failure = error  # the rest has to be read all the same, or it would be taken for requests
        if failure is not None:
            raise failure
        return {}

    def environment(self, request: Json) -> Json:
        """Find or make the virtual environment for a set of packages, which its name says; gives its interpreter."""
        place = os.path.join(cache(), "environments", request["name"])
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with self.lodging.locked(place + ".lock"):
            made = not os.path.exists(os.path.join(place, "complete"))
            if made:
                self.lodging.remove(place)
                make_environment(place, request)
            with open(os.path.join(place, "complete"), "w", encoding="ascii"):
                pass  # its time is when it was used last
        few_environments(os.path.dirname(place), self.lodging)
        return {"python": os.path.join(place, "bin", "python"), "folder": place, "made": made}

    def survey(self, request: Json) -> Json:
        """Say what an interpreter of this computer has."""
        script = os.path.join(self.folder, "guest", "interpreter.py")
        command = [request["python"], "-B", script, *request["locales"], "--", *request["zones"]]
        done = subprocess.run(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, check=True, cwd="/")
        return dict(json.loads(done.stdout))

    def end(self) -> None:
        """Remove the run's folder, once no cell is in it any more: each of them sees the end of its own stdin."""
        if self.folder:
            fcntl.flock(self.lock, fcntl.LOCK_EX)
            self.lodging.end_marked(self.folder)
            self.lodging.remove(self.folder)


def make_environment(place: str, request: Json) -> None:
    """Make a virtual environment that holds exactly the packages that are asked for; raises with the installer's last words."""
    python = os.path.join(place, "bin", "python")
    run([sys.executable, "-m", "venv", place])
    wanted = {name.lower(): version for name, version in request["packages"].items()}
    pinned = ["%s==%s" % pair for pair in sorted(wanted.items())]
    install = [python, "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--no-deps", "--quiet"]
    run([*install, *pinned])
    listed = subprocess.run(
        [python, "-m", "pip", "list", "--format=json", "--disable-pip-version-check"], stdout=subprocess.PIPE, check=True
    )
    extra = [each["name"] for each in json.loads(listed.stdout) if normalised(each["name"]) not in wanted]
    if extra:
        run([python, "-m", "pip", "uninstall", "--yes", "--quiet", *sorted(extra, key="pip".__eq__)])
    asked = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = subprocess.run(asked, stdout=subprocess.PIPE, check=True).stdout.decode().strip()
    for name, version in request["own"].items():  # the project itself, whose modules are found in each cell's tree
        folder = os.path.join(packages, "%s-%s.dist-info" % (name.replace("-", "_"), version))
        os.makedirs(folder)
        with open(os.path.join(folder, "METADATA"), "w", encoding="utf-8") as stream:
            stream.write("Metadata-Version: 2.1\nName: %s\nVersion: %s\n" % (name, version))
        offered = request["entry_points"].get(name, "")
        if offered:
            with open(os.path.join(folder, "entry_points.txt"), "w", encoding="utf-8") as stream:
                stream.write(offered)
            make_commands(python, offered)


def make_commands(python: str, offered: str) -> None:
    """Make the commands that a distribution offers, beside the interpreter that is to run them."""
    parser = configparser.RawConfigParser(delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names of commands have capitals
    parser.read_string(offered)
    for section in ("console_scripts", "gui_scripts"):
        for name, value in parser.items(section) if parser.has_section(section) else ():
            module, _, function = value.partition("[")[0].strip().partition(":")
            path = os.path.join(os.path.dirname(python), os.path.basename(name))
            if function and not os.path.exists(path):
                with open(path, "w", encoding="utf-8") as stream:
                    stream.write(COMMAND % (python, module.strip(), function.split(".")[0].strip(), function.strip()))
                os.chmod(path, 0o700)


def normalised(name: str) -> str:
    """Write a distribution's name as PEP 503 does."""
    return name.lower().replace("_", "-").replace(".", "-")


def few_environments(folder: str, lodging: Any) -> None:
    """Remove the environments that were not used for longest."""
    used: List[Any] = []
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):
            used.append((os.stat(os.path.join(folder, name, "complete")).st_mtime, name))
    for _, name in sorted(used, reverse=True)[KEPT:]:
        with (
            contextlib.suppress(BlockingIOError),
            lodging.locked(os.path.join(folder, name + ".lock"), fcntl.LOCK_EX | fcntl.LOCK_NB),
        ):
            lodging.remove(os.path.join(folder, name))


def run(command: List[str]) -> None:
    """Run a command to its end; raises with its last words where it fails."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=INSTALL_SECONDS
    )
    if done.returncode:
        said = done.stdout.decode(errors="replace").strip().splitlines()[-SHOWN_LINES:]
        raise RuntimeError("`%s` failed: %s" % (" ".join(command[1:5]), "\n".join(said) or "exit status %d" % done.returncode))


def receive_guest(stdin: BinaryIO) -> str:
    """Take the guest's files, as a line of JSON that holds each by its name, into a temporary folder."""
    place = tempfile.mkdtemp(prefix="paritygate-")
    for name, text in json.loads(stdin.readline()).items():
        path = os.path.join(place, "guest", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
    return place


def answer(action: Callable[[Json], Json], request: Json) -> Json:
    """Do what is asked; what fails is said."""
    try:
        return action(request)
    except OSError as error:
        return {"error": (error.strerror or str(error)).lower(), "errno": error.errno or 0}
    except Exception as error:  # noqa: BLE001 - whatever it is, the gate is to hear of it
        return {"error": str(error) or type(error).__name__, "errno": errno.ENOSPC if is_full() else 0}


def is_full() -> bool:
    """Say whether a disk is full on which we write: programs that fail for that do not always say so."""
    with contextlib.suppress(OSError):
        return any(shutil.disk_usage(place).free < FULL for place in (tempfile.gettempdir(), cache()))
    return False


def keep() -> int:
    """Answer requests until stdin ends."""
    stdin = sys.stdin.buffer
    place = ""
    with contextlib.ExitStack() as stack:
        try:
            place = receive_guest(stdin)
            stack.callback(shutil.rmtree, place, ignore_errors=True)
            keeper = Keeper(stdin, os.path.join(place, "guest"))
            stack.callback(keeper.end)
            actions = {"begin": keeper.begin, "put": keeper.put, "environment": keeper.environment, "survey": keeper.survey}
            say({})
            for line in iter(stdin.readline, b""):
                request = json.loads(line)
                say(answer(actions[request["do"]], request))
        except OSError as error:
            say({"error": (error.strerror or str(error)).lower(), "errno": error.errno or 0})
        except EOFError:
            pass
    return 0


def say(answered: Json) -> None:
    """Write one answer, so that it is told from whatever a login writes."""
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.write(json.dumps({"paritygate": answered}) + "\n")
        sys.stdout.flush()


def cell(folder: str, number: str, state: str, company: str) -> int:
    """Make the folder of a cell, run the launcher in it on our own streams, and remove it; say the launcher's exit status."""
    lodging = lodging_in(os.path.join(folder, "guest"))
    place = os.path.join(folder, number)
    shown = os.path.join(os.path.dirname(folder), lodging.SHOWN)
    lock = os.open(os.path.join(folder, lodging.LOCK), os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_SH)
    packed = os.path.join(folder, state + ".tar")
    try:
        with open(os.path.join(folder, state + ".digest"), encoding="ascii") as stream:
            digest = stream.read()
        with lodging.furnished(place, shown, packed, digest, company):
            launcher = os.path.join(place, "guest", "launcher.py")
            command = [sys.executable, "-I", "-S", "-B", launcher]
            return subprocess.call(command, env={}, cwd="/", pass_fds=(lock,), start_new_session=True)
    except OSError as error:
        sys.stderr.write("paritygate: the folder of a cell cannot be made: %s\n" % (error.strerror or error))
        return 69


if __name__ == "__main__":
    sys.exit(keep() if sys.argv[1] == "keep" else cell(*sys.argv[2:]))
