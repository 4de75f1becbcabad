"""The folder in which the cells of one run live on this computer.

What it is made of, and how what dead runs have left is known, is in `guest/lodging.py`, which other computers have as well.
"""

from __future__ import annotations

import itertools
import os
import tarfile
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from paritygate.errors import RunnerError
from paritygate.guest import lodging
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import Worktree
from paritygate.runners.host import Berth


class Quarters:
    """One run's folder. Leaving the context removes it with all that is in it."""

    def __init__(self, temporary: str, guest: Mapping[str, bytes]) -> None:
        with _errors(temporary):
            self.top = lodging.top_of(temporary)
            folder, self.lock, swept = lodging.begin(self.top, uuid.uuid4().hex[:8])
            self.folder, self.swept = Path(folder), tuple(swept)
            for name, content in guest.items():
                path = self.folder / "guest" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        self.obstacle = lodging.obstacle_to_namespaces(str(self.folder / "guest"))
        self._digests: dict[Worktree, str] = {}
        self._numbers = itertools.count(1)

    def __enter__(self) -> Self:
        """Give itself."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Remove the folder."""
        lodging.remove(str(self.folder))
        os.close(self.lock)

    def have_daemon(self, program: Path) -> None:
        """Let cells have the daemon that serves filesystems."""
        with _errors(self.top):
            (self.folder / "casefs").write_bytes(program.read_bytes())
            (self.folder / "casefs").chmod(0o700)

    def keep(self, state: Worktree, digest: str, packed: Iterable[bytes]) -> None:
        """Keep a tree, as it is packed, for the cells that are to have it."""
        with _errors(self.top), self._packed(state).open("wb") as stream:
            for piece in packed:
                stream.write(piece)
        self._digests[state] = digest

    @contextmanager
    def empty(self, state: Worktree) -> Iterator[None]:
        """Have an empty tree for cells that test nothing, while the context lasts."""
        with tarfile.open(self._packed(state), "w"):
            self._digests[state] = ""
        try:
            yield
        finally:
            del self._digests[state]
            self._packed(state).unlink()

    @contextmanager
    def berth(self, plan: CellPlan) -> Iterator[Berth]:
        """Make the folder of a cell, with a fresh copy of its tree; raises `RunnerError` where it cannot be."""
        state = plan.environment.worktree
        folder = self.folder / f"{next(self._numbers):04}"
        shown = Path(self.top, lodging.SHOWN)
        digest = self._digests[state]
        company = lodging.company_of(self.obstacle, plan.network)
        made = lodging.furnished(str(folder), str(shown), str(self._packed(state)), digest, company)
        with _errors(self.top):
            made.__enter__()
        try:
            yield Berth(folder, shown, digest, self.lock, company)
        finally:
            made.__exit__(None, None, None)

    def _packed(self, state: Worktree) -> Path:
        return self.folder / f"{state}.tar"


@contextmanager
def _errors(where: str) -> Iterator[None]:
    """Say what became of a folder that cannot be what it has to be."""
    try:
        yield
    except lodging.LodgingError as error:
        raise RunnerError(str(error), "remove it, or set `TMPDIR` to another folder") from error
    except OSError as error:
        said = (error.strerror or str(error)).lower()
        hint = "free space there, or set `TMPDIR` to a folder that has some"
        raise RunnerError(f"the folder of a cell cannot be made in `{where}`: {said}", hint) from error
