"""A run's stay on another computer: its house there, and another one where the connection to that is lost.

What a house was given is kept here for the next one, in the folder of the first connection.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

from paritygate.errors import ConnectionLostError, NoVerdictError
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import Worktree
from paritygate.runners.connections import Connection
from paritygate.runners.host import Berth
from paritygate.runners.houses import Found, House


class Stay:
    """Safe to use from several threads. Leaving the context leaves nothing there but environments for the next run."""

    def __init__(self, target: str, variables: Mapping[str, str], guest: Mapping[str, bytes], version: str) -> None:
        self.target = target
        self.variables = dict(variables)
        self.say: Callable[[str], None] = lambda _line: None
        self._given = guest, version
        self._stack = ExitStack()
        self._guard = threading.Lock()
        self._kept: dict[Worktree, tuple[str, Path]] = {}
        self._failure: NoVerdictError | None = None

    def __enter__(self) -> Self:
        """Connect and move in; raises `RunnerError` where that cannot be."""
        self._house = self._stack.enter_context(self._another())
        return self

    def __exit__(self, *_error: object) -> None:
        """Move out of every house, and end every connection."""
        self._stack.close()

    @property
    def found(self) -> Found:
        """Say what there is on the other computer."""
        return self._house.found

    @property
    def swept(self) -> tuple[str, ...]:
        """List what runs that were killed have left on this computer, which has been removed."""
        return self._house.connection.swept

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Ask the keeper for something; raises `RunnerError` where it cannot."""
        return self._house.ask(request)

    def keep(self, state: Worktree, digest: str, packed: Iterable[bytes]) -> None:
        """Have a packed tree there, and one here for another house."""
        place = self._house.connection.folder / f"{state}.tar"
        with place.open("wb") as stream:
            stream.writelines(packed)
        self._kept[state] = digest, place
        self._house.keep(state, digest, place)

    def berth(self, plan: CellPlan) -> tuple[Berth, tuple[str, ...]]:
        """Say where a new cell will be, and the command for its launcher; raises `ConnectionLostError` where none can be."""
        with self._guard:
            if not self._house.stands():
                self._move()
            return self._house.berth(plan)

    def _move(self) -> None:
        """Connect anew, and have all there once more. What cannot be done once is not tried again for every cell to come."""
        if self._failure is None:
            self.say(f"the connection to `{self.target}` was lost; it is made anew")
            try:
                self._house = self._stack.enter_context(self._another())
                for state, (digest, place) in self._kept.items():
                    self._house.keep(state, digest, place)
            except NoVerdictError as error:
                self._failure = error
        if self._failure is not None:
            what = f"the connection to `{self.target}` was lost, and no other comes about: {self._failure.message}"
            raise ConnectionLostError(what, self._failure.hint) from self._failure

    @contextmanager
    def _another(self) -> Iterator[House]:
        with Connection(self.target, self.variables) as connection, House(connection, *self._given) as house:
            yield house
