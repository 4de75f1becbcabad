"""Tells a test's id from the words around it, though it may hold blanks, dashes, brackets and the words of outcomes itself."""

from __future__ import annotations

import re
from collections.abc import Collection

_PARAMETERS = r"\[.*\]"
_NAME = re.compile(rf"[^\[\]\s][^\[\]\s]*(?:{_PARAMETERS})?(?:@\w+)?")
_WRITTEN_ELSEWHERE = re.compile(r" <- (?:\S.*)$")


def is_one(text: str) -> bool:
    """Say whether a text can be a test's id: a path, `::`, and names without blanks except in the brackets of parameters."""
    path, separator, names = text.partition("::")
    return bool(separator and path.strip() == path and path and "." in path and _NAME.fullmatch(names))


def plain(text: str) -> str:
    """Write an id as pytest itself has it: without the file that an inherited test is written in, and with `/` in its path."""
    text = _WRITTEN_ELSEWHERE.sub("", text.strip())
    path, separator, names = text.partition("::")
    return path.replace("\\", "/") + separator + names


def at_start(text: str, separator: str, known: Collection[str]) -> str:
    """Find the id with which a text begins, behind which there is nothing or `separator`; empty where several could be meant.

    Ids that are `known` from elsewhere decide; else the brackets of parameters, where they are closed.
    """
    ends = [match.start() for match in re.finditer(re.escape(separator), text)]
    possible = [text[:end] for end in (*ends, len(text)) if is_one(text[:end])]
    if len(possible) == 1:
        return plain(possible[0])
    recognised = [each for each in possible if plain(each) in known]
    if recognised:
        return plain(recognised[0]) if len(recognised) == 1 else ""
    closed = [each for each in possible if _is_closed(each)]
    return plain(closed[0]) if closed and closed[0] == possible[0] else ""


def _is_closed(text: str) -> bool:
    """Say whether as many brackets close as open, none of them too early."""
    depth = 0
    for letter in text.partition("::")[2]:
        depth += (letter == "[") - (letter == "]")
        if depth < 0:
            return False
    return depth == 0
