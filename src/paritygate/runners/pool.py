"""Run several cells side by side, as far as the processors allow.

It does not know what a cell is for, and never gives up one cell because another died.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from paritygate.environments import weight
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import CellPlan, Progress
from paritygate.runners.protocol import Runner, Watch


def run_side_by_side(plans: Sequence[CellPlan], runner: Runner, processors: int, watch: Watch) -> tuple[Cell, ...]:
    """Run every plan and return the cells in the order of the plans.

    A cell starts as soon as it fits beside those that run; one that is heavier than the whole machine runs alone. Plans are
    started in their order except that a lighter one may overtake. When the caller is interrupted every cell is stopped first.
    """
    waiting = list(enumerate(plans))
    running: dict[Future[Cell], tuple[int, int]] = {}
    cells: dict[int, Cell] = {}
    guard = threading.Lock()

    def watch_one_at_a_time(progress: Progress) -> None:
        with guard:
            watch(progress)

    with ThreadPoolExecutor(max_workers=max(1, processors), thread_name_prefix="cell") as pool:
        try:
            while waiting or running:
                for index, plan in _fitting(waiting, sum(load for _, load in running.values()), processors):
                    waiting.remove((index, plan))
                    running[pool.submit(runner.run, plan, watch_one_at_a_time)] = (index, weight(plan))
                finished, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
                for future in finished:
                    index, _ = running.pop(future)
                    cells[index] = future.result()
        except BaseException:
            runner.stop()
            raise
    return tuple(cells[index] for index in range(len(plans)))


def _fitting(waiting: Sequence[tuple[int, CellPlan]], load: int, processors: int) -> list[tuple[int, CellPlan]]:
    """Choose what can start now."""
    chosen = []
    for index, plan in waiting:
        fits = load + weight(plan) <= processors
        if fits or load == 0:
            chosen.append((index, plan))
            load += weight(plan)
    return chosen
