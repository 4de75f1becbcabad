"""Runs cells on another computer over ssh: the same launcher, the same events, over the pipe of a remote command.

Where the line ends, the launcher's stdin does: the cell is ended there, whatever has become of us.
"""

from __future__ import annotations

from functools import partial

import msgspec

from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import RunnerName
from paritygate.runners.connections import LOST
from paritygate.runners.conversation import End, Patience, Running, Visit
from paritygate.runners.host import Interpreter
from paritygate.runners.processes import Process, ProcessEnd
from paritygate.runners.protocol import Watch
from paritygate.runners.specification import specification
from paritygate.runners.stays import Stay


class SshRunner:
    """Runs cells on another computer, in one house after the other; safe to use from several threads."""

    def __init__(self, stay: Stay, interpreter: Interpreter, patience: Patience | None = None) -> None:
        self.running = Running()
        self._stay = stay
        self._interpreter = interpreter
        self._patience = patience or Patience()

    def run(self, plan: CellPlan, watch: Watch) -> Cell:
        """Run one cell to its end; a connection that is lost makes a dead cell, not an error."""
        visit = Visit(plan, watch, self._patience, self.running)
        cell = visit.cell(RunnerName.SSH, partial(self._converse, plan, visit))
        visit.tell_end(cell)
        return cell

    def stop(self) -> None:
        """End every cell that is running, and let none begin."""
        self.running.stop()

    def _converse(self, plan: CellPlan, visit: Visit) -> End | None:
        berth, command = self._stay.berth(plan)
        place = berth.place(self._interpreter, plan)
        # There is no daemon there; an ordinary disk tells case apart by itself, which the probe looks at.
        bare = msgspec.structs.replace(plan, filesystem=None)
        with Process(command, variables=self._stay.variables) as process, self.running.registered(process):
            if self.running.stopped:
                return None
            end = visit.hold(process, process, specification(bare, place, visit.nonce))
            if end is not None and end.exit_code == LOST:
                return ProcessEnd(exit_code=None, detail=f"ssh to `{self._stay.target}` ended")
            return end
