"""Options that several commands have, each declared once, and what the commands with many were told."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import msgspec
from click.decorators import FC

from paritygate import places
from paritygate.cli import project_folder
from paritygate.cli.user import absolute, place_of
from paritygate.config.file import Overrides
from paritygate.config.settings import USUAL_REPORT
from paritygate.errors import UsageError
from paritygate.gate.afterwards import Afterwards
from paritygate.gate.request import Request
from paritygate.outcomes.words import RunnerChoice
from paritygate.repro.request import Wanted


class Seconds(click.FloatRange):
    """A time that is a number: `nan` is none, and neither is `inf`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read a number of seconds, 0 or more."""
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not (math.isfinite(seconds) and seconds >= 0):
            self.fail(f"{value!r} is no number of seconds: write 0 or more.", param, ctx)
        return seconds


class ReportFile(click.Path):
    """The artifact of a run, which is a file."""

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Find the file; raises `UsageError` with what writes one where there is none."""
        if not os.path.lexists(value):
            raise UsageError(f"there is no report `{value}`", f"`paritygate run` writes one, by itself as `{USUAL_REPORT}`")
        return super().convert(value, param, ctx)


SECONDS = Seconds(min=0)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
"""A file that is there."""
HOST = click.option("--host", default="", metavar="URL", help="The engine to use, such as unix:///run/docker.sock.")
RUNNER = click.option(
    "--runner",
    type=click.Choice([each.value for each in RunnerChoice]),
    default=None,
    help="Where cells run: on an engine, this computer itself (host), or another one (ssh). [default: as configured, else auto]",
)
PROJECT = click.option(
    "--project",
    default=None,
    callback=lambda _context, _option, named: project_folder.by_default() if named is None else named,
    type=click.Path(exists=True, file_okay=False),
    help="The project's folder. [default: here]",
)

# `main` has taken the word before click sees it, wherever it stands: this is for the help text.
DEBUG = click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks and a log of what is done.")
REPORT = click.argument("report", type=ReportFile())
LAST_REPORT = click.argument("report", type=ReportFile(), default=USUAL_REPORT)
"""A report that need not be named where it lies here under its usual name."""
CHECKOUT = click.option(
    "--project",
    default=None,
    type=click.Path(exists=True, file_okay=False),
    help="The project's folder, of which cells that ran without an engine are made. [default: the report's]",
)
VARIABLES = click.option(
    "--variable",
    "variables",
    multiple=True,
    metavar="NAME=VALUE",
    help="The value of a variable that the report withholds, since it sounds secret; may be repeated.",
)
QUIET = click.option("--quiet", "-q", is_flag=True, help="Say nothing but the answer.")
VERBOSE = click.option("--verbose", "-v", is_flag=True, help="Say every step of every cell, each in a line of its own.")


def check_much(*, quiet: bool, verbose: bool) -> None:
    """Refuse what excludes each other."""
    if quiet and verbose:
        raise UsageError("`--quiet` and `--verbose` exclude each other", "give one of them")


def budget(default: str) -> Callable[[FC], FC]:
    """Declare the option that bounds the search for causes."""
    said = f"For how long causes are looked for, 0 for not at all. [default: {default}]"
    return click.option("--explain-budget", type=SECONDS, default=None, metavar="SECONDS", help=said)


def artifact_at(name: str, default: str = "") -> Callable[[FC], FC]:
    """Declare the option that says where the artifact goes; it is handed on under `name`."""
    said = f"Where the artifact goes.{f' [default: {default}]' if default else ''}"
    return click.option("--report", name, default=None, metavar="PATH", help=said)


def checkout_of(project: str | None, report: Path) -> Path:
    """Say which folder is the project of a report."""
    return absolute(str(report.parent) if project is None else project).resolve()


def values_of(variables: tuple[str, ...]) -> dict[str, str]:
    """Read what `--variable` was given."""
    for each in variables:
        if not each.partition("=")[1]:
            raise UsageError(f"`--variable {each}` has no `=`", "write `--variable NAME=VALUE`")
    return dict(each.split("=", 1) for each in variables)


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
    respect_pins: bool
    changed: str | None
    report: str | None
    host: str
    runner: RunnerChoice | None
    quiet: bool
    verbose: bool = False
    sweeps: tuple[str, ...] | None = None
    sweep_budget: float | None = None

    def request(self, report: Path | None = None) -> Request:
        """Say what the gate is asked for, or with another place for its report what else is to be run of the same."""
        check_much(quiet=self.quiet, verbose=self.verbose)
        overrides = Overrides(
            selection=self.selection,
            environments=self.environments,
            without_axes=self.without_axes,
            attempts=self.attempts,
            seeds=self.seeds,
            cell_timeout=self.timeout,
            report=str(report) if report is not None else "" if self.report is None else str(place_of(self.report)),
            runner=self.runner,
            one_engine=bool(self.host),
        )
        return Request(
            project=absolute(self.project).resolve(),
            overrides=overrides,
            keyword=self.keyword,
            marker=self.marker,
            arguments=self.arguments,
            explain_budget=self.explain_budget,
            ledger_from=self.ledger_from,
            respect_pins=self.respect_pins,
            changed=self.changed,
        )


class ExplainOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What `paritygate explain` was told; the declarations of the command say what each is."""

    report: Path
    project: str | None
    explain_budget: float | None
    place: str | None
    variables: tuple[str, ...]
    host: str
    quiet: bool
    verbose: bool = False

    def asked(self) -> Afterwards:
        """Say what is to be explained."""
        check_much(quiet=self.quiet, verbose=self.verbose)
        return Afterwards(
            report=self.report,
            project=checkout_of(self.project, self.report),
            place=None if self.place is None else place_of(self.place),
            seconds=self.explain_budget,
            variables=values_of(self.variables),
        )


class ReproOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What `paritygate repro` was told; the declarations of the command say what each is."""

    report: Path
    nodeid: str
    cell: str
    number: int | None
    alone: bool
    shell: bool
    line: bool
    project: str | None
    variables: tuple[str, ...]
    host: str
    quiet: bool

    def wanted(self) -> Wanted:
        """Say what is to be reproduced."""
        return Wanted(
            report=self.report,
            nodeid=self.nodeid,
            project=checkout_of(self.project, self.report),
            number=self.number or 0,
            cell=self.cell,
            alone=self.alone,
            variables=values_of(self.variables),
        )


class ClassifyOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What `paritygate classify` was told; the declarations of the command say what each is."""

    files: tuple[Path, ...]
    report: str | None
    project: str
    ledger_from: str
    quiet: bool

    def place(self) -> Path | None:
        """Say where the artifact goes, None for nowhere; raises `UsageError` where it cannot be written."""
        place = None if self.report is None else place_of(self.report)
        if place is not None:
            places.check(place)
        return place

    def folder(self) -> Path:
        """Say which project's freezes are held."""
        return absolute(self.project).resolve()
