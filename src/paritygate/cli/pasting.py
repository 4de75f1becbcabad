"""`paritygate command` and `paritygate ingest`: a cell of a machine to which there is no access but to paste."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from paritygate import archive, places
from paritygate.archive import CellFile
from paritygate.cli.cells import OF_A_WHOLE_RUN, moment
from paritygate.cli.commands import run
from paritygate.cli.options import PROJECT, RunOptions
from paritygate.cli.user import Streams, absolute, nearest, place_of, version, world
from paritygate.config import file as config_file
from paritygate.config.file import Overrides
from paritygate.config.settings import EnvironmentSettings, Settings
from paritygate.errors import UsageError
from paritygate.gate import pasting
from paritygate.gate.one_cell import Wanted, planned_by
from paritygate.ingest import detecting, making
from paritygate.ingest.making import Given
from paritygate.ingest.measuring import is_zone
from paritygate.outcomes.artifact import SCHEMA, EnvironmentRecord, Subject
from paritygate.outcomes.cells import Cell, Measured
from paritygate.outcomes.words import Axis, CellStatus, ExitCode, ResultFormat
from paritygate.reports.live import Live

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NOT_OF_A_COMMAND = OF_A_WHOLE_RUN | {"environments", "attempts", "ledger_from", "respect_pins", "changed", "host", "timeout"}
"""What `run` can be told that changes no command line of pytest's."""


@click.command("command")
@click.argument("env")
@click.argument("attempt", type=click.IntRange(min=1))
@click.option("--plain", is_flag=True, help="Without pytest-randomly and pytest-xdist, where they are not installed.")
@click.option("--at", default=None, metavar="MOMENT", help="For which moment `auto` chooses a zone. [default: now]")
def command(**given: Any) -> int:
    """Print the pytest command of a cell, in one line, to paste on another machine; `ingest` reads what comes of it.

    A comment under it says how; with --quiet there is none.
    """
    own = {name: given.pop(name) for name in ("env", "attempt", "plain", "at")}
    unsaid = {"environments": (), "ledger_from": "", "respect_pins": False, "host": ""}
    asked = msgspec.convert(dict.fromkeys(NOT_OF_A_COMMAND) | unsaid | given, RunOptions)
    wanted = Wanted(env=own["env"], attempt=own["attempt"], at=None if own["at"] is None else moment(own["at"]))
    with Live(Streams().progress, quiet=True) as live:
        made = pasting.command(asked.request(), wanted, world("", live), plain=own["plain"])
    click.echo(made.line)
    if not asked.quiet:
        for line in made.notes:
            Streams().say(line)
        # A shell that is given all of it takes this for a comment.
        click.echo(f"# then: paritygate ingest --env {made.env} --attempt {made.attempt} --seed {made.seed} {made.xml}")
    return ExitCode.PARITY


command.params += [each for each in run.params if each.name not in NOT_OF_A_COMMAND]


@click.command("ingest")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--env", required=True, metavar="NAME", help="The environment whose cell it is.")
@click.option("--attempt", type=click.IntRange(min=1), required=True, help="The attempt that it is.")
@click.option("--seed", type=click.IntRange(min=0), required=True, help="The seed with which it ran, as `command` says it.")
@click.option(
    "--format",
    "kind",
    type=click.Choice([each.value for each in ResultFormat]),
    default=None,
    help="What it is. [default: seen from it]",
)
@click.option("--beside", multiple=True, type=FILE, help="A cell or report whose ids it is to have; may be repeated.")
@click.option("--out", default=None, metavar="PATH", help="Where the cell goes. [default: ENV-ATTEMPT.json]")
@click.option("--attempts", type=int, default=None, help="Attempts that each environment is to have. [default: as configured, 2]")
@PROJECT
def ingest(**given: Any) -> int:
    """Make a cell of what pytest said elsewhere, in FILE (`-`: stdin): its output, a JUnit XML or a report log.

    Ends with 0 where all of its tests are known, and with 4 where they are not.
    """
    options = msgspec.convert(given, IngestOptions)
    place = place_of(options.out or f"{options.env}-{options.attempt}.json")
    places.check(place)
    known = frozenset(run.nodeid for path in options.beside for cell in archive.read_cells(path).cells for run in cell.tests)
    found = detecting.read(_content(options.file), None if options.kind is None else ResultFormat(options.kind))
    project = absolute(options.project).resolve()
    settings = options.settings(project)
    made = making.cell(found, Given(env=options.env, attempt=options.attempt, seed=options.seed), known)
    cell = with_remarks(made, settings.environments.get(options.env))
    file = CellFile(
        schema=SCHEMA,
        paritygate=version(),
        subject=Subject(project=project.name, commit="", trees={}, selection=()),
        cells=(cell,),
        environments=(_record(settings, options.env, cell),),
        planned=planned_by(settings) if options.env in settings.environments else {},
    )
    archive.write(file, place)
    return _answered(cell, place)


class IngestOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What `paritygate ingest` was told; the declarations of the command say what each is."""

    file: str
    env: str
    attempt: int
    seed: int
    kind: str | None
    beside: tuple[Path, ...]
    out: str | None
    attempts: int | None
    project: str

    def settings(self, project: Path) -> Settings:
        """Say what the project configures, with variables and the command line over it."""
        settings = config_file.load(project).settings
        settings = config_file.apply(settings, config_file.overrides_from_variables(dict(os.environ)), "the environment")
        return config_file.apply(settings, Overrides(attempts=self.attempts), "the command line")


def _content(file: str) -> bytes:
    if file != "-":
        return places.read(absolute(file))
    content = sys.stdin.buffer.read(places.MOST_BYTES + 1)
    if len(content) > places.MOST_BYTES:
        raise UsageError(f"stdin has more than {places.MOST_BYTES >> 20} MiB, which no run writes", "give the run alone")
    return content


def _record(settings: Settings, env: str, cell: Cell) -> EnvironmentRecord:
    """Say of the environment what the project asks of it and the command sets, and how many workers were seen.

    Where something else was measured that is not what it had.
    """
    asked = settings.environments.get(env)
    measured = cell.told.measured if cell.told is not None else None
    axes: dict[Axis, str] = {}
    if asked is not None:
        axes[Axis.LOCALE] = asked.locale if measured is None else measured.locale
        if asked.timezone != "auto" and (measured is None or is_zone(asked.timezone, measured)):
            axes[Axis.TIMEZONE] = asked.timezone
    if cell.told is not None and cell.told.format is not ResultFormat.JUNIT:
        axes[Axis.WORKERS] = str(cell.workers)
    return EnvironmentRecord(name=cell.env, axes=axes)


def with_remarks(cell: Cell, asked: EnvironmentSettings | None) -> Cell:
    """Say of a cell what its environment was to have, and was measured not to."""
    if asked is None or cell.told is None or cell.told.measured is None:
        return cell
    said = tuple(_not_had(asked, cell.told.measured))
    return msgspec.structs.replace(cell, told=msgspec.structs.replace(cell.told, remarks=(*cell.told.remarks, *said)))


def _not_had(asked: EnvironmentSettings, measured: Measured) -> Iterator[str]:
    if _spelled(asked.locale) != _spelled(measured.locale):
        yield f"locale `{asked.locale}` was asked for, and it had `{measured.locale}`: is it generated there?"
    if asked.timezone != "auto" and not is_zone(asked.timezone, measured):
        hours = f"{measured.utcoffset_january / 3600:+g} and {measured.utcoffset_july / 3600:+g} h from UTC in January and July"
        yield f"time zone `{asked.timezone}` was asked for, and it was {hours}: is it known there?"


def _spelled(locale: str) -> str:
    """Spell a locale alike, however its character set is written."""
    return locale.lower().replace("utf8", "utf-8")


def _answered(cell: Cell, place: Path) -> int:
    red = sum(not run.outcome.green for run in cell.tests)
    told = cell.told.format if cell.told is not None else ""
    click.echo(f"`{cell.env}` attempt {cell.attempt} from {told}: {cell.status}, {len(cell.tests)} tests known, {red} red")
    for remark in cell.told.remarks if cell.told is not None else ():
        click.echo(f"note: {remark}")
    click.echo(f"cell: {nearest(place)}")
    if cell.status is not CellStatus.INCOMPLETE:
        return ExitCode.PARITY if cell.tests else ExitCode.NO_VERDICT
    click.echo(f"not all is known: {cell.detail}")
    click.echo(
        f"hint: run `paritygate command {cell.env} {cell.attempt}`, and paste all that its command prints, or give its JUnit XML"
    )
    return ExitCode.NO_VERDICT
