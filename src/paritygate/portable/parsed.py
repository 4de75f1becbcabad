"""Values behind texts: two texts are compared by what they say, not by how a machine happened to write it.

Order of keys, white space, line ends, the spelling of a number or of a moment are nobody's promise; what they mean is.
"""

from __future__ import annotations

import csv
import io
import json
import math
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from urllib.parse import parse_qsl, urlsplit

Read = Callable[[str], object]
PORTS: Mapping[str, int] = MappingProxyType({"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21})
"""The ports that schemes have where none is said."""


def moment(text: str) -> datetime:
    """Read a moment as ISO 8601 has it, and say it in UTC; one without a zone is a `ValueError`."""
    read = datetime.fromisoformat(text.strip())
    if read.utcoffset() is None:
        raise ValueError(f"`{text}` names no zone, so it says no moment")
    return read.astimezone(UTC)


def table(text: str) -> object:
    """Read comma-separated values as a list of rows, whatever their line ends."""
    return [row for row in csv.reader(io.StringIO(text, newline="")) if row]


def element(text: str) -> object:
    """Read XML as name, attributes without order, text and children; white space around texts does not count."""
    return _element(ET.fromstring(text))  # noqa: S314  # what a test wrote itself


def _element(node: ET.Element) -> dict[str, object]:
    return {
        "name": node.tag,
        "attributes": dict(node.attrib),
        "text": (node.text or "").strip(),
        "children": [{**_element(child), "after": (child.tail or "").strip()} for child in node],
    }


def members(text: str) -> object:
    """Read JSON; a name that stands twice in an object is a `ValueError`, since readers disagree on which of them counts."""
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = [name for name, _ in pairs]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ValueError(f"`{twice[0]}` stands twice in one object")
    return dict(pairs)


def address(text: str) -> object:
    """Read a URL as its parts; the order of differently named parameters does not count, nor a port that goes without saying."""
    parts = urlsplit(text)
    query: dict[str, list[str]] = {}
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        query.setdefault(name, []).append(value)
    return {
        "scheme": parts.scheme,
        "host": parts.netloc.lower().removesuffix(f":{PORTS.get(parts.scheme, '')}"),
        "path": parts.path or "/",
        "query": query,
        "fragment": parts.fragment,
    }


READERS: Mapping[str, Read] = MappingProxyType(
    {"json": members, "toml": tomllib.loads, "csv": table, "xml": element, "moment": moment, "number": float, "url": address}
)
"""What `assert_same` reads by name."""


def assert_same(actual: str, expected: str, kind: str | Read, *, digits: int = 12) -> None:
    """Assert that two texts of a kind (one of `READERS`, or a function that reads) say the same.

    Numbers with a fraction may differ after so many significant `digits`. The message names the places that differ, not the
    whole texts. Raises `ValueError` for a kind that is none of `READERS`, and for a text that cannot be read, saying which.
    """
    found = list(differences(_read(actual, kind, "first"), _read(expected, kind, "second"), digits=digits))
    if found:
        raise AssertionError("they do not say the same:\n" + "\n".join(f"  {line}" for line in found))


def _read(text: str, kind: str | Read, which: str) -> object:
    if isinstance(kind, str) and kind not in READERS:
        known = ", ".join(f"`{name}`" for name in READERS)
        raise ValueError(f"there is no parser `{kind}`; there are {known}, and any function that reads a text")
    read, name = (READERS[kind], kind) if isinstance(kind, str) else (kind, getattr(kind, "__name__", repr(kind)))
    try:
        return read(text)
    except (ValueError, ET.ParseError, csv.Error) as error:
        raise ValueError(f"the {which} text cannot be read as `{name}`: {error}") from error


def differences(actual: object, expected: object, where: str = "", *, digits: int = 12) -> Iterator[str]:
    """Say place by place how two values differ; keys have no order, lists have one."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        yield from _of_keys(actual, expected, where, digits)
    elif isinstance(actual, list) and isinstance(expected, list):
        if len(actual) != len(expected):
            yield f"{where or 'the list'}: it has {len(actual)} items, {len(expected)} are expected"
        for number, (one, other) in enumerate(zip(actual, expected, strict=False)):
            yield from differences(one, other, f"{where}[{number}]", digits=digits)
    elif not _same(actual, expected, digits):
        yield f"{where or 'the value'}: {actual!r}, {expected!r} is expected"


def _of_keys(actual: dict[object, object], expected: dict[object, object], where: str, digits: int) -> Iterator[str]:
    for key in (*expected, *(key for key in actual if key not in expected)):
        place = f"{where}.{key}" if where else str(key)
        if key not in actual:
            yield f"{place}: it is missing, {expected[key]!r} is expected"
        elif key not in expected:
            yield f"{place}: {actual[key]!r} is not expected"
        else:
            yield from differences(actual[key], expected[key], place, digits=digits)


def _same(actual: object, expected: object, digits: int) -> bool:
    if isinstance(actual, bool) or isinstance(expected, bool):
        return actual is expected
    if isinstance(actual, float | int) and isinstance(expected, float | int):
        if isinstance(actual, int) and isinstance(expected, int):
            return actual == expected
        try:
            both_nan = math.isnan(actual) and math.isnan(expected)
            return both_nan or math.isclose(actual, expected, rel_tol=10.0**-digits)
        except OverflowError:  # an integer that no float can hold
            return actual == expected
    return type(actual) is type(expected) and actual == expected
