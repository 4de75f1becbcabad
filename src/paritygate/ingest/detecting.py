"""Tells from what is in it what something pasted is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from paritygate.ingest import junit, reportlog, terminal
from paritygate.ingest.found import Found
from paritygate.outcomes.words import ResultFormat

READERS: Mapping[ResultFormat, Callable[[bytes], Found]] = MappingProxyType(
    {ResultFormat.TERMINAL: terminal.read, ResultFormat.JUNIT: junit.read, ResultFormat.REPORTLOG: reportlog.read}
)
_XML = re.compile(rb"^\s*(?:\xef\xbb\xbf)?(?=<(?:\?xml|testsuites?[ >]|!DOCTYPE))", re.MULTILINE)
_SESSION = re.compile(rb"={3,} test session starts ={3,}")
_UTF_16 = (b"\xff\xfe<\x00", b"\xfe\xff\x00<")


def detect(content: bytes) -> ResultFormat:
    """Say which of the formats it is; what is none of the files for programs is taken for a terminal's."""
    if content.startswith(_UTF_16) or (_XML.search(content[: 1 << 16]) and not _SESSION.search(content)):
        return ResultFormat.JUNIT
    first = content.lstrip().partition(b"\n")[0]
    return ResultFormat.REPORTLOG if first.startswith(b"{") and b"report_type" in first else ResultFormat.TERMINAL


def read(content: bytes, format_: ResultFormat | None = None) -> Found:
    """Read a run that was pasted; raises `UsageError` where it is not what it is said to be."""
    kind = format_ or detect(content)
    if kind is ResultFormat.JUNIT and (begin := _XML.search(content)):
        content = content[begin.end() :]  # what was typed to show the file may stand before it
    return READERS[kind](content)
