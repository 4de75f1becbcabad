"""Plays the launcher for the recorder's tests: starts a real pytest with the plugin and reads what it writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

PLUGIN_DIRECTORY = Path(__file__).parents[2] / "src" / "paritygate" / "guest" / "plugin"
BOOT = f"""\
import os, runpy, sys
if sys.path and sys.path[0] == "":
    sys.path[0] = os.getcwd()
sys.path.append({str(PLUGIN_DIRECTORY)!r})
import paritygate_recorder
runpy.run_module("pytest", run_name="__main__", alter_sys=True)
"""
NONCE = "5eed"
PASSED_ON = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL")

Event = dict[str, Any]
Test = tuple[str, int]


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """How to run pytest: what the launcher would take from its specification, and the interpreter.

    `given` are the user's own options, which come before what the launcher puts over them, `arguments` what comes last.
    """

    given: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    seed: int = 1
    order_seed: int = 7
    reversed: bool = False
    exactly: tuple[Test, ...] | None = None
    only: tuple[Test, ...] | None = None
    shares: Mapping[str, tuple[Test, ...]] | None = None
    workers: int = 0
    share: Mapping[str, Any] | None = None
    watched: tuple[str, ...] | None = None
    respect_pins: bool = False
    directory: str = ""
    variables: dict[str, str] = {}
    plugins: tuple[str, ...] = ("randomly", "xdist")
    python: str = sys.executable


class Recording(msgspec.Struct, frozen=True):
    """What came of it: events in the order of writing, pytest's exit status, and what it printed."""

    events: tuple[Event, ...]
    exit: int
    printed: str

    def of(self, kind: str) -> list[Event]:
        """Choose the events of a kind."""
        return [event for event in self.events if event["e"] == kind]

    def one(self, kind: str) -> Event:
        """Choose the only event of a kind."""
        (event,) = self.of(kind)
        return event

    @property
    def outcomes(self) -> dict[str, str]:
        """Outcomes by node id, of tests whose ids are their own."""
        outcomes = {event["nodeid"]: event["outcome"] for event in self.of("test")}
        assert len(outcomes) == len(self.of("test")), "a node id came twice"
        return outcomes

    @property
    def order(self) -> list[str]:
        """The node ids in the order in which they began."""
        return [event["nodeid"] for event in self.of("test-start")]

    def order_of(self, worker: str) -> list[str]:
        """List the node ids in the order in which they began on one worker."""
        return [event["nodeid"] for event in self.of("test-start") if event["worker"] == worker]

    def test(self, nodeid: str) -> Event:
        """Find the outcome of one test."""
        (event,) = [event for event in self.of("test") if event["nodeid"] == nodeid]
        return event


def plant(tree: Path, files: Mapping[str, str]) -> Path:
    """Write files into a tree, dedented, and say where it is."""
    for name, text in files.items():
        file = tree / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")
    return tree


def record(tree: Path, asked: Asked | None = None) -> Recording:
    """Run pytest in a tree as the launcher does, and say what the recorder wrote."""
    asked = asked or Asked()
    with tempfile.TemporaryDirectory() as stacks, tempfile.TemporaryFile() as configuration:
        configuration.write(settings(tree, asked, stacks))
        configuration.seek(0)
        reading, writing = os.pipe()
        process = subprocess.Popen(
            [asked.python, "-B", "-c", BOOT, *arguments(tree, asked)],
            cwd=tree / asked.directory,
            env=environment(asked, f"{configuration.fileno()},{writing}"),
            pass_fds=(configuration.fileno(), writing),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        os.close(writing)
        chunks: list[bytes] = []
        reader = threading.Thread(target=drain, args=(reading, chunks))
        reader.start()
        printed, _ = process.communicate(timeout=120)
        reader.join(timeout=60)
        assert not reader.is_alive(), "something still holds the recorder's pipe"
        os.close(reading)
    lines = b"".join(chunks).splitlines()
    return Recording(tuple(json.loads(line) for line in lines), process.returncode, printed.decode(errors="replace"))


def settings(tree: Path, asked: Asked, stacks: str) -> bytes:
    """Write the configuration that the recorder reads."""
    order: dict[str, object] = {
        "seed": asked.order_seed,
        "reversed": asked.reversed,
        "exactly": asked.exactly,
        "only": asked.only,
    }
    order["shares"] = asked.shares
    return json.dumps(
        {
            "nonce": NONCE,
            "seed": asked.seed,
            "order": order,
            "workers": asked.workers,
            "share": asked.share,
            "watched": asked.watched,
            "respect_pins": asked.respect_pins,
            "arguments": asked.given,
            "stack_directory": stacks,
            "root": str(tree),
            "rootdir": str(tree / asked.directory),
        }
    ).encode()


def arguments(tree: Path, asked: Asked) -> list[str]:
    """Say pytest's arguments as the launcher does; they come after the project's own."""
    fixed = ["-p", "paritygate_recorder", *asked.given]
    if "randomly" in asked.plugins:
        fixed += ["-p", "randomly", f"--randomly-seed={asked.seed}", "--randomly-dont-reorganize"]
    if "xdist" in asked.plugins:
        fixed += ["-p", "xdist", "-n", str(asked.workers)]
    if "pytest_cov" in asked.plugins:
        fixed += ["-p", "pytest_cov", "--no-cov"]
    fixed += [f"--rootdir={tree / asked.directory}", "--maxfail=0", "--continue-on-collection-errors", "--color=no"]
    return [*fixed, *asked.arguments]


def environment(asked: Asked, descriptors: str) -> Mapping[str, str]:
    """Make the environment: little of ours, since the tests here run under pytest and xdist themselves."""
    ours = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    return {**ours, "PYTHONHASHSEED": str(asked.seed), "PARITYGATE_RECORDER": descriptors, **asked.variables}


def drain(descriptor: int, chunks: list[bytes]) -> None:
    """Read to the end."""
    while chunk := os.read(descriptor, 1 << 16):
        chunks.append(chunk)
