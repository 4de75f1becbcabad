"""What every command shares of the process that it runs in: the user's streams, folder, engine, and how errors are said."""

from __future__ import annotations

import importlib.metadata
import os
import time
from datetime import UTC, datetime
from pathlib import Path

import click
from rich.console import Console

from paritygate.docker_engine.connect import connect
from paritygate.docker_engine.endpoints import EndpointSearch, inside_container
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import ParityError, UsageError
from paritygate.gate.request import World
from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.words import ExitCode
from paritygate.reports.live import Live

PLAIN_WIDTH = 160
READY_SECONDS = 30.0
MARKS = "✓✗–…━"  # noqa: RUF001 - a dash is meant


class Streams:
    """Where answers (stdout) and everything else (stderr) go."""

    def __init__(self) -> None:
        plain = "NO_COLOR" in os.environ
        self.answers = Console(no_color=plain, highlight=False, soft_wrap=True)
        self.progress = Console(stderr=True, no_color=plain, highlight=False, soft_wrap=True)
        self.width = self.answers.width if self.answers.is_terminal else PLAIN_WIDTH
        self.colour = self.answers.is_terminal and not self.answers.is_dumb_terminal and not plain
        self.unicode = can_say(MARKS, self.answers.encoding)

    def say(self, line: str) -> None:
        """Say one line of progress."""
        self.progress.print(line, markup=False)


def can_say(text: str, encoding: str) -> bool:
    """Say whether a stream can hold a text."""
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def version() -> str:
    """Say which version of the program this is."""
    return importlib.metadata.version("paritygate")


def engine_at(host: str, named: str = "") -> Engine:
    """Find the engine at `host`, or else the `named` one, or the usual one, waiting for one that is started beside a CI job."""
    waiting = READY_SECONDS if "CI" in os.environ else 0.0
    search = EndpointSearch(
        environment=dict(os.environ),
        home=Path.home(),
        host=host,
        engine="" if host else named,
        ready_seconds=waiting,
        contained=inside_container(),
    )
    return connect(search)


def absolute(path: str) -> Path:
    """Say where a path leads that is relative to where the user is."""
    try:
        return Path.cwd() / path
    except FileNotFoundError as error:
        raise UsageError("the folder from which this was started is gone", "change to one that exists") from error


def nearest(path: Path) -> str:
    """Say where a file is, from where the user is if it lies below."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (ValueError, FileNotFoundError):
        return str(path)


def place_of(report: str) -> Path:
    """Say where `--report` leads; a folder is no place for it."""
    if not report or report.endswith((os.sep, "/")):
        raise UsageError(f"`--report` expects the path of a file, not `{report}`", "such as `--report parity_report.json`")
    return absolute(report)


def world(host: str, live: Live) -> World:
    """Gather what the gate needs of the process it runs in."""
    return World(
        connect=lambda: engine_at(host),
        variables=dict(os.environ),
        version=version(),
        now=lambda: datetime.now(UTC),
        monotonic=time.monotonic,
        sleep=time.sleep,
        say=live.say,
        watch=live.watch,
        expect=live.expect,
        announce=live.announce,
        step=live.step,
        connect_to=lambda named: engine_at(host, named),
    )


def say_error(error: ParityError) -> None:
    """Turn an error of ours into text."""
    click.echo(f"paritygate: {error.message}", err=True)
    if error.hint:
        click.echo(f"hint: {error.hint}", err=True)


def code_of(artifact: Artifact, unrecorded: ParityError | None) -> int:
    """Say the exit code of a verdict: at least 4 where it is on no record, for who looks there finds none, or an old one."""
    if unrecorded is None:
        return artifact.verdict.exit_code
    say_error(unrecorded)
    return max(artifact.verdict.exit_code, ExitCode.NO_VERDICT)
