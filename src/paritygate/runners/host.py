"""Runs cells as processes of this computer: each in a folder of its own, with the same launcher as in a container.

It separates files, variables, time zone, locale and processes. Not separated are packages, the user, and the network.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import msgspec

from paritygate.guest import lodging
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import RunnerName
from paritygate.runners.conversation import End, Patience, Running, Visit
from paritygate.runners.processes import Process
from paritygate.runners.protocol import Watch
from paritygate.runners.specification import Apart, Place, specification


class Interpreter(msgspec.Struct, frozen=True, kw_only=True):
    """The interpreter that runs tests, and what it takes to have it find the project in a cell's tree.

    `roots` are folders of the tree, `""` for its top, that are searched for modules; `variables` are set besides.
    `kept` are folders that it takes, wherever they lie.
    """

    python: str
    path: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    variables: dict[str, str] = {}


class Berth(msgspec.Struct, frozen=True):
    """The folder of one cell: `guest/` and `sentinel` are in it, `fs/` with all that tests may write, and `stacks/`.

    Tests see `fs/` at `shown`, which is the same in all cells: ids and messages may hold paths. `company` says how far the cell
    is from others (`guest/lodging.py`); where it is together with them, its files lie at `shown` themselves.
    `sentinel` is the digest of its tree; `lock` a descriptor that says, as long as anybody has it, that the folder is in use.
    """

    folder: Path
    shown: Path
    sentinel: str
    lock: int
    company: str

    @property
    def launcher(self) -> str:
        """Say where the launcher is; a link leads there, and it looks for what lies beside that."""
        return str(self.folder / "guest" / "launcher.py")

    def place(self, interpreter: Interpreter, plan: CellPlan) -> Place:
        """Say to the launcher where everything is."""
        files = self.shown
        theirs = plan.environment.variables.get("PYTHONPATH", "")
        apart = Apart(
            folder=str(self.folder / "fs"),
            place=str(files),
            network=plan.network,
            shared_memory=plan.limits.shared_memory,
            kept=(*interpreter.kept, str(files.parent)),
        )
        searched = [str(files / "workspace" / root) for root in interpreter.roots] + [theirs] * bool(theirs)
        return Place(
            python=interpreter.python,
            launcher=self.launcher,
            workspace=str(files / "workspace"),
            temporary=str(files / "tmp"),
            stack_directory=str(self.folder / "stacks"),
            path=interpreter.path,
            user=None,
            home=str(files / "home"),
            apart=None if self.company == lodging.TOGETHER else apart,
            variables=interpreter.variables
            | {lodging.MARK: str(self.folder)}
            | ({"PYTHONPATH": os.pathsep.join(searched)} if searched else {}),
            sentinel=self.sentinel,
        )


BerthOf = Callable[[CellPlan], AbstractContextManager[Berth]]


class HostRunner:
    """Runs cells on this computer; safe to use from several threads."""

    def __init__(self, berth_of: BerthOf, interpreter: Interpreter, patience: Patience | None = None) -> None:
        self.running = Running()
        self._berth_of = berth_of
        self._interpreter = interpreter
        self._patience = patience or Patience()

    def run(self, plan: CellPlan, watch: Watch) -> Cell:
        """Run one cell to its end; a folder that cannot be made makes a dead cell, not an error."""
        visit = Visit(plan, watch, self._patience, self.running)
        cell = visit.cell(RunnerName.HOST, partial(self._converse, plan, visit))
        visit.tell_end(cell)
        return cell

    def stop(self) -> None:
        """End every cell that is running, and let none begin."""
        self.running.stop()

    def _converse(self, plan: CellPlan, visit: Visit) -> End | None:
        with self._berth_of(plan) as berth:
            place = berth.place(self._interpreter, plan)
            command = (sys.executable, "-I", "-S", "-B", place.launcher)
            with Process(command, keep=(berth.lock,), variables={}) as process, self.running.registered(process):
                if self.running.stopped:
                    return None
                if plan.environment.cpus:
                    process.limit_processors(int(plan.environment.cpus))
                return visit.hold(process, process, specification(plan, place, visit.nonce))
