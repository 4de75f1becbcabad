"""`paritygate report`, and the options of `run` that say in which format it is told, and where else a page is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from paritygate import archive, places
from paritygate.cli.options import DEBUG, LAST_REPORT
from paritygate.cli.user import Streams, absolute, code_of, nearest, say_error
from paritygate.errors import ParityError, UnrecordedError, UsageError
from paritygate.gate.request import Report
from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.words import ExitCode
from paritygate.reports import brief, formats
from paritygate.reports.findings import Page
from paritygate.reports.formats import Format

Command = TypeVar("Command", bound=Callable[..., Any])

FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice([each.value for each in Format]),
    default=None,
    help="How it is told on stdout. [default: terminal]",
)
JSON = click.option(
    "--json", "as_json", is_flag=True, help="The same as `--format json`: verdict, causes, commands, in few lines."
)
OPTIONS = ("form", "as_json", "html")


class Telling(msgspec.Struct, frozen=True, kw_only=True):
    """In which format a run is told, and where a page of it is to be written besides, if anywhere."""

    form: Format = Format.TERMINAL
    html: Path | None = None


def with_formats(command: Command) -> Command:
    """Give a command that runs something the options of how it is told."""
    page = click.option("--html", default=None, metavar="FILE", help="Write the HTML report there as well.")
    return FORMAT(JSON(page(command)))


def telling(given: dict[str, Any]) -> Telling:
    """Take the options of `with_formats` out of what a command was given; raises `UsageError` for a page that has no place."""
    form, as_json, html = (given.pop(name) for name in OPTIONS)
    page = None if html is None else _place(html, "--html")
    return Telling(form=_form(form, as_json=as_json), html=page)


def _form(form: str | None, *, as_json: bool) -> Format:
    if as_json and form not in {None, Format.JSON.value}:
        raise UsageError(f"`--json` and `--format {form}` exclude each other", "give one of them")
    return Format.JSON if as_json else Format(form or Format.TERMINAL.value)


def _place(path: str, option: str) -> Path:
    if not path or path.endswith("/"):
        raise UsageError(f"`{option}` expects the path of a file, not `{path}`", "such as `report.html`")
    place = absolute(path)
    places.check(place)
    return place


@contextmanager
def told(wanted: Telling) -> Iterator[None]:
    """Tell also of a run that came to no artifact in JSON, where that was asked for."""
    try:
        yield
    except ParityError as error:
        if wanted.form is Format.JSON:
            click.echo(brief.failed(error), nl=False)
        raise


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """An artifact, the place where it was to be written, None for nowhere, and why it could not be."""

    artifact: Artifact
    place: Path | None
    unrecorded: UnrecordedError | None = None


def answer(report: Report, streams: Streams, wanted: Telling, *, quiet: bool) -> int:
    """Tell a run, write its page, say where both are, and say the exit code: 4 at least where one could not be written."""
    return tell(Told(artifact=report.artifact, place=report.path, unrecorded=report.unrecorded), streams, wanted, quiet=quiet)


def tell(made: Told, streams: Streams, wanted: Telling, *, quiet: bool) -> int:
    """Tell an artifact that may be in no file as `answer` does."""
    show(made.artifact, streams, wanted.form, _named(made.place))
    if not quiet and made.place is not None and made.unrecorded is None:
        streams.say(f"report: {nearest(made.place)}")
    code = code_of(made.artifact, made.unrecorded)
    if wanted.html is None:
        return code
    try:
        _write_page(made, streams, wanted.html)
    except UnrecordedError as error:
        say_error(error)
        return max(code, ExitCode.NO_VERDICT)
    if not quiet:
        streams.say(f"page: {nearest(wanted.html)}")
    return code


def _named(place: Path | None) -> str:
    return "" if place is None else nearest(place)


def _write_page(made: Told, streams: Streams, place: Path) -> None:
    if made.place is not None and place.resolve() == made.place.resolve():
        raise UnrecordedError(f"`--html {place}` would overwrite the report", "give it another name")
    page = formats.render(made.artifact, Format.HTML, Page(streams.width, _named(made.place)))
    places.write(page.encode("utf-8", "backslashreplace"), place)


def show(artifact: Artifact, streams: Streams, form: Format, report: str) -> None:
    """Tell a run on stdout."""
    page = Page(streams.width, report, fold=streams.answers.is_terminal)
    text = formats.render(artifact, form, page, colour=streams.colour)
    click.echo(text, nl=form is Format.TERMINAL)


@click.command("report")
@LAST_REPORT
@FORMAT
@JSON
@click.option("--html", is_flag=True, help="The same as `--format html`.")
@click.option("--output", "-o", default=None, metavar="FILE", help="Write it there instead of to stdout.")
@DEBUG
def report(*, report: Path, form: str | None, as_json: bool, html: bool, output: str | None) -> int:
    """Tell REPORT, the artifact of a run, in a format: for people, a page, a pull request, a workflow's log, or programs.

    It ends with 0 whatever the verdict is; `paritygate verify` is what holds a report to its cells.
    """
    if html and (as_json or form not in {None, Format.HTML.value}):
        raise UsageError("`--html` and another format exclude each other", "give one of them")
    wanted = Format.HTML if html else _form(form, as_json=as_json)
    place = None if output is None else _place(output, "--output")
    if place is not None and place.resolve() == absolute(str(report)).resolve():
        raise UsageError(f"`--output {output}` would overwrite the report itself", "give it another name")
    artifact = archive.read(report)
    streams = Streams()
    if place is None:
        show(artifact, streams, wanted, nearest(absolute(str(report))))
        return ExitCode.PARITY
    text = formats.render(artifact, wanted, Page(streams.width, nearest(absolute(str(report)))))
    places.write(text.encode("utf-8", "backslashreplace"), place)
    streams.say(f"{wanted}: {nearest(place)}")
    return ExitCode.PARITY
