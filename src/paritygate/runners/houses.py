"""What a run has on another computer: a folder, its trees, a virtual environment, all kept by `guest/keeper.py` there.

The keeper's stdin is what holds the house: where it ends, however it does, the folder goes.
"""

from __future__ import annotations

import errno
import itertools
import json
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import msgspec

from paritygate.errors import RunnerError
from paritygate.guest import lodging
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import Worktree
from paritygate.runners.connections import LOST, Connection, failure
from paritygate.runners.host import Berth
from paritygate.runners.processes import Process

BOOT = "import sys; exec(sys.stdin.buffer.read(int(sys.stdin.buffer.readline())))"
NO_PYTHON = 69
ANSWER = b'{"paritygate": '


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What there is on the other computer; `obstacle` says why its cells cannot have mounts of their own, empty if they can."""

    folder: str
    shown: str
    python: str
    prefixes: tuple[str, ...]
    version: str
    release: str
    platform: str
    cpus: int
    memory: int
    path: str
    obstacle: str
    swept: tuple[str, ...] = ()


class House:
    """A run's house. Leaving the context leaves nothing there but environments for the next run."""

    def __init__(self, connection: Connection, guest: Mapping[str, bytes], version: str) -> None:
        self.connection = connection
        self._process = Process(connection.command(boot(version)), variables=connection.variables)
        self._guard = threading.Lock()
        self._numbers = itertools.count(1)
        self._digests: dict[Worktree, str] = {}
        self._lines = self._answers()
        self._errors = b""
        self._guest = guest

    def __enter__(self) -> Self:
        """Move in; raises `RunnerError` where that cannot be."""
        try:
            keeper = self._guest["keeper.py"]
            files = {name: content.decode() for name, content in self._guest.items()}
            self._process.write(b"%d\n%s%s\n" % (len(keeper), keeper, msgspec.json.encode(files)))
            self._answer("taken")
            self.found = msgspec.convert(self.ask({"do": "begin"}), Found)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        """Move out."""
        self._process.close()
        self._process.wait(20.0)
        self._process.__exit__(None, None, None)

    def stands(self) -> bool:
        """Say whether it is still there, and the connection to it."""
        return self._process.wait(0) is None and self.connection.is_open()

    def ask(self, request: Mapping[str, Any], payload: Iterable[bytes] = ()) -> dict[str, Any]:
        """Ask the keeper for something, and say what it answers; raises `RunnerError` where it cannot."""
        with self._guard:
            try:
                self._process.write(msgspec.json.encode(request) + b"\n")
                for piece in payload:
                    self._process.write(piece)
            except RunnerError as error:
                raise self._gone() from error
            return self._answer(str(request["do"]))

    def keep(self, state: Worktree, digest: str, packed: Path) -> None:
        """Have a packed tree there."""
        for name, size, content in (
            (f"{state}.tar", packed.stat().st_size, _pieces(packed)),
            (f"{state}.digest", len(digest), iter((digest.encode(),))),
        ):
            self.ask({"do": "put", "name": name, "size": size}, content)
        self._digests[state] = digest

    def berth(self, plan: CellPlan) -> tuple[Berth, tuple[str, ...]]:
        """Say where a new cell will be, and the command that runs its launcher there."""
        number = f"{next(self._numbers):04}"
        found = self.found
        state = plan.environment.worktree
        company = lodging.company_of(found.obstacle, plan.network)
        berth = Berth(Path(found.folder, number), Path(found.shown), self._digests[state], -1, company)
        words = (found.python, "-I", "-B", f"{found.folder}/guest/keeper.py", "cell", found.folder, number, state.value)
        return berth, self.connection.command("exec", *map(_quoted, words), company)

    def _answer(self, what: str) -> dict[str, Any]:
        line = next(self._lines, None)
        if line is None:
            raise self._gone()
        answered: dict[str, Any] = json.loads(line)["paritygate"]
        if "error" in answered:
            hint = "free space there" if answered.get("errno") in {errno.ENOSPC, errno.EDQUOT} else ""
            raise RunnerError(f"`{self.connection.target}` could not do `{what}`: {answered['error']}", hint)
        return answered

    def _answers(self) -> Iterator[bytes]:
        """Yield the keeper's lines; whatever else a login there writes is none."""
        partial = b""
        for stream, data in self._process.frames():
            if stream != 1:
                self._errors = (self._errors + data)[-4096:]
                continue
            *lines, partial = (partial + data).split(b"\n")
            yield from (line for line in lines if line.startswith(ANSWER))

    def _gone(self) -> RunnerError:
        """Say why no answer came."""
        end = self._process.wait(5.0)
        said = self._errors.decode(errors="replace")
        target = self.connection.target
        if end is not None and end.exit_code == NO_PYTHON:
            return RunnerError(
                f"`{target}` has no Python 3.8 or later", "install it there: `python3`, with `venv` and `ensurepip`"
            )
        if end is not None and end.exit_code == LOST:
            return failure(target, said)
        last = said.strip().splitlines()[-1:] or ["it ended without a word"]
        return RunnerError(f"`{target}` does not keep cells: {last[0]}")


def boot(version: str) -> str:
    """Write the shell's words that start the keeper with the interpreter nearest to a version such as `3.12`."""
    good = '"$p" -I -c "import sys; sys.exit(sys.version_info < (3, 8))" 2>/dev/null'
    start = f'exec "$p" -I -B -c "{BOOT}" keep'
    return f"for p in python{version} python3 python; do if {good}; then {start}; fi; done; exit {NO_PYTHON}"


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while piece := stream.read(1 << 18):
            yield piece


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"
