"""When the cells ran, worker by worker, as rectangles: what ran at the same time stands below each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

import msgspec

from paritygate.outcomes.cells import Cell, TestRun
from paritygate.outcomes.words import Outcome, Purpose
from paritygate.reports.deaths import name

WIDTH = 1000.0
NAMES = 190.0
LANE = 12.0
GAP = 10.0
AXIS = 26.0
LEAST = 1.5
EXACT_SECONDS = 1.0
"""How exactly cells say when they began."""
BINS = 400
"""Tests that begin within the same part of the width are one rectangle, so that thousands of them stay a picture."""
MOST_CELLS = 60
MOST_TICKS = 8
STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400)
SKIPPED = frozenset({Outcome.SKIPPED, Outcome.NOT_COLLECTED, Outcome.NOT_RUN})


class Bar(msgspec.Struct, frozen=True):
    """A rectangle in units of the picture; `kind` is `green`, `red` or `quiet` (skipped)."""

    x: float
    y: float
    width: float
    kind: str


class Lane(msgspec.Struct, frozen=True, kw_only=True):
    """A cell: where its span lies, and what ran in it; `begin` and `end` are seconds from the first cell's start."""

    name: str
    purpose: str
    status: str
    workers: int
    tests: int
    red: int
    begin: float
    end: float
    y: float
    height: float
    span: Bar
    bars: tuple[Bar, ...]


class Tick(msgspec.Struct, frozen=True):
    """A line that says the time."""

    x: float
    text: str


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """The picture; `most` is how many cells ran at once, `left_out` how many are not drawn."""

    width: float
    height: float
    names: float
    lanes: tuple[Lane, ...]
    ticks: tuple[Tick, ...]
    seconds: float
    most: int
    left_out: int


def timeline(cells: Sequence[Cell]) -> Timeline | None:
    """Draw the cells whose times are known; None where there are none."""
    known = sorted(((begin, cell) for cell in cells for begin in _begin(cell)), key=lambda each: each[0])
    if not known:
        return None
    chosen = sorted(known, key=lambda each: each[1].purpose is not Purpose.GATE)[:MOST_CELLS]
    shown = sorted(chosen, key=lambda each: each[0])
    first = shown[0][0]
    seconds = max(begin - first + cell.seconds for begin, cell in shown) or 1.0
    lanes, top = [], AXIS
    for begin, cell in shown:
        lane = _lane(cell, begin - first, top, (WIDTH - NAMES) / seconds)
        lanes.append(lane)
        top += lane.height + GAP
    return Timeline(
        width=WIDTH,
        height=round(top, 1),
        names=NAMES,
        lanes=tuple(lanes),
        ticks=tuple(_ticks(seconds)),
        seconds=seconds,
        most=_at_once(lanes),
        left_out=len(known) - len(shown),
    )


def _begin(cell: Cell) -> Iterator[float]:
    """Say when a cell began, in seconds since 1970; nothing for one that does not say, or not so that it can be read."""
    try:
        moment = datetime.fromisoformat(cell.started)
    except ValueError:
        return
    yield (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def _lane(cell: Cell, begin: float, top: float, scale: float) -> Lane:
    workers = sorted({run.worker for run in cell.tests}) or [""]
    left = NAMES + begin * scale
    bars = [
        bar
        for number, worker in enumerate(workers)
        for bar in _bars([run for run in cell.tests if run.worker == worker], left, top + number * LANE, scale)
    ]
    height = LANE * len(workers)
    return Lane(
        name=name(cell),
        purpose=cell.purpose,
        status=cell.status,
        workers=cell.workers,
        tests=len(cell.tests),
        red=sum(not run.outcome.green for run in cell.tests),
        begin=begin,
        end=begin + cell.seconds,
        y=top,
        height=height,
        span=Bar(round(left, 1), top, round(max(cell.seconds * scale, LEAST), 1), "span"),
        bars=tuple(bars),
    )


def _bars(runs: Iterable[TestRun], left: float, top: float, scale: float) -> Iterator[Bar]:
    """Draw one worker's tests; those too short to be told apart are one rectangle, red where one of them is."""
    bins: dict[int, tuple[float, float, int]] = {}
    for run in runs:
        if run.began:
            start, end = run.began * scale, (run.began + run.seconds) * scale
            place = int(start / WIDTH * BINS)
            before = bins.get(place, (start, end, 0))
            bins[place] = (min(before[0], start), max(before[1], end), max(before[2], _weight(run.outcome)))
    last: tuple[float, float, int] | None = None
    for start, end, weight in (bins[place] for place in sorted(bins)):
        if last is not None and last[2] == weight and start - last[1] < LEAST:
            last = (last[0], max(last[1], end), weight)
            continue
        if last is not None:
            yield _bar(last, left, top)
        last = (start, end, weight)
    if last is not None:
        yield _bar(last, left, top)


def _bar(drawn: tuple[float, float, int], left: float, top: float) -> Bar:
    start, end, weight = drawn
    return Bar(round(left + start, 1), top, round(max(end - start, LEAST), 1), ("quiet", "green", "red")[weight])


def _weight(outcome: Outcome) -> int:
    if outcome in SKIPPED:
        return 0
    return 1 if outcome.green else 2


def _ticks(seconds: float) -> Iterator[Tick]:
    step = next((each for each in STEPS if seconds / each <= MOST_TICKS), STEPS[-1])
    count = int(seconds / step)
    for number in range(count + 1):
        at = number * step
        yield Tick(round(NAMES + at * (WIDTH - NAMES) / seconds, 1), spoken(at))


def spoken(seconds: float) -> str:
    """Say a time in seconds or minutes."""
    if seconds < 60:  # noqa: PLR2004  # a minute
        return f"{seconds:.1f} s" if seconds % 1 else f"{seconds:.0f} s"
    return f"{int(seconds // 60)} min {seconds % 60:02.0f} s" if round(seconds % 60) else f"{seconds / 60:.0f} min"


def _at_once(lanes: Sequence[Lane]) -> int:
    """Say how many cells ran at the same time, at most; what overlaps for less than starts are exact may not have."""
    ends = [(max(lane.begin, lane.end - EXACT_SECONDS), -1) for lane in lanes]
    moments = sorted([*((lane.begin, 1) for lane in lanes), *ends])
    most = now = 0
    for _, change in moments:
        now += change
        most = max(most, now)
    return most
