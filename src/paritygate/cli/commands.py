"""The commands: each says what it takes, hands it to the room that does it, and says the exit code."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click
import msgspec

from paritygate import archive, doctor, engine_setup, project_images
from paritygate.classifier.holding import nothing_held
from paritygate.cli import adding
from paritygate.cli.changed import CHANGED, changed
from paritygate.cli.freezes import freezes
from paritygate.cli.hazards import hazards
from paritygate.cli.locks import lock
from paritygate.cli.options import (
    CHECKOUT,
    DEBUG,
    FILE,
    HOST,
    LAST_REPORT,
    PROJECT,
    QUIET,
    REPORT,
    RUNNER,
    VARIABLES,
    VERBOSE,
    ClassifyOptions,
    ExplainOptions,
    ReproOptions,
    RunOptions,
    artifact_at,
    budget,
)
from paritygate.cli.overview import Overview
from paritygate.cli.planning import PLAN
from paritygate.cli.planning import answer as answer_plan
from paritygate.cli.reporting import Telling, Told, answer, report, tell, telling, told, with_formats
from paritygate.cli.reproducing import repro_world
from paritygate.cli.user import Streams, absolute, engine_at, version, world
from paritygate.cli.verifying import verify
from paritygate.docker_engine.requests import ImageRecord
from paritygate.errors import UsageError
from paritygate.gate import afterwards, flow, holding, planning
from paritygate.gate.sweeping.request import Wanted
from paritygate.images import keeping
from paritygate.outcomes.words import ExitCode
from paritygate.reports.formats import Format
from paritygate.reports.live import Live
from paritygate.repro import flow as repro_flow


# Without a command there is nothing to say 0 about, so neither group shows its help then.
@click.group(
    cls=Overview, no_args_is_help=False, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120}
)
@click.version_option(None, "--version", package_name="paritygate", prog_name="paritygate")
@DEBUG
def program() -> None:
    """Run one pytest selection in several environments, label every test, and stop what holds on one machine only."""


program.add_command(freezes)
program.add_command(lock)
program.add_command(changed)
program.add_command(report)
program.add_command(verify)


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
@budget("as long as the gate's cells took, at least 60, more on a slow engine")
@click.option(
    "--ledger-from",
    default="",
    metavar="REF",
    help="Read freezes where HEAD parted from this branch, so that no patch excuses itself.",
)
@click.option("--respect-pins", is_flag=True, help="Let the pins of the suite go over the axes, which it then cannot show.")
@CHANGED
@adding.SWEEP
@adding.SWEEP_BUDGET
@PLAN
@artifact_at("report", "parity_report.json of the project")
@with_formats
@HOST
@RUNNER
@QUIET
@VERBOSE
@DEBUG
def run(**given: Any) -> int:
    """Run the gate over SELECTION (files, folders, node ids; default: what the project configures)."""
    wanted, plan = telling(given), given.pop("plan")
    options = msgspec.convert(given, RunOptions)
    streams = Streams()
    asked = adding.wanted(options)
    if plan:
        return planned(options, asked, streams, wanted)
    with told(wanted), Live(streams.progress, quiet=options.quiet, verbose=options.verbose) as live:
        around = world(options.host, live)
        found = flow.run(options.request(), around)
        swept = adding.swept(found, options, asked, around)
    code = answer(found, streams, wanted, quiet=options.quiet)
    return adding.told(swept, code, streams, wanted.form, quiet=options.quiet)


def planned(options: RunOptions, asked: Wanted, streams: Streams, wanted: Telling) -> int:
    """Say what a run would do."""
    if wanted.form not in {Format.TERMINAL, Format.JSON} or wanted.html is not None:
        raise UsageError("a plan is told as text or with `--json`", "leave the other format out, or `--plan`")
    with told(wanted), Live(streams.progress, quiet=True) as live:
        around = world(options.host, live)
        found = planning.foresee(options.request(), around)
        sweep = adding.planned(options, asked, found.seconds.get("total"), around)
    return answer_plan(found, sweep, streams, as_json=wanted.form is Format.JSON)


@program.command()
@LAST_REPORT
@budget("until they are found, an hour at most")
@artifact_at("place", "where it was")
@with_formats
@CHECKOUT
@VARIABLES
@HOST
@QUIET
@VERBOSE
@DEBUG
def explain(**given: Any) -> int:
    """Look afterwards for the causes of what diverges in REPORT, and write and show it with them.

    Causes that REPORT has stay, and its cells are not run again: the search goes on from them, until all is found if no
    --explain-budget says otherwise. What was found so far is kept when it is interrupted, too.
    """
    wanted = telling(given)
    options = msgspec.convert(given, ExplainOptions)
    streams = Streams()
    with told(wanted), Live(streams.progress, quiet=options.quiet, verbose=options.verbose) as live:
        found = afterwards.run(options.asked(), world(options.host, live))
    return answer(found, streams, wanted, quiet=options.quiet)


@program.command()
@REPORT
@click.argument("nodeid")
@click.option("--cell", default="", metavar="NAME", help="The cell, such as local-like-1. [default: the first red one]")
@click.option("--number", type=click.IntRange(min=1), default=None, help="Which of several tests that have this id.")
@click.option("--alone", is_flag=True, help="Run nothing but the test, instead of all that ran before it in its cell.")
@click.option("--shell", is_flag=True, help="Open a shell in the cell instead; exits 0 however it ends.")
@click.option(
    "--print", "line", is_flag=True, help="Print a line instead, `docker run` or a shell's, which runs the test by plain pytest."
)
@CHECKOUT
@VARIABLES
@HOST
@QUIET
@DEBUG
def repro(**given: Any) -> int:
    """Run the test NODEID of REPORT once more in the same cell: exits 0 where it does what it did there, 1 where it does not."""
    options = msgspec.convert(given, ReproOptions)
    if options.shell and options.line:
        raise UsageError("`--shell` and `--print` exclude each other", "give one of them")
    streams = Streams()
    if options.shell:
        repro_flow.shell(options.wanted(), repro_world(options, Live(streams.progress, quiet=options.quiet)))
        return ExitCode.PARITY
    with Live(streams.progress, quiet=options.quiet) as live:
        around = repro_world(options, live)
        if not options.line:
            found = repro_flow.run(options.wanted(), around)
            text, code = found.said if options.quiet else found.text, found.exit_code
        else:
            text, code = repro_flow.line(options.wanted(), around), ExitCode.PARITY
    click.echo(text)
    return code


@program.command()
@click.argument("files", nargs=-1, required=True, type=FILE)
@artifact_at("report")
@click.option("--freezes-of", "project", default="", metavar="DIR", help="Hold the freezes of this project. [default: none]")
@click.option("--ledger-from", default="", metavar="REF", help="Read them where HEAD parted from this branch.")
@with_formats
@QUIET
@DEBUG
def classify(**given: Any) -> int:
    """Label the tests of cells or reports that were made anywhere."""
    wanted = telling(given)
    options = msgspec.convert(given, ClassifyOptions)
    streams, place = Streams(), options.place()
    with told(wanted):
        with Live(streams.progress, quiet=True) as live:
            hold = holding.of(options.folder(), options.ledger_from, world("", live)) if options.project else nothing_held
        artifact = archive.classify(options.files, version(), hold)
    unrecorded = None if place is None else archive.record(artifact, place)
    return tell(Told(artifact=artifact, place=place, unrecorded=unrecorded), streams, wanted, quiet=options.quiet)


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
    needs = doctor.needs_of(absolute(project).resolve())
    with Live(Streams().progress) as live:
        ready = engine_setup.ensure_engine(lambda: engine_at(host), needs.settings.image, needs.python, live.step)
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
    report = doctor.examine(
        absolute(project).resolve(), lambda: engine_at(host), dict(os.environ), lambda name: engine_at(host, name)
    )
    click.echo(report.text)
    return ExitCode.PARITY if report.usable else ExitCode.NO_VERDICT


ONLY_PROJECT = click.option(
    "--project",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Only the project's own images. Projects are told apart by their folder's name.",
)


def name_of(project: str | None) -> str:
    """Say what a project's images are labelled with; empty where none is named. Raises `UsageError` for what is no folder."""
    if project is None:
        return ""
    folder = absolute(project).resolve()
    if not folder.is_dir():
        raise UsageError(
            f"there is no folder `{project}`",
            "name the project's folder; where it is gone, a new one of the same name will do, or leave `--project` out for all",
        )
    return folder.name


