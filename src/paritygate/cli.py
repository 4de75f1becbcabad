"""The command line: argv, environment, streams and exit codes.

Nothing else prints, reads `os.environ` or turns an error into text.
"""

from __future__ import annotations

import importlib.metadata
import logging
import os
import re
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console

from paritygate import archive, doctor, engine_setup, places, process, project_images
from paritygate.axes import near_miss
from paritygate.config.file import Overrides
from paritygate.docker_engine.connect import connect
from paritygate.docker_engine.endpoints import EndpointSearch, inside_container
from paritygate.docker_engine.requests import ImageRecord
from paritygate.docker_engine.verbs import Engine
from paritygate.errors import NoVerdictError, ParityError, UsageError
from paritygate.freeze_commands import freezes
from paritygate.gate import flow
from paritygate.gate.request import Request, World
from paritygate.images import keeping
from paritygate.lock_commands import lock
from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.words import ExitCode
from paritygate.reports import terminal
from paritygate.reports.live import Live

PLAIN_WIDTH = 160
READY_SECONDS = 30.0


class Streams:
    """Where answers (stdout) and everything else (stderr) go."""

    def __init__(self) -> None:
        plain = "NO_COLOR" in os.environ
        self.answers = Console(no_color=plain, highlight=False, soft_wrap=True)
        self.progress = Console(stderr=True, no_color=plain, highlight=False, soft_wrap=True)
        self.width = self.answers.width if self.answers.is_terminal else PLAIN_WIDTH
        self.colour = self.answers.is_terminal and not plain

    def answer(self, artifact: Artifact) -> None:
        """Show an artifact."""
        click.echo(terminal.render(artifact, self.width, colour=self.colour))

    def say(self, line: str) -> None:
        """Say one line of progress."""
        self.progress.print(line, markup=False)


def version() -> str:
    """Say which version of the program this is."""
    return importlib.metadata.version("paritygate")


def engine_at(host: str) -> Engine:
    """Find the engine, waiting for one that is started beside a CI job."""
    waiting = READY_SECONDS if "CI" in os.environ else 0.0
    search = EndpointSearch(
        environment=dict(os.environ), home=Path.home(), host=host, ready_seconds=waiting, contained=inside_container()
    )
    return connect(search)


