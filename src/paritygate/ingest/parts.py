"""Takes pasted output apart: header, lines while tests run, summary, last line; it weighs nothing of what they say."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from paritygate.ingest import progress, summary
from paritygate.ingest.progress import Progress
from paritygate.ingest.summary import Folded, Header, Named

START = re.compile(r"={3,} test session starts.* ={3,}")
_SECTION = re.compile(
    r"={3,} (?:ERRORS|FAILURES|PASSES|XFAILURES|XPASSES|warnings summary.*|short test summary info|rerun test summary info"
    r"|slowest .*|.*durations.*|tests coverage) ={3,}|-{3,} coverage: .*"
)
_SUMMARY = re.compile(r"={3,} short test summary info ={3,}")
_COLLECTING = re.compile(r"_{3,} ERROR collecting (?P<file>\S.*?) _{3,}")
_SUGAR = re.compile(r"Test session starts \(platform: |Results \([\d.]+s\):$")
_DIED = re.compile(r"worker '(?P<worker>gw\d+)' crashed while running '(?P<test>.+)'")


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What a pasted text is made of; `numbers` is None where pytest's last line is not in it."""

    headed: bool
    header: Header
    progress: Progress
    named: tuple[Named, ...]
    folded: tuple[Folded, ...]
    broken: tuple[str, ...]
    died: frozenset[str]
    numbers: dict[str, int] | None
    stopped: str
    several: bool = False
    sugared: bool = False


def apart(lines: Sequence[str]) -> Parts:
    """Take the lines of a run apart, without those at the ends that may not be whole."""
    lines = _whole_lines(lines)
    start = next((number for number, line in enumerate(lines) if START.fullmatch(line.strip())), -1)
    body = lines[start + 1 :]
    last = _last_line(body)
    end = next((number for number, line in enumerate(body) if _SECTION.fullmatch(line.strip())), len(body))
    running = body[: last if 0 <= last < end else end]
    found = progress.read(running)
    at = max((number for number, line in enumerate(body) if _SUMMARY.fullmatch(line.strip())), default=len(body))
    closing = body[at + 1 : last if last > at else len(body)]
    named, folded = summary.named(closing, {word.nodeid for word in found.words})
    before = next((number for number, line in enumerate(body) if "::" in line), len(body))
    return Parts(
        headed=start >= 0,
        header=summary.header(body[:before]) if start >= 0 else Header(),
        progress=found,
        named=named,
        folded=folded,
        broken=tuple(dict.fromkeys(match["file"] for line in body if (match := _COLLECTING.fullmatch(line.strip())))),
        died=frozenset(match["test"] for line in body if (match := _DIED.search(line))),
        numbers=summary.counts(body[last]) if last >= 0 else None,
        stopped=summary.stopped(body[at:]) or summary.stopped(body[end:]),
        several=_is_several(body, end),
        sugared=start < 0 and any(_SUGAR.match(line) for line in lines),
    )


def _is_several(body: Sequence[str], end: int) -> bool:
    """Say whether another run begins behind the end of the first; within a section a test of pytest itself may show one."""
    over = next((number for number, line in enumerate(body[:end]) if summary.counts(line) is not None), len(body))
    return any(START.fullmatch(line.strip()) for line in body[over:end])


def _last_line(body: Sequence[str]) -> int:
    """Find the line with the final numbers, -1 where it is missing: behind one that a test has printed more sections follow."""
    last = max((number for number, line in enumerate(body) if summary.counts(line) is not None), default=-1)
    return -1 if any(_SECTION.fullmatch(line.strip()) for line in body[last + 1 :]) else last


def _whole_lines(lines: Sequence[str]) -> Sequence[str]:
    """Leave out a last line that does not end, unless it is pytest's last, and a first one that may have lost its beginning."""
    if lines and lines[-1] and summary.counts(lines[-1]) is None:
        lines = lines[:-1]
    headed = any(START.fullmatch(line.strip()) for line in lines)
    return lines if headed or (lines and summary.counts(lines[0]) is not None) else lines[1:]
