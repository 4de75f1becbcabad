"""What is asked of a reproduction, what it needs of its process, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec

from paritygate.docker_engine.connect import nobody_named
from paritygate.docker_engine.verbs import Engine
from paritygate.outcomes.artifact import Artifact, Material
from paritygate.outcomes.words import ExitCode
from paritygate.runners.pool import Pool
from paritygate.runners.protocol import Watch


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """A test of a report: `number`, from 1, is which of several that have its id, 0 for the first that diverges.

    `cell` is the name of the cell, empty for the one that shows the problem best; `alone` leaves out all that ran before the
    test. `variables` are values that the report withholds. `project` is the checkout, for cells that ran without an engine.
    """

    report: Path
    project: Path
    nodeid: str
    number: int = 0
    cell: str = ""
    alone: bool = False
    variables: Mapping[str, str] = {}


class World(msgspec.Struct, frozen=True, kw_only=True):
    """What a reproduction needs of the process it runs in. `say` takes one line of progress, `watch` where the cell stands.

    `connect` finds the engine, `connect_to` the one that a cell ran on where its run had several.
    `runner_of` gives what runs the cells of a report that ran without an engine.
    """

    connect: Callable[[], Engine]
    runner_of: Callable[[Artifact, Material], AbstractContextManager[Pool]]
    say: Callable[[str], None]
    watch: Watch
    connect_to: Callable[[str], Engine] = nobody_named


class Answer(msgspec.Struct, frozen=True):
    """What to say, its one line that decides, and the exit code.

    That is 0 where the test does what it did, 1 where it no longer does, 4 where nobody knows.
    """

    text: str
    said: str
    exit_code: ExitCode