def absolute(path: str) -> Path:
    """Say where a path leads that is relative to where the user is."""
    try:
        return Path.cwd() / path
    except FileNotFoundError as error:
        raise UsageError("the folder from which this was started is gone", "change to one that exists") from error


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
    )


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What `paritygate run` was told; the declarations of the command say what each is."""

    selection: tuple[str, ...]
    keyword: str
    marker: str
    arguments: tuple[str, ...]
    project: str
    environments: tuple[str, ...]
    without_axes: tuple[str, ...]
    attempts: int | None
    seeds: tuple[int, ...]
    timeout: float | None
    explain_budget: float | None
    ledger_from: str
    report: str | None
    host: str
    quiet: bool

    def request(self) -> Request:
        """Say what the gate is asked for."""
        overrides = Overrides(
            selection=self.selection,
            environments=self.environments,
            without_axes=self.without_axes,
            attempts=self.attempts,
            seeds=self.seeds,
            cell_timeout=self.timeout,
            report="" if self.report is None else str(place_of(self.report)),
        )
        return Request(
            project=absolute(self.project).resolve(),
            overrides=overrides,
            keyword=self.keyword,
            marker=self.marker,
            arguments=self.arguments,
            explain_budget=self.explain_budget,
            ledger_from=self.ledger_from,
        )


HOST = click.option("--host", default="", metavar="URL", help="The engine to use, such as unix:///run/docker.sock.")
PROJECT = click.option(
    "--project", default=".", type=click.Path(exists=True, file_okay=False), help="The project's folder. [default: here]"
)


# Without a command there is nothing to say 0 about, so neither group shows its help then.
# `main` has taken the word before click sees it, wherever it stands: this is for the help text.
DEBUG = click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks and a log of what is done.")


@click.group(no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(None, "--version", package_name="paritygate", prog_name="paritygate")
@DEBUG
def program() -> None:
    """Run one pytest selection in several environments, label every test, and stop what holds on one machine only."""


@program.command()
@click.argument("selection", nargs=-1)
@click.option("-k", "keyword", default="", metavar="EXPRESSION", help="Only tests whose names match, as in pytest.")
@click.option("-m", "marker", default="", metavar="EXPRESSION", help="Only tests with these marks, as in pytest.")
@click.option("--pytest-arg", "arguments", multiple=True, metavar="ARG", help="One more argument for pytest; may be repeated.")
@PROJECT
@click.option("--env", "environments", multiple=True, metavar="NAME", help="Only this environment; may be repeated.")
@click.option("--without-axis", "without_axes", multiple=True, metavar="AXIS", help="Do not vary this axis; may be repeated.")
@click.option("--attempts", type=int, default=None, help="Attempts in each environment. [default: 2]")
@click.option("--seed", "seeds", type=int, multiple=True, help="The first attempt's seed; repeated, those of the next ones.")
@click.option("--timeout", type=float, default=None, metavar="SECONDS", help="The limit of a cell. [default: 1800]")
@click.option(
    "--explain-budget",
    type=click.FloatRange(min=0),
    default=None,
    metavar="SECONDS",
    help="For how long causes are looked for, 0 for not at all. [default: as long as the gate's cells took, at least 60]",
)
@click.option(
    "--ledger-from",
    default="",
    metavar="REF",
    help="Read freezes where HEAD parted from this branch, so that no patch excuses itself.",
)
@click.option(
    "--report", default=None, metavar="PATH", help="Where the artifact goes. [default: parity_report.json of the project]"
)
@HOST
@click.option("--quiet", "-q", is_flag=True, help="Say nothing but the answer.")
@DEBUG
def run(**given: Any) -> int:
    """Run the gate over SELECTION (files, folders, node ids; default: what the project configures)."""
    options = msgspec.convert(given, RunOptions)
    streams = Streams()
    with Live(streams.progress, quiet=options.quiet) as live:
        report = flow.run(options.request(), world(options.host, live))
    streams.answer(report.artifact)
    if not options.quiet and report.unrecorded is None:
        streams.say(f"report: {report.path}")
    return code_of(report.artifact, report.unrecorded)


@program.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--report", default=None, metavar="PATH", help="Write the artifact there.")
def classify(files: tuple[Path, ...], report: str | None) -> int:
    """Label the tests of cells or reports that were made anywhere."""
    streams = Streams()
    place = None if report is None else place_of(report)
    if place is not None:
        places.check(place)
    artifact = archive.classify(files, version())
    unrecorded = None if place is None else archive.record(artifact, place)
    streams.answer(artifact)
    return code_of(artifact, unrecorded)


@program.command()
def schema() -> int:
    """Print the JSON Schema of the artifact."""
    click.echo(archive.schema_text())
    return ExitCode.PARITY


@program.command()
@PROJECT
@HOST
def engine(project: str, host: str) -> int:
    """Make sure that an engine answers and that there is a base image, and say which."""
    streams = Streams()
    needs = doctor.needs_of(absolute(project).resolve())
    ready = engine_setup.ensure_engine(lambda: engine_at(host), needs.settings.image, needs.python, streams.say)
    for line in ready.done:
        click.echo(line)
    click.echo(f"engine: {ready.endpoint}")
    click.echo(f"base image: {', '.join(ready.base.tags) or ready.base.identity}")
    return ExitCode.PARITY


@program.command("doctor")
@PROJECT
@HOST
def examine(project: str, host: str) -> int:
    """Say what this machine offers: engine, base image, and the axes that can vary here."""
    report = doctor.examine(absolute(project).resolve(), lambda: engine_at(host), dict(os.environ))
    click.echo(report.text)
    return ExitCode.PARITY if report.usable else ExitCode.NO_VERDICT


ONLY_PROJECT = click.option(
    "--project", metavar="DIR", help="Only the project's own images. Projects are told apart by their folder's name."
)


def name_of(project: str | None) -> str:
    """Say what a project's images are labelled with; empty where none is named."""
    return "" if project is None else absolute(project).resolve().name


@program.group(no_args_is_help=False)
def images() -> None:
    """Make images beforehand, look at those that are kept, or remove them."""


