"""What the gate is asked, what it needs of its process, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from paritygate.config.file import Overrides
from paritygate.docker_engine.connect import nobody_named
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import UnrecordedError
from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.plans import CellPlan
from paritygate.runners.protocol import Watch


def _expect_nothing(_seconds: Mapping[str, float]) -> None:
    """Leave the last time's seconds to whoever shows progress."""


def _announce_nothing(_plans: Sequence[CellPlan], _why: str) -> None:
    """Leave the cells that are about to run to whoever shows progress."""


class World(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate needs of the process it runs in.

    `say` takes one line of progress, `step` one about a step that begins, and nothing at its end, where somebody tells the two
    apart. `announce` takes the cells that are about to run, and why they do, which is empty for the first ones; `watch` takes
    where each cell stands, `expect` how many seconds each cell took the last time.
    `connect` finds the engine that nobody had to name, `connect_to` one by its context or address.
    """

    connect: Callable[[], Engine]
    variables: Mapping[str, str]
    version: str
    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    sleep: Callable[[float], None]
    say: Callable[[str], None]
    watch: Watch
    expect: Callable[[Mapping[str, float]], None] = _expect_nothing
    announce: Callable[[Sequence[CellPlan], str], None] = _announce_nothing
    step: Callable[[str], None] | None = None
    connect_to: Callable[[str], Engine] = nobody_named

    def begin(self, line: str) -> None:
        """Say that a step begins, which may take long."""
        (self.say if self.step is None else self.step)(line)

    def end_step(self) -> None:
        """Say that the step is over."""
        if self.step is not None:
            self.step("")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be gated: an absolute project folder, and what the command line says over the configuration.

    `explain_budget` is for how many seconds causes are looked for: 0 for not at all, None for what `Budget` takes.
    `ledger_from` is the branch from whose merge base freezes are read; empty for the working tree's own. `changed` is the one
    from whose merge base a patch is told: empty for the default branch, None where a diff chooses nothing.
    With `respect_pins` what a suite pins goes over the axes of its cells.
    """

    project: Path
    overrides: Overrides = Overrides()
    keyword: str = ""
    marker: str = ""
    arguments: tuple[str, ...] = ()
    explain_budget: float | None = None
    ledger_from: str = ""
    respect_pins: bool = False
    changed: str | None = None


class Report(msgspec.Struct, frozen=True):
    """An artifact and where it was written; `unrecorded` says why it could not be."""

    artifact: Artifact
    path: Path
    unrecorded: UnrecordedError | None = None


class Stopwatch:
    """Takes the seconds of each step by name."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self.seconds: dict[str, float] = {}
        self._monotonic = monotonic
        self._began = self._last = monotonic()

    def lap(self, step: str) -> None:
        """Say that a step is over."""
        now = self._monotonic()
        self.seconds[step] = round(now - self._last, 3)
        self.seconds["total"] = round(now - self._began, 3)
        self._last = now
