"""Runs the launcher by itself, as its own process, on a small tree; without any engine and as whoever runs the tests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

import paritygate.guest
from paritygate.events.ending import Ending
from paritygate.events.listener import Listener
from paritygate.outcomes.cells import Cell, EnvironmentName
from paritygate.outcomes.plans import CellPlan, Environment, Limits, Order, Selection
from paritygate.outcomes.words import Outcome, Purpose, RunnerName, Worktree

NONCE = "5eed"
PATIENCE = 60
OnEvent = Callable[[dict[str, Any], subprocess.Popen[bytes]], None]


class Launched(msgspec.Struct, frozen=True):
    """What came of it: the cell, every event as it came, the launcher's exit status and the whole of stderr."""

    cell: Cell
    events: list[dict[str, Any]]
    status: int
    stderr: str

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """Say what each test did, by name."""
        return {run.nodeid.rpartition("::")[2]: run.outcome for run in self.cell.tests}

    def kinds(self, kind: str) -> list[dict[str, Any]]:
        """Pick the events of a kind."""
        return [event for event in self.events if event["e"] == kind]


class Guest:
    """A guest's files, a tree with tests, and a specification, all in a folder that may be thrown away."""

    def __init__(self, top: Path) -> None:
        source = Path(str(paritygate.guest.__path__[0]))
        self.files = Path(shutil.copytree(source, top / "guest", ignore=shutil.ignore_patterns("__pycache__")))
        self.tree = top / "tree"
        self.stacks = top / "stacks"
        self.home = top / "home"
        for folder in (self.tree, self.stacks, self.home):
            folder.mkdir()
        self.sentinel = top / "sentinel"
        self.environment = {"TZ": "UTC", "LC_ALL": "C.UTF-8", "HOME": str(self.home), "PATH": os.environ["PATH"]}
        self.limits: dict[str, float] = {"cell_seconds": PATIENCE, "test_seconds": 30, "idle_seconds": 30, "timeouts": 3}
        self.expect: dict[str, Any] = {}
        self.changes: dict[str, Any] = {}

    def write(self, name: str, text: str) -> None:
        """Put a file into the tree."""
        (self.tree / name).write_text(textwrap.dedent(text))

    def specification(self) -> dict[str, Any]:
        """Say what the launcher is told."""
        given = {
            "protocol": 1,
            "nonce": NONCE,
            "python": sys.executable,
            "workspace": str(self.tree),
            "directory": "",
            "user": None,
            "environment": self.environment,
            "expect": self.expect,
            "umask": 0o022,
            "workers": 0,
            "seed": 11,
            "order": {"seed": 3, "reversed": False, "exactly": None, "only": None},
            "pytest": {"paths": [], "keyword": "", "marker": "", "arguments": []},
            "limits": self.limits,
            "stack_directory": str(self.stacks),
            "heartbeat_seconds": 1,
        }
        return {**given, **self.changes}

    def run(self, on_event: OnEvent | None = None) -> Launched:
        """Run one cell to its end; `on_event` sees each event as it comes and may do something to the launcher."""
        errors = self.home.parent / "stderr"
        with errors.open("wb") as stderr, self.start(stderr.fileno()) as launcher:
            assert launcher.stdin is not None
            assert launcher.stdout is not None
            listener = Listener(a_plan(self.specification()), NONCE)
            events = []
            for line in launcher.stdout:
                listener.stdout(line)
                events.append(json.loads(line))
                if on_event is not None:
                    on_event(events[-1], launcher)
            status = launcher.wait(PATIENCE)
        listener.stderr(errors.read_bytes())
        cell = listener.cell(Ending(runner=RunnerName.HOST, exit_code=status))
        return Launched(cell, events, status, errors.read_text(errors="replace"))

    def start(self, stderr: int) -> subprocess.Popen[bytes]:
        """Start the launcher and give it its specification; stdin stays open."""
        command = [sys.executable, str(self.files / "launcher.py")]
        launcher = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr)
        assert launcher.stdin is not None
        launcher.stdin.write(json.dumps(self.specification()).encode() + b"\n")
        launcher.stdin.flush()
        return launcher


def a_plan(specification: Mapping[str, Any]) -> CellPlan:
    """Make the plan that such a specification would come from."""
    return CellPlan(
        environment=Environment(
            name=EnvironmentName("here"),
            timezone="UTC",
            locale="C.UTF-8",
            case_sensitive=None,
            workers=specification["workers"],
            worktree=Worktree.CLEAN,
        ),
        attempt=1,
        seed=specification["seed"],
        order=Order(seed=3),
        purpose=Purpose.GATE,
        selection=Selection(),
        limits=Limits(),
    )
