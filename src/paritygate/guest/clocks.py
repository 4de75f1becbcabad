"""Move the clock of a cell's programs, and say whether it moved: the launcher's part.

A library that is loaded into every program tells it another time of the calendar; the launcher itself has none, so that what it
measures stays true. Nothing on the computer is set.
"""

from __future__ import annotations

import datetime as dt
import os
import time
from typing import Any, Dict, Iterator, List, Optional

Json = Dict[str, Any]

PRELOAD = "/etc/ld.so.preload"
OFFSET_FILE = "/opt/paritygate/clock.offset"
VARIABLE = "PARITYGATE_CLOCK"
SECOND = 1000 * 1000 * 1000
COARSE = 1.1  # seconds: programs tell whole ones, and the kernel stamps files with its last tick
TICK = 20 * 1000 * 1000  # nanoseconds: files have the time of the last one
TOLD = (
    ("main", "`time.time()`"),
    ("thread", "`datetime.now()` in a thread"),
    ("sqlite", "SQLite's `now`"),
    ("child", "`date` in a process"),
    ("bare", "`date` in a process without variables"),
)


class UnmovableError(Exception):
    """The clock cannot be moved to where it should be."""


def offset_to(moment: str) -> int:
    """Say by how many nanoseconds the clock has to be moved to show a moment of this process's zone now; the first of two alike.

    Raises UnmovableError for one that the zone does not have, as where clocks are put forward.
    """
    wanted = dt.datetime.fromisoformat(moment)
    stamp = wanted.timestamp()
    if time.localtime(stamp)[:6] != wanted.timetuple()[:6]:
        raise UnmovableError("there is no such moment in this zone: clocks are put forward then")
    return int(stamp) * SECOND - time.time_ns()


class Span:
    """The true time and the monotonic clock at the beginning and at the end of something."""

    def __init__(self) -> None:
        self.began = self.ended = (time.time(), time.monotonic())

    def end(self) -> None:
        """Note the end."""
        self.ended = (time.time(), time.monotonic())


class Clock:
    """The clock of a cell: moved by `offset` nanoseconds; without a `wish` programs have the computer's own, and no library."""

    def __init__(self, wish: Optional[Json] = None) -> None:
        self.wish = wish or {}
        self.moment = str(self.wish.get("moment") or "")
        self.offset = offset_to(self.moment) if self.moment else 0
        self.given = str(self.offset)
        if self.wish.get("files"):
            self.given += " %d" % (time.time_ns() - TICK)

    def give(self, environment: Dict[str, str]) -> None:
        """Have every program from now on take the library: all of them where the system is the cell's own, else by a variable.

        Raises UnmovableError where it is not there.
        """
        if not self.wish:
            return
        library = str(self.wish["library"])
        if not os.path.isfile(library):
            raise UnmovableError("the library `%s` is not there" % library)
        if not self.wish.get("system"):
            environment["LD_PRELOAD"] = library
            environment[VARIABLE] = self.given
            return
        try:
            for path, content in ((OFFSET_FILE, self.given), (PRELOAD, library)):
                with open(path, "w", encoding="ascii") as stream:
                    stream.write(content + "\n")
        except OSError as error:
            raise UnmovableError("`%s` cannot be written: %s" % (error.filename, error.strerror)) from error

    def take(self, environment: Dict[str, str]) -> None:
        """Give programs the computer's own clock again."""
        environment.pop("LD_PRELOAD", None)
        environment.pop(VARIABLE, None)
        if self.wish.get("system"):
            os.unlink(PRELOAD)

    def now(self) -> float:
        """Say the time that programs of the cell are told."""
        return time.time() + self.offset / SECOND

    def facts(self, checks: Json) -> Optional[Json]:
        """Say for the probe by how many seconds the clock is moved, and what could not be asked; None without a clock of ours."""
        if not self.wish:
            return None
        files = bool(self.wish.get("files"))
        return {
            "moved": self.offset / SECOND,
            "files": files,
            "unproven": [name for name, value in checks["clock"].items() if value is None],
        }

    def problems(self, checks: Json, span: Span) -> Iterator[str]:
        """Compare what programs were told while the probe ran with what they should be."""
        if not self.wish:
            return
        seen = checks["clock"]
        for name, said in TOLD:
            if name != "bare" or self.wish.get("system"):
                yield from self._untrue(said, seen[name], self.offset / SECOND, span)
        moved = self.offset / SECOND if self.wish.get("files") else 0.0
        yield from self._untrue("the time of a new file", seen["file"], moved, span)
        if not span.began[1] <= seen["monotonic_began"] <= seen["monotonic_ended"] <= span.ended[1]:
            yield "clock: the monotonic clock is moved, too"
        for name, seconds in seen["waits"].items():
            if seconds is not None and seconds < seen["least"]:
                yield "clock: %s ended after %.3f seconds, too early" % (name, seconds)

    def _untrue(self, said: str, seen: Optional[float], moved: float, span: Span) -> Iterator[str]:
        if seen is not None and not span.began[0] - COARSE <= seen - moved <= span.ended[0] + COARSE:
            shown = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(seen))
            yield "clock `%s`: %s is %s, %.0f seconds off" % (self.moment or "true", said, shown, seen - moved - span.ended[0])


def unlike_without(failed: str, again: Json, moment: str) -> List[str]:
    """Say of a probe that failed with a moved clock that this was the clock's doing; nothing where it fails without as well."""
    if "failed" in again:
        return []
    return ["clock `%s`: it could not be moved: with it, %s; without, all is well" % (moment or "true", failed)]
