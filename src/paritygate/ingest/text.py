"""Pasted text made plain again: colours, time stamps, prompts and margins taken off, lines as pytest wrote them."""

from __future__ import annotations

import codecs
import re

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])?")
_BACK = re.compile(r"[^\n]\x08")
_STAMP = re.compile(
    r"(?:[\w .()/-]{1,80}\t[\w .()/-]{1,80}\t)?"  # job and step, as `gh run view --log` has them
    r"\ufeff?(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?|\[?\d\d:\d\d:\d\d(?:\.\d+)?\]?)"
    r"(?: \d\d[OE]\+?)?(?: |$)"
)
_TITLE = re.compile(r"={3,} (?:test session starts|ERRORS|FAILURES|short test summary info) ={3,}")
MOST_STAMPED = 0.5
"""Time stamps are taken off where at least this part of the lines begins with one: else a line of pytest's could be meant."""


def decoded(content: bytes) -> str:
    """Read bytes as text, whatever a shell has made of them: PowerShell writes UTF-16."""
    for mark, name in _MARKS:
        if content.startswith(mark):
            return content.decode(name, errors="replace")
    if content[1:64:2].count(0) > len(content[:64]) // 4:  # UTF-16 whose mark is lost
        return content.decode("utf-16-le", errors="replace")
    return content.decode("utf-8", errors="replace")


def lines(content: bytes) -> list[str]:
    """Split pasted text into the lines that pytest wrote, without what others have put around them."""
    text = _ESCAPE.sub("", decoded(content)).replace("\ufeff", "")
    while _BACK.search(text):
        text = _BACK.sub("", text)
    plain = [line.replace("\x00", "") for line in re.split(r"\r*\n|\r", text)]
    return _without_margin(_without_stamps(plain))


def _without_stamps(plain: list[str]) -> list[str]:
    found = [_STAMP.match(line) for line in plain]
    written = sum(1 for line in plain if line.strip())
    if sum(1 for each in found if each) < max(1, MOST_STAMPED * written):
        return plain
    return [line[each.end() :] if each else line for line, each in zip(plain, found, strict=True)]


def _without_margin(plain: list[str]) -> list[str]:
    """Take off what stands before pytest's titles, where it stands before other lines as well: indentation, `> `, `name | `."""
    title = next(((line, found) for line in plain if (found := _TITLE.search(line)) and found.start()), None)
    if title is None:
        return plain
    margin = title[0][: title[1].start()].rstrip("=")
    if not margin or sum(line.startswith(margin) for line in plain if line.strip()) < 2:  # noqa: PLR2004 - the title and another
        return plain
    return [line.removeprefix(margin) for line in plain]
