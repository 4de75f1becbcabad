"""The suite's own pins in a run: they yield to the axes, or the user has them respected and reads what that hides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from paritygate.gate.material import Planned
from paritygate.gate.request import Request
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.words import Axis

PINNED = (Axis.TIMEZONE, Axis.LOCALE)
OPTION = "--respect-pins"
KEPT = f"`{OPTION}` keeps them where paritygate is installed in the images, beside pytest"


def respected(planned: Planned, request: Request) -> Planned:
    """Let pins go over the axes in all cells, where that is asked for."""
    if not request.respect_pins:
        return planned
    return msgspec.structs.replace(
        planned, plans=tuple(msgspec.structs.replace(plan, respect_pins=True) for plan in planned.plans)
    )


def are_respected(planned: Planned) -> bool:
    """Say whether pins go over the axes."""
    return any(plan.respect_pins for plan in planned.plans)


def held_equal(cells: Sequence[Cell]) -> dict[Axis, str]:
    """Say of which axes no test has seen anything, since the whole suite is pinned."""
    pinned = {cell.pins.suite and cell.pins.in_force for cell in cells if cell.collected}
    if pinned != {True}:
        return {}
    return dict.fromkeys(PINNED, f"the suite pins it, and `{OPTION}` lets it")


def remarks(cells: Sequence[Cell], *, asked: bool) -> Iterator[str]:
    """Say what became of pins."""
    suite = any(cell.pins.suite for cell in cells)
    tests = max((cell.pins.tests for cell in cells), default=0)
    what = "the pins of the suite (`parity_pin`)" if suite else f"the pins of {tests} tests (`pinned_environment`)"
    if not suite and not tests:
        if asked:
            yield f"`{OPTION}` changes nothing: no test that ran asks for pins"
    elif not asked:
        yield f"{what} are not in force, so that the axes can vary; {KEPT}"
    elif any(cell.pins.in_force for cell in cells):
        yield f"{what} were kept (`{OPTION}`): what depends on the zone or the locale could not show in what is pinned"
    else:
        yield f"{what} were not in force in spite of `{OPTION}`: paritygate is not installed in the images, beside pytest"
