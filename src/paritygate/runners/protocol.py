"""What every runner can do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import CellPlan, Progress

Watch = Callable[[Progress], None]


class Runner(Protocol):
    """A place where cells run."""

    def run(self, plan: CellPlan, watch: Watch) -> Cell:
        """Run one cell to its end and say all that is known about it; a dead cell is a value, not an error."""

    def stop(self) -> None:
        """End every cell that is running, from any thread; `run` then returns soon."""
