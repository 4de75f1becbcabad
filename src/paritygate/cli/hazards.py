"""The command that looks for hazards in source files, without an engine."""

from __future__ import annotations

import os

import click

from paritygate import hazard_search
from paritygate.cli.options import PROJECT
from paritygate.cli.user import absolute, version
from paritygate.errors import NoVerdictError
from paritygate.hazard_search import Wanted
from paritygate.outcomes.words import ExitCode
from paritygate.reports import hazards as report
from paritygate.reports.hazards import Format, HeldBack
from paritygate.reports.text import spell_out


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True))
@PROJECT
@click.option(
    "--format",
    "form",
    type=click.Choice([each.value for each in Format]),
    default=Format.TEXT.value,
    show_default=True,
    help="For people, for annotations in GitHub's workflows, or for programs.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="List also what only somebody who knows the project can judge, and what packages do.",
)
@click.option("--without-ruff", is_flag=True, help="Leave out what ruff's rules find.")
def hazards(*, paths: tuple[str, ...], project: str, form: str, everything: bool, without_ruff: bool) -> int:
    """Read PATHS (default: tests and packages) and list what makes tests depend on the machine.

    Of packages that PATHS do not name it lists only what git proves. Nothing is run. It ends with 0 where nothing was listed,
    1 where something was, 4 where no file could be read, or ruff is missing or fails.
    """
    wanted = Wanted(
        project=absolute(project),
        paths=tuple(absolute(path) for path in paths),
        with_ruff=not without_ruff,
        environ=dict(os.environ),
    )
    found = hazard_search.search(wanted)
    checked, held_back = (found, HeldBack()) if everything else report.by_default(found, hazard_search.named(wanted))
    if said := report.render(checked, Format(form), version(), with_ruff=wanted.with_ruff):
        click.echo(said)
    for path, why in checked.unread.items():
        click.echo(f"not read: {spell_out(path)}: {spell_out(why)}", err=True)
    if not checked.read:
        raise _nothing_read(len(checked.unread), wanted)
    click.echo(report.summary(checked, held_back), err=True)
    return ExitCode.CONSISTENT_RED if checked.hazards else ExitCode.PARITY


def _nothing_read(unread: int, wanted: Wanted) -> NoVerdictError:
    """Say that nothing is known, lest that looks like nothing found."""
    if unread:
        files = "the only file" if unread == 1 else f"any of {unread} files"
        return NoVerdictError(f"could not read {files}, so nothing is known", "mend what is said above, or name other files")
    where = "in what was named" if wanted.paths else f"among tests and packages of `{wanted.project}`"
    return NoVerdictError(f"there is no Python file {where}", "name files or folders: `paritygate hazards PATH`")
