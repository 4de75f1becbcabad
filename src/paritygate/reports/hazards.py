"""Hazards as text for people, as annotations for GitHub, as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from itertools import groupby

import msgspec

from paritygate.hazards.check import Checked, Suppressed
from paritygate.outcomes.hazards import Hazard
from paritygate.reports.text import spell_out
from paritygate.reports.workflow import MOST_ANNOTATIONS, Annotation, Level

SCHEMA = 1


class Format(StrEnum):
    """How hazards are said."""

    TEXT = "text"
    GITHUB = "github"
    JSON = "json"


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """What `--format json` prints. `read` counts files; `ruff` says whether its rules were looked for."""

    schema: int
    paritygate: str
    hazards: tuple[Hazard, ...]
    suppressed: tuple[Suppressed, ...]
    unread: dict[str, str]
    read: int
    ruff: bool


def sure(checked: Checked) -> Checked:
    """Leave out what only somebody who knows the project could tell."""
    return msgspec.structs.replace(checked, hazards=tuple(each for each in checked.hazards if each.sure))


def render(checked: Checked, form: Format, version: str, *, with_ruff: bool) -> str:
    """Say what was found; text and annotations are empty where nothing was."""
    match form:
        case Format.TEXT:
            return "\n".join(_text(checked))
        case Format.GITHUB:
            return "\n".join(_annotations(checked.hazards))
        case Format.JSON:
            document = Document(
                schema=SCHEMA,
                paritygate=version,
                hazards=checked.hazards,
                suppressed=checked.suppressed,
                unread=checked.unread,
                read=checked.read,
                ruff=with_ruff,
            )
            return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def _text(checked: Checked) -> Iterator[str]:
    by_kind = sorted(checked.hazards, key=lambda hazard: hazard.kind)
    for kind, group in groupby(by_kind, key=lambda hazard: hazard.kind):
        hazards = list(group)
        yield f"{kind}: {hazards[0].why}"
        yield f"  instead: {hazards[0].instead}"
        for hazard in hazards:
            yield f"  {place(hazard)} {spell_out(hazard.what)}"


def place(hazard: Hazard) -> str:
    """Say where a hazard is, as editors understand it."""
    return f"{spell_out(hazard.file)}:{hazard.line}:{hazard.column}:"


def _annotations(hazards: tuple[Hazard, ...]) -> Iterator[str]:
    shown = hazards if len(hazards) <= MOST_ANNOTATIONS else hazards[: MOST_ANNOTATIONS - 1]
    for hazard in shown:
        said = f"{hazard.what}: {hazard.why}; instead: {hazard.instead}"
        where = Annotation(
            level=Level.ERROR, text=said, title=hazard.kind, file=hazard.file, line=hazard.line, column=hazard.column
        )
        yield str(where)
    if more := len(hazards) - len(shown):
        yield str(
            Annotation(level=Level.ERROR, text=f"{more} more hazards; `paritygate hazards` lists them all", title="hazards")
        )


def summary(checked: Checked, unsaid: int = 0) -> str:
    """Say in one line what was looked at and what was found; `unsaid` counts what is not sure and was not asked for."""
    unread = f", {len(checked.unread)} not read" if checked.unread else ""
    files = f"{checked.read} file{'s' * (checked.read != 1)} read{unread}"
    hazards = f"{len(checked.hazards)} hazard{'s' * (len(checked.hazards) != 1)}"
    let_be = f", {len(checked.suppressed)} let be with a reason" if checked.suppressed else ""
    more = f", {unsaid} more that may be one (`--all` lists {'them' if unsaid > 1 else 'it'})" if unsaid else ""
    return f"{hazards} in {files}{let_be}{more}"
