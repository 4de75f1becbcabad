"""The ledger's format: an object of node ids, each with `owner`, `expires`, `evidence` and `reason`.

It reads and writes text only; what day it is and which tests there are is for `checking` to be told.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import date
from types import MappingProxyType

import msgspec

from paritygate import strict_json
from paritygate.outcomes.words import Label, Outcome

REQUIRED = ("owner", "expires", "evidence", "reason")
WIDTH = 60
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Extension(msgspec.Struct, frozen=True, kw_only=True):
    """One time that the end of a freeze was moved: when, from which day to which, and why."""

    on: str
    before: str
    after: str
    reason: str = ""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One frozen test. `expires` is the last day on which it is let through.

    `fingerprint` lists in which ways it failed, `outcomes` everything that it did, `since` is the day on which it was frozen;
    empty or None where an entry written by hand does not say. `fields` is all that the entry holds, what nobody here knows
    included.
    """

    owner: str
    expires: date
    reason: str
    fingerprint: tuple[str, ...] = ()
    outcomes: frozenset[str] = frozenset()
    since: date | None = None
    extended: tuple[Extension, ...] = ()
    fields: dict[str, object] = {}


class Ledger(msgspec.Struct, frozen=True, kw_only=True):
    """The entries that can be read, by node id, and what is wrong with the others, by node id; empty for the whole ledger.

    `written` is what stands there for each id, whether or not it can be read; None where the whole cannot.
    """

    entries: dict[str, Entry] = {}
    faults: tuple[tuple[str, str], ...] = ()
    written: dict[str, object] | None = None

    def only(self, nodeids: Collection[str]) -> Ledger:
        """Leave out all but some ids."""
        return Ledger(
            entries={nodeid: entry for nodeid, entry in self.entries.items() if nodeid in nodeids},
            faults=tuple(fault for fault in self.faults if fault[0] in nodeids),
            written={nodeid: fields for nodeid, fields in (self.written or {}).items() if nodeid in nodeids},
        )


def read(content: bytes) -> Ledger:
    """Read a ledger; nothing in it is believed that cannot be understood."""
    try:
        found = strict_json.read_map(content)
    except ValueError as error:
        return Ledger(faults=(("", str(error)),))
    entries: dict[str, Entry] = {}
    faults: list[tuple[str, str]] = []
    for nodeid, fields in found.items():
        wrong = list(_wrong(nodeid, fields))
        faults += [(nodeid, fault) for fault in wrong]
        if not wrong and isinstance(fields, dict):
            entries[nodeid] = _entry(fields)
    return Ledger(entries=entries, faults=tuple(faults), written=found)


def write(entries: Mapping[str, Entry]) -> bytes:
    """Write a ledger: sorted by node id, with every field that an entry was read with."""
    return strict_json.write_map({nodeid: entry.fields for nodeid, entry in entries.items()})


def made(fields: dict[str, object]) -> Entry:
    """Make an entry of fields that are known to be right."""
    return _entry(fields)


def day_of(text: object) -> date | None:
    """Read a calendar day, `YYYY-MM-DD` and nothing else; None for what is none."""
    if not isinstance(text, str) or DAY.fullmatch(text) is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _wrong(nodeid: str, fields: object) -> Iterator[str]:
    """Say everything that is wrong with an entry."""
    file, _, test = nodeid.partition("::")
    if not test.strip() or not file.strip() or file.startswith(("/", "../")) or posixpath.normpath(file) != file:
        yield "its name is not the id of a test, such as `tests/test_a.py::test_b`"
    if not isinstance(fields, dict):
        yield f"expected an object with {', '.join(f'`{name}`' for name in REQUIRED)}"
        return
    missing = [name for name in REQUIRED if name not in fields]
    if missing:
        yield f"{', '.join(f'`{name}`' for name in missing)} {'is' if len(missing) == 1 else 'are'} missing"
    for name, value in fields.items():
        if name in EXPECTED and not EXPECTED[name][0](value):
            yield f"`{name}` is {_shown(value)}; {EXPECTED[name][1]}"


def _entry(fields: dict[str, object]) -> Entry:
    expires = day_of(fields["expires"])
    fingerprint = fields.get("fingerprint", [])
    ways = [fingerprint] if isinstance(fingerprint, str) else fingerprint
    return Entry(
        owner=str(fields["owner"]).strip(),
        expires=date.min if expires is None else expires,
        reason=str(fields["reason"]).strip(),
        fingerprint=tuple(str(way) for way in ways if way) if isinstance(ways, list) else (),
        outcomes=frozenset(_words(fields.get("cells"))),
        since=day_of(fields.get("since")),
        extended=_extensions(fields.get("extended", [])) or (),
        fields=fields,
    )


def _words(cells: object) -> Iterator[str]:
    """Yield the outcomes that `cells` tells of: for each environment a list, or an object that counts them."""
    for attempts in cells.values() if isinstance(cells, dict) else ():
        if isinstance(attempts, list | dict):
            yield from (word for word in attempts if isinstance(word, str))


def _extensions(found: object) -> tuple[Extension, ...] | None:
    try:
        return msgspec.convert(found, tuple[Extension, ...])
    except msgspec.ValidationError:
        return None


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _are_texts(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(each, str) for each in value))


def _shown(value: object) -> str:
    if isinstance(value, str):
        return f"`{value}`" if value.strip() else "empty"
    return f"`{json.dumps(value)[:WIDTH]}`"


EXPECTED: Mapping[str, tuple[Callable[[object], bool], str]] = MappingProxyType(
    {
        "owner": (_is_text, "say who answers for it"),
        "reason": (_is_text, "say why it is frozen"),
        "evidence": (
            lambda value: _is_text(value) or (isinstance(value, dict) and bool(value)),
            "name the report that proves it",
        ),
        "expires": (lambda value: day_of(value) is not None, "write the last day as YYYY-MM-DD"),
        "since": (lambda value: day_of(value) is not None, "write a day as YYYY-MM-DD"),
        "label": (lambda value: value == Label.NONDETERMINISM, f"only `{Label.NONDETERMINISM}` may be frozen"),
        "fingerprint": (_are_texts, "write text, or an array of texts"),
        "cells": (
            lambda value: len(words := set(_words(value))) != 1 or not words <= set(Outcome),
            "nothing there disagrees with itself, which is all that may be frozen",
        ),
        "extended": (lambda value: _extensions(value) is not None, "write an array of objects with `on`, `before` and `after`"),
    }
)
"""The fields with a meaning: what each must be, and how to say so."""