def say_images(images: Sequence[ImageRecord], done: str, project: str | None, before: str = "") -> None:
    """Say each image in a line on stdout, and their number on stderr."""
    for image in images:
        click.echo(f"{before}{image.created[:19]}  {image.size / 1e6:8.0f} MB  {', '.join(image.tags) or image.identity}")
    whose = "" if project is None else f" of `{name_of(project)}`"
    click.echo(f"{len(images)} image{'s' * (len(images) != 1)}{whose} {done}", err=True)


@images.command("build")
@PROJECT
@HOST
def build_images(project: str, host: str) -> int:
    """Make the images that the project's cells start from, and say which they are."""
    made = project_images.make(engine_at(host), absolute(project).resolve(), dict(os.environ), Streams().say)
    for line in project_images.listed(made):
        click.echo(line)
    return ExitCode.PARITY


@images.command("list")
@ONLY_PROJECT
@HOST
def list_images(project: str | None, host: str) -> int:
    """List the images that are kept, newest first; layers that several share are in the size of each."""
    say_images(keeping.list_kept(engine_at(host), name_of(project)), "kept", project)
    return ExitCode.PARITY


@images.command("prune")
@click.option("--keep", type=click.IntRange(min=0), default=0, help="How many of the newest snapshots and layers to keep.")
@ONLY_PROJECT
@HOST
def prune_images(keep: int, project: str | None, host: str) -> int:
    """Remove images that paritygate made; nothing else is touched."""
    say_images(keeping.prune(engine_at(host), keep, name_of(project)), "removed", project, "removed ")
    return ExitCode.PARITY


program.add_command(freezes)
program.add_command(lock)


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


def misused(error: click.ClickException, arguments: Sequence[str]) -> UsageError:
    """Say in our words what click finds wrong with a command line."""
    message = re.sub(r"'([^']*)'", r"`\1`", error.format_message()).rstrip(".").replace(". Did", "; did")
    if isinstance(error, click.NoSuchOption):
        message = f"there is no option `{error.option_name}`{near_miss(error.option_name, frozenset(error.possibilities or ()))}"
    named = [each for each in arguments[:1] if each in program.commands]
    context = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx is not None else ""
    command = context or " ".join(("paritygate", *named))
    return UsageError(f"{message[:1].lower()}{message[1:]}", f"`{command} --help` says what there is")


def invoke(arguments: list[str]) -> object:
    """Run the command that the arguments name."""
    try:
        return program.main(arguments, "paritygate", standalone_mode=False)
    except click.ClickException as error:
        raise misused(error, arguments) from error


def outcome_of(command: Callable[[], object], *, debug: bool) -> int:
    """Run a command to its exit code, with every error said once."""
    try:
        with process.ending_on_signals():
            code = command()
    except ParityError as error:
        if debug:
            traceback.print_exc()
        say_error(error)
        return error.exit_code
    except click.Abort:
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001  # the last line of defence: a fault of ours has a code of its own
        traceback.print_exc()
        say_error(ParityError(f"this is a fault of paritygate: {error!r}", "please report it, with the lines above"))
        return ExitCode.FAULT
    return code if isinstance(code, int) else ExitCode.PARITY


def answered(code: int) -> int:
    """Say the exit code of a command whose answer went to stdout: at least 4 where it could not be written."""
    error = process.lost(sys.stdout)
    if error is None:
        return code
    say_error(
        NoVerdictError(f"the answer could not be written to stdout: {error.strerror}", "make room there, or write elsewhere")
    )
    return max(code, ExitCode.NO_VERDICT)


def main(argv: list[str] | None = None) -> None:
    """Run the program and leave the process with its exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    end = arguments.index("--") if "--" in arguments else len(arguments)
    debug = "--debug" in arguments[:end]
    logging.basicConfig(level=logging.DEBUG if debug else logging.WARNING, format="%(name)s: %(message)s", stream=sys.stderr)
    for chatty in ("urllib3", "docker"):
        logging.getLogger(chatty).setLevel(logging.INFO if debug else logging.ERROR)
    arguments = [each for each in arguments[:end] if each != "--debug"] + arguments[end:]
    sys.exit(answered(outcome_of(lambda: invoke(arguments), debug=debug)))
