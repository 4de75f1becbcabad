"""Clocks to hand in: code that asks a clock instead of the machine is tested at any moment, in any zone, without waiting."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Protocol


class Clock(Protocol):
    """What code asks for the time."""

    def now(self, zone: tzinfo = UTC) -> datetime:
        """Say which moment it is, in a zone that is named."""
        ...

    def today(self, zone: tzinfo) -> date:
        """Say which day it is somewhere; there is no day without a place."""
        ...

    def monotonic(self) -> float:
        """Count seconds, from any beginning, never backwards."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let seconds pass."""
        ...


class SystemClock:
    """The machine's own clock, for everything but tests."""

    def now(self, zone: tzinfo = UTC) -> datetime:
        """Say which moment it is, in a zone that is named."""
        return datetime.now(zone)

    def today(self, zone: tzinfo) -> date:
        """Say which day it is somewhere."""
        return datetime.now(zone).date()

    def monotonic(self) -> float:
        """Count seconds, from any beginning, never backwards."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


class FixedClock:
    """A clock that stands until it is told otherwise; who sleeps by it finds the time gone at once."""

    def __init__(self, moment: datetime) -> None:
        """Begin at a moment; one without a zone is another moment in each zone, so it is a `ValueError`."""
        if not isinstance(moment, datetime):
            raise TypeError(f"a clock begins at a `datetime`, not at {moment!r}, which is `{type(moment).__name__}`")
        if moment.utcoffset() is None:
            raise ValueError(f"{moment!r} has no zone, so it is another moment on another machine; add `tzinfo=UTC`")
        self._moment = moment.astimezone(UTC)
        self._passed = timedelta()

    def now(self, zone: tzinfo = UTC) -> datetime:
        """Say which moment it is, in a zone that is named."""
        return self._moment.astimezone(zone)

    def today(self, zone: tzinfo) -> date:
        """Say which day it is somewhere."""
        return self.now(zone).date()

    def monotonic(self) -> float:
        """Count the seconds since the beginning; a clock that is set has not let any pass."""
        return self._passed.total_seconds()

    def sleep(self, seconds: float) -> None:
        """Let seconds pass without waiting for them."""
        self.advance(timedelta(seconds=seconds))

    def advance(self, duration: timedelta) -> None:
        """Let time pass; it does not go backwards, which is what `set` is for."""
        if duration < timedelta():
            raise ValueError(
                f"time does not pass backwards, not even {duration.total_seconds():g} s; use `set` for a clock that is put back"
            )
        self._moment += duration
        self._passed += duration

    def set(self, moment: datetime) -> None:
        """Put the clock to another moment, as whoever administers a machine may, without any time passing."""
        self._moment = FixedClock(moment).now()
