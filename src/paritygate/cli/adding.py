"""`run --sweep`: a sweep after the gate, with a report of its own; how the two end together is the worse of both."""

from __future__ import annotations

import click

from paritygate.classifier.verdicts import precedence
from paritygate.cli.options import SECONDS, RunOptions
from paritygate.cli.reporting import show
from paritygate.cli.user import Streams, absolute, code_of, nearest
from paritygate.config.settings import USUAL_SWEEP
from paritygate.gate.request import Report, World
from paritygate.gate.sweeping import costs, flow
from paritygate.gate.sweeping.costs import Cost
from paritygate.gate.sweeping.request import Wanted
from paritygate.gate.sweeping.values import axis_named
from paritygate.outcomes.words import ExitCode
from paritygate.reports.formats import Format

LEAST_SECONDS = 60.0
SWEEP = click.option(
    "--sweep", "sweeps", multiple=True, metavar="AXIS", help="Sweep this axis as well, after the gate; may be repeated."
)
SWEEP_BUDGET = click.option(
    "--sweep-budget",
    type=SECONDS,
    default=None,
    metavar="SECONDS",
    help="Begin no further value of a sweep after so long. [default: as long as the gate took, at least 60]",
)


def wanted(options: RunOptions) -> Wanted:
    """Say which axes are to be swept after the gate; raises `UsageError` for one that cannot be."""
    return Wanted(axes={axis_named(word): () for word in options.sweeps or ()}, seconds=options.sweep_budget)


def planned(options: RunOptions, asked: Wanted, took: float | None, world: World) -> Cost | None:
    """Say what the sweep after a gate will cost; None where there is none. `took` are the seconds of the last gate, if known."""
    if not asked.axes:
        return None
    seconds = asked.seconds if asked.seconds is not None else None if took is None else max(LEAST_SECONDS, took)
    wanted = Wanted(axes=asked.axes, seconds=seconds)
    return costs.estimate(options.request(report=absolute(options.project).resolve() / USUAL_SWEEP), wanted, world)


def swept(found: Report, options: RunOptions, asked: Wanted, world: World) -> Report | None:
    """Sweep after a gate that came to a verdict, over the same selection; None where there is nothing to sweep."""
    if not asked.axes:
        return None
    if found.artifact.verdict.exit_code >= ExitCode.NO_VERDICT:
        world.say("not swept, since the gate came to no verdict")
        return None
    seconds = max(LEAST_SECONDS, found.artifact.timings["total"]) if asked.seconds is None else asked.seconds
    request = options.request(report=found.path.with_name(USUAL_SWEEP))
    return flow.run(request, Wanted(axes=asked.axes, seconds=seconds), world)


def told(report: Report | None, code: int, streams: Streams, form: Format, *, quiet: bool) -> int:
    """Tell a sweep after its gate, in full where people read, and say the exit code of both."""
    if report is None:
        return code
    if form is Format.TERMINAL:
        click.echo()
        show(report.artifact, streams, form, nearest(report.path))
    elif not quiet:
        streams.say(f"sweep: {report.artifact.verdict.line}")
    if not quiet and report.unrecorded is None:
        streams.say(f"report of the sweep: {nearest(report.path)}")
    return precedence([ExitCode(code), ExitCode(code_of(report.artifact, report.unrecorded))])
