"""JSON files that people keep under version control: read strictly, written so that a diff shows what moved.

It knows nothing of what is in them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import NoReturn


def read_map(content: bytes) -> dict[str, object]:
    """Read an object at the top level; raises `ValueError`, with the place, for all else, and for a name that is there twice."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ValueError(f"line {line}: it is not UTF-8, which JSON has to be") from error
    if text.lstrip().startswith(("<<<<<<<", "{\n<<<<<<<")) or "\n<<<<<<< " in text:
        raise ValueError("it holds the marks of a merge that was not finished")
    try:
        found = json.loads(text, object_pairs_hook=_pairs, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: it is not JSON: {error.msg.lower()}") from error
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(found, dict):
        raise ValueError("expected an object, `{...}`, at its top")  # noqa: TRY004  # one kind of error for whatever is wrong
    return found


def write_map(values: Mapping[str, object]) -> bytes:
    """Write an object, names sorted, one to a line, so that equal objects are equal bytes."""
    return (json.dumps(values, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _pairs(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    """Make an object of its members, where no name is there twice and all text can be written again."""
    found: dict[str, object] = {}
    for name, value in pairs:
        for text in (name, value):
            if isinstance(text, str) and any("\ud800" <= letter <= "\udfff" for letter in text):
                raise ValueError(f"{name!r} holds half a surrogate pair, which is no text")
        if name in found:
            raise ValueError(f"`{name}` is there twice")
        found[name] = value
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"`{name}` is no JSON")
