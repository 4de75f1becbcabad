"""`paritygate changed`: which tests `run --changed` would choose, without an engine."""

from __future__ import annotations

import click

from paritygate.cli.options import PROJECT
from paritygate.cli.user import Streams, absolute, world
from paritygate.config.file import Overrides
from paritygate.errors import UsageError
from paritygate.gate import narrowing
from paritygate.gate.request import Request
from paritygate.outcomes.words import ExitCode
from paritygate.reports import touched
from paritygate.reports.live import Live

CHANGED = click.option(
    "--changed",
    is_flag=False,
    flag_value="",
    default=None,
    metavar="[BASE]",
    help="Only tests that can see what differs from where HEAD parted from BASE. [default: the default branch]",
)


@click.command("changed")
@click.argument("selection", nargs=-1)
@click.option("--base", default="", metavar="REF", help="Compare with where HEAD parted from it. [default: the default branch]")
@click.option(
    "--changed", "spelled", is_flag=False, flag_value="", default="", metavar="[REF]", help="The same, as `run` spells it."
)
@PROJECT
def changed(selection: tuple[str, ...], base: str, spelled: str, project: str) -> int:
    """List what differs from the default branch, and which tests of SELECTION can see it; 4 where none can."""
    if base and spelled and base != spelled:
        raise UsageError(f"`--base {base}` and `--changed={spelled}` say the same thing differently", "give one of them")
    request = Request(project=absolute(project).resolve(), overrides=Overrides(selection=selection), changed=base or spelled)
    with Live(Streams().progress, quiet=False) as live:
        found = narrowing.preview(request, world("", live))
    for line in touched.chosen(found, most=0):
        click.echo(line)
    return ExitCode.PARITY
