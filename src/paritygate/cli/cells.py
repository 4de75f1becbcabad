"""`paritygate cell`: one cell of the gate for a job of its own; `classify` gives the verdict when all of them are there."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import msgspec

from paritygate.classifier.shards import WELL
from paritygate.cli.commands import run
from paritygate.cli.options import RunOptions
from paritygate.cli.reporting import OPTIONS
from paritygate.cli.user import Streams, nearest, say_error, world
from paritygate.errors import UsageError
from paritygate.gate import one_cell, sharding
from paritygate.gate.one_cell import Done, Wanted
from paritygate.outcomes.words import ExitCode, Outcome
from paritygate.reports.live import Live

OF_A_WHOLE_RUN = frozenset({"explain_budget", "plan", "report", "sweeps", "sweep_budget", *OPTIONS})
"""What `run` can be told that says nothing of one cell; all other options of it are those of `cell`.

`--env` and `--attempts` say which cells the gate has: of these the file tells `classify`, which misses what is not there.
"""


class CellOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What `paritygate cell` was told beside what `run` can be told."""

    env: str
    attempt: int
    out: str
    at: str | None
    shard: str | None
    durations: Path | None

    def wanted(self) -> Wanted:
        """Say which cell is asked for."""
        if self.durations is not None and self.shard is None:
            raise UsageError("`--durations-from` is for `--shard`, which is not given", "leave it out, or give `--shard 1/4`")
        return Wanted(
            env=self.env,
            attempt=self.attempt,
            at=None if self.at is None else moment(self.at),
            shard=None if self.shard is None else sharding.parse(self.shard),
            durations=self.durations,
        )


def moment(text: str) -> datetime:
    """Read a moment as ISO 8601 has it; without a zone it is UTC."""
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise UsageError(f"`--at {text}` is no moment", "write it as `2026-11-30T08:00:00Z`") from error
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


@click.command("cell")
@click.argument("env")
@click.argument("attempt", type=click.IntRange(min=1))
@click.option("--out", required=True, metavar="PATH", help="Where the cell goes, for `paritygate classify`.")
@click.option("--shard", default=None, metavar="I/N", help="Only this part of the selection, such as 2/4; `classify` joins them.")
@click.option(
    "--durations-from",
    "durations",
    default=None,
    metavar="REPORT",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Split by what tests took in this report. [default: parity_report.json of the project, if there is one]",
)
@click.option(
    "--at",
    default=None,
    metavar="MOMENT",
    help="For which moment `auto` chooses a zone, the same for all jobs: 2026-11-30T08:00:00Z. [default: now]",
)
def cell(**given: Any) -> int:
    """Run one cell of the gate over SELECTION, as `run` would: ends with 0 where it ran to its end, whatever its tests did."""
    own = {name: given.pop(name) for name in CellOptions.__struct_fields__}
    options = msgspec.convert(own, CellOptions)
    whole = dict.fromkeys(OF_A_WHOLE_RUN - {"plan"}) | {"report": options.out}
    asked = msgspec.convert(given | whole, RunOptions)
    streams = Streams()
    with Live(streams.progress, quiet=asked.quiet, verbose=asked.verbose) as live:
        done = one_cell.run(asked.request(), options.wanted(), world(asked.host, live))
    return answered(done, quiet=asked.quiet)


cell.params += [each for each in run.params if each.name not in OF_A_WHOLE_RUN]


def answered(done: Done, *, quiet: bool) -> int:
    """Say in one line how the cell ended and where it is, and say the exit code."""
    ended = done.cell
    red = sum(not each.outcome.green for each in ended.tests if each.outcome is not Outcome.NOT_RUN)
    part = f", shard {ended.shards[0]}" if ended.shards else ""
    why = f": {ended.detail}" if ended.detail else ""
    click.echo(f"`{ended.env}` attempt {ended.attempt}{part} {ended.status}, {len(ended.tests)} tests, {red} red{why}")
    if done.unrecorded is not None:
        say_error(done.unrecorded)
        return ExitCode.NO_VERDICT
    if not quiet:
        click.echo(f"cell: {nearest(done.path)}")
    well = ended.status in WELL
    return ExitCode.PARITY if well else ExitCode.NO_VERDICT
