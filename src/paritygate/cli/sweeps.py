"""`paritygate sweep`: the selection under the witness values of one axis or several, everything else as at home."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import msgspec

from paritygate.cli.commands import run
from paritygate.cli.options import SECONDS, RunOptions, artifact_at
from paritygate.cli.reporting import answer, telling, told
from paritygate.cli.user import Streams, absolute, world
from paritygate.config.settings import USUAL_SWEEP
from paritygate.errors import UsageError
from paritygate.gate.sweeping import costs, flow
from paritygate.gate.sweeping.request import Wanted
from paritygate.gate.sweeping.values import axis_named
from paritygate.outcomes.words import Axis, ExitCode
from paritygate.reports.live import Live
from paritygate.witnesses.table import WITNESSES

OWN = ("values", "budget", "plan")
OF_A_GATE = frozenset({"selection", "without_axes", "attempts", "explain_budget", "plan", "sweeps", "sweep_budget"})
"""What `run` can be told that says nothing of a sweep; all other options of it are those of `sweep`."""


def parted(words: Sequence[str]) -> tuple[tuple[Axis, ...], tuple[str, ...]]:
    """Part the words into axes, which come first, and the selection; raises `UsageError` where no axis is named."""
    known = [axis.value for axis in WITNESSES]
    count = next((number for number, word in enumerate(words) if word not in known), len(words))
    if not words:
        raise UsageError("no axis is named", f"name one or several: {', '.join(f'`{axis}`' for axis in known)}")
    if not count:
        axis_named(words[0])
    return tuple(axis_named(word) for word in dict.fromkeys(words[:count])), tuple(words[count:])


def named(values: Sequence[str], axes: Sequence[Axis]) -> tuple[str, ...]:
    """Read `--values`, which go with one axis."""
    found = tuple(word for each in values for word in each.split(",") if word)
    if values and not found:
        raise UsageError("`--values` names no value", "write `--values A,B`")
    if found and len(axes) > 1:
        raise UsageError(f"`--values` goes with one axis, and there are {len(axes)}", "sweep them one after another")
    return found


@click.command("sweep")
@click.argument("words", nargs=-1, metavar="AXIS... [SELECTION]...")
@click.option(
    "--values", multiple=True, metavar="A,B", help="Only these values; may be repeated. [default: as configured, else a table's]"
)
@click.option(
    "--budget", type=SECONDS, default=None, metavar="SECONDS", help="Begin no further value after so long. [default: no limit]"
)
@click.option("--plan", is_flag=True, help="Say what would be run and about how long it takes, and run nothing.")
def sweep(**given: Any) -> int:
    """Run SELECTION under many values of each AXIS, all else as in the first environment, and say what parts from the rest.

    AXIS is timezone, locale, hash_seed, workers, clock, directory_order, umask, cpus, memory, variables or user. It ends as `run`
    does.
    """
    axes, selected = parted(given.pop("words"))
    values, seconds, plan = (given.pop(name) for name in OWN)
    asked = Wanted(axes=dict.fromkeys(axes, named(values, axes)), seconds=seconds)
    wanted = telling(given)
    options = msgspec.convert(
        given | dict.fromkeys(OF_A_GATE - {"plan"}) | {"selection": selected, "without_axes": ()}, RunOptions
    )
    request = options.request(report=absolute(options.project).resolve() / USUAL_SWEEP if options.report is None else None)
    streams = Streams()
    with told(wanted), Live(streams.progress, quiet=options.quiet, verbose=options.verbose) as live:
        around = world(options.host, live)
        if plan:
            click.echo("\n".join(costs.told(costs.estimate(request, asked, around))))
            return ExitCode.PARITY
        found = flow.run(request, asked, around)
    return answer(found, streams, wanted, quiet=options.quiet)


sweep.params += [each for each in run.params if each.name not in OF_A_GATE | {"report"}]
artifact_at("report", f"{USUAL_SWEEP} of the project")(sweep)
