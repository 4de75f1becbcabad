"""`paritygate selfcheck`: the gate shown on faults that were planted, without a project."""

from __future__ import annotations

import os
import time
from pathlib import Path

import click
import msgspec

from paritygate import archive, places
from paritygate.axes import near_miss
from paritygate.cli.options import DEBUG, HOST, QUIET, RUNNER, VERBOSE, check_much
from paritygate.cli.user import Streams, absolute, nearest, world
from paritygate.config.file import Overrides
from paritygate.errors import UsageError
from paritygate.gate import flow as gate_flow
from paritygate.gate.request import Request, World
from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.words import Axis, RunnerChoice
from paritygate.reports import formats
from paritygate.reports.findings import Page as ReportPage
from paritygate.reports.formats import Format
from paritygate.reports.live import Live
from paritygate.selfcheck import flow, planted
from paritygate.selfcheck.flow import Done, Wanted
from paritygate.selfcheck.judging import exit_code
from paritygate.selfcheck.telling import Page, summary, told

BEGINS = (
    "a suite with planted faults runs through the gate: 4 cells, then about 70 small ones to confirm and to find causes, "
    "which takes some minutes; `paritygate selfcheck timezone` tries one fault"
)
BEGINS_SHORT = "a suite with a planted fault runs through the gate: 4 cells, then further ones to confirm what looks coupled"
LONGEST_SEARCH = 3600.0
"""Seconds for causes: what is planted is to be found however slow the machine is."""


class SelfcheckOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What `paritygate selfcheck` was told; the declarations of the command say what each is."""

    plants: tuple[str, ...]
    without_axes: tuple[Axis, ...]
    report: str | None
    html: str | None
    host: str
    runner: RunnerChoice | None
    quiet: bool
    verbose: bool

    def wanted(self) -> Wanted:
        """Say what to try; raises `UsageError` for a name that nothing planted has."""
        known = frozenset(planted.read())
        for name in self.plants:
            if name not in known:
                raise UsageError(
                    f"nothing is planted for `{name}`{near_miss(name, known)}", f"there are {', '.join(sorted(known))}"
                )
        return Wanted(plants=self.plants, without_axes=self.without_axes, variables=dict(os.environ))


@click.command("selfcheck")
@click.argument("plants", nargs=-1, metavar="[FAULT]...")
@click.option(
    "--without-axis",
    "without_axes",
    multiple=True,
    type=click.Choice([each.axis.value for each in planted.read().values() if each.axis]),
    help="Do not vary this axis; may be repeated.",
)
@click.option("--report", default=None, metavar="PATH", help="Keep the artifact there. [default: it is removed]")
@click.option("--html", default=None, metavar="FILE", help="Write the HTML report of it there.")
@HOST
@RUNNER
@QUIET
@VERBOSE
@DEBUG
def selfcheck(**given: object) -> int:
    """Run the gate over a small suite with one planted FAULT for each axis, and show what it says of each.

    Without a FAULT all are tried. It needs no project and writes into none. It ends with 0 where everything was found as planted,
    1 where the gate was wrong, 4 where something cannot be shown on this computer.
    """
    options = msgspec.convert(given, SelfcheckOptions)
    wanted, streams = options.wanted(), Streams()
    places_of = [absolute(path) for path in (options.report, options.html) if path is not None]
    for place in places_of:
        places.check(place)
    began = time.monotonic()
    check_much(quiet=options.quiet, verbose=options.verbose)
    with Live(streams.progress, quiet=options.quiet, verbose=options.verbose) as live:
        live.say(BEGINS if len(wanted.plants) != 1 else BEGINS_SHORT)
        around = clean(world(options.host, live), cells=options.verbose or live.is_drawn)
        done = flow.check(wanted, lambda project, files, left_out: gated(project, (files, left_out), options, around))
    say(done, time.monotonic() - began, streams)
    keep(done.artifact, options, streams)
    return exit_code(done.judged)


def clean(around: World, *, cells: bool) -> World:
    """Take out of the process's variables what is meant for the runs of a project, and without `cells` all progress of these.

    There are dozens of them, each of a second: as lines they would bury the answer.
    """
    around = (
        around if cells else msgspec.structs.replace(around, watch=lambda _progress: None, announce=lambda _plans, _why: None)
    )
    kept = {name: value for name, value in around.variables.items() if not name.startswith("PARITY_")}
    return msgspec.structs.replace(around, variables=kept)


def gated(project: Path, asked: tuple[tuple[str, ...], tuple[Axis, ...]], options: SelfcheckOptions, around: World) -> Artifact:
    """Run the gate as `paritygate run` does."""
    files, left_out = asked
    overrides = Overrides(selection=files, without_axes=tuple(axis.value for axis in left_out), runner=options.runner)
    return gate_flow.run(Request(project=project, overrides=overrides, explain_budget=LONGEST_SEARCH), around).artifact


def say(done: Done, seconds: float, streams: Streams) -> None:
    """Tell what was shown on stdout."""
    page = Page(width=streams.width, colour=streams.colour, unicode=streams.unicode)
    for line in told(done.judged, page):
        click.echo(line)
    where = ", ".join(dict.fromkeys(cell.runner for cell in done.artifact.cells)) or "nothing"
    click.echo()
    for line in summary(done.judged, seconds, where):
        click.echo(line)


def keep(artifact: Artifact, options: SelfcheckOptions, streams: Streams) -> None:
    """Write artifact and page where they were asked for; raises `UnrecordedError`."""
    report = "" if options.report is None else nearest(absolute(options.report))
    if options.report is not None:
        archive.write(artifact, absolute(options.report))
        streams.say(f"report: {report}")
    if options.html is not None:
        page = formats.render(artifact, Format.HTML, ReportPage(streams.width, report))
        places.write(page.encode("utf-8", "backslashreplace"), absolute(options.html))
        streams.say(f"page: {nearest(absolute(options.html))}")