@program.group(no_args_is_help=False)
def images() -> None:
    """Make images beforehand, look at those that are kept, or remove them."""


def say_images(images: Sequence[ImageRecord], done: str, owner: str, before: str = "") -> None:
    """Say each image in a line on stdout, and their number on stderr; of all projects where no `owner` is named."""
    for image in images:
        click.echo(f"{before}{image.created[:19]}  {image.size / 1e6:8.0f} MB  {', '.join(image.tags) or image.identity}")
    whose = f" of `{owner}`" if owner else ""
    click.echo(f"{len(images)} image{'s' * (len(images) != 1)}{whose} {done}", err=True)


@images.command("build")
@PROJECT
@HOST
def build_images(project: str, host: str) -> int:
    """Make the images that the project's cells start from, and say which they are."""
    with Live(Streams().progress) as live:
        made = project_images.make(lambda: engine_at(host), absolute(project).resolve(), dict(os.environ), live.step)
    for line in project_images.listed(made):
        click.echo(line)
    return ExitCode.PARITY


@images.command("list")
@ONLY_PROJECT
@HOST
def list_images(project: str | None, host: str) -> int:
    """List the images that are kept, newest first; layers that several share are in the size of each."""
    owner = name_of(project)
    say_images(keeping.list_kept(engine_at(host), owner), "kept", owner)
    return ExitCode.PARITY


@images.command("prune")
@click.option("--keep", type=click.IntRange(min=0), default=0, help="How many of the newest snapshots and layers to keep.")
@ONLY_PROJECT
@HOST
def prune_images(keep: int, project: str | None, host: str) -> int:
    """Remove images that paritygate made; nothing else is touched."""
    owner = name_of(project)
    say_images(keeping.prune(engine_at(host), keep, owner), "removed", owner, "removed ")
    return ExitCode.PARITY


program.add_command(hazards)
