"""A line for a POSIX shell that runs a test of a cell without containers by plain pytest, and what that is less than the cell."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import RunnerName, Worktree

SEEDS = 1 << 32
UMASK = 0o022


def line(plan: CellPlan, test: Sequence[str], project: Path) -> str:
    """Write the line: in the project's folder, with the variables that make the cell's zone, locale and hashes."""
    environment = plan.environment
    variables = {
        "TZ": environment.timezone,
        "LANG": environment.locale,
        "LC_ALL": environment.locale,
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": str((plan.seed if plan.hash_seed is None else plan.hash_seed) % SEEDS),
        **({"PYTHONPATH": "src"} if (project / "src").is_dir() else {}),
        **environment.variables,
    }
    words = (word for word in test if not word.startswith("--rootdir="))
    run = shlex.join(("env", *(f"{name}={value}" for name, value in variables.items()), *words))
    mask = f"umask {environment.umask:03o} && " if environment.umask != UMASK else ""
    return f"cd {shlex.quote(str(project))} && {mask}{run}"


def lacking(plan: CellPlan, cell: Cell) -> Iterator[str]:
    """Say in what the line is less than the cell."""
    if cell.runner is RunnerName.SSH:
        yield "the cell ran on another computer, over ssh: what that is like the line does not have, unless you run it there"
    yield "it runs with whatever `python` is found first, in the working tree itself, with your variables and your home"
    if plan.environment.worktree is Worktree.CLEAN:
        yield "the cell had the clean tree: what git does not track was not there"
    if plan.filesystem is not None and plan.filesystem.fold:
        yield "the cell's filesystem ignored case, and yours may not"
