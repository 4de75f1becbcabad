"""`paritygate verify`: whether a report can be relied upon."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import click

from paritygate.cli import project_folder
from paritygate.cli.options import DEBUG, LAST_REPORT
from paritygate.cli.user import absolute, version
from paritygate.freezes import checking
from paritygate.outcomes.words import ExitCode
from paritygate.verification import flow
from paritygate.verification.checkout import Checkout
from paritygate.verification.items import State, summary, told


@click.command("verify")
@LAST_REPORT
@click.option(
    "--project",
    default=None,
    type=click.Path(exists=True, file_okay=False),
    help="The project's folder. [default: here, or where this is in no project the report's folder]",
)
@click.option("--without-checkout", is_flag=True, help="Hold it to its own cells only, as where there is no checkout.")
@DEBUG
def verify(*, report: Path, project: str | None, without_checkout: bool) -> int:
    """Derive labels and verdict of REPORT again from its cells, and hold it against this checkout, item by item.

    It ends with 0 where everything matches, whatever the verdict is, and with 1 where something does not.
    """
    place = absolute(str(report)).resolve()
    checkout = Checkout(
        project=absolute(project_folder.of_report(place) if project is None else project).resolve(),
        report=place,
        variables=dict(os.environ),
        today=checking.today_of(datetime.now(UTC)),
    )
    items = flow.verify(report, version(), None if without_checkout else checkout)
    for line in told(items):
        click.echo(line)
    click.echo(summary(items), err=True)
    return ExitCode.CONSISTENT_RED if any(item.state is State.DIFFERS for item in items) else ExitCode.PARITY
