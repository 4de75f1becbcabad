"""Hazards as text for people, as annotations for GitHub, as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import groupby

import msgspec

from paritygate.hazards.check import Checked, Suppressed
from paritygate.hazards.source import Role, role_of
from paritygate.outcomes.hazards import Hazard, HazardKind
from paritygate.reports.text import spell_out
from paritygate.reports.workflow import MOST_ANNOTATIONS, Annotation, Level

SCHEMA = 1
_FACTS = frozenset({HazardKind.NAME_CASE, HazardKind.UNTRACKED_FILE, HazardKind.SUPPRESSION})
"""Kinds that git, or the comment itself, proves wherever they are."""


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


class HeldBack(msgspec.Struct, frozen=True):
    """How many are not listed unless they are asked for: sure ones outside of tests, and those that may be none."""

    outside: int = 0
    unsure: int = 0


def by_default(checked: Checked, named: Sequence[str]) -> tuple[Checked, HeldBack]:
    """Leave out what only somebody who knows the project could tell.

    That is what is not sure, and what a package does with clock, locale and order, which may be what it is for; but not where
    the user `named` the file or a folder above it.
    """
    sure = [each for each in checked.hazards if each.sure]
    listed = tuple(each for each in sure if _stands_by_itself(each) or _named(each.file, named))
    held_back = HeldBack(outside=len(sure) - len(listed), unsure=len(checked.hazards) - len(sure))
    return msgspec.structs.replace(checked, hazards=listed), held_back


def _stands_by_itself(hazard: Hazard) -> bool:
    return hazard.kind in _FACTS or role_of(hazard.file) is not Role.PACKAGE


def _named(file: str, named: Sequence[str]) -> bool:
    return any(file == place or file.startswith(f"{place}/") for place in named)


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


def summary(checked: Checked, held_back: HeldBack) -> str:
    """Say in one line what was looked at, what was found, and how many are held back and why."""
    unread = f", {len(checked.unread)} not read" if checked.unread else ""
    files = f"{checked.read} file{'s' * (checked.read != 1)} read{unread}"
    hazards = f"{len(checked.hazards)} hazard{'s' * (len(checked.hazards) != 1)}"
    let_be = f", {len(checked.suppressed)} let be with a reason" if checked.suppressed else ""
    outside, unsure = held_back.outside, held_back.unsure
    meant = (
        f", {outside} more outside of tests, where {_them(outside, 'it', 'they')} may be meant so "
        f"(`--all` or {_them(outside, 'its path lists it', 'their paths list them')})"
    )
    maybe = f", {unsure} more that may be one (`--all` lists {_them(unsure, 'it', 'them')})"
    return f"{hazards} in {files}{let_be}{meant if outside else ''}{maybe if unsure else ''}"


def _them(count: int, one: str, several: str) -> str:
    return one if count == 1 else several
