"""What a run says of the pins of its suite, and what it no longer claims where they are kept."""

from __future__ import annotations

import pytest

from paritygate.gate import pins
from paritygate.outcomes.cells import Cell, Pins
from paritygate.outcomes.words import Axis
from tests.support.builders import a_cell

NOT_THERE = (
    "the pins of the suite (`parity_pin`) were not in force in spite of `--respect-pins`: "
    "paritygate is not installed in the images, beside pytest"
)
NOT_IN_FORCE = (  # whether or not paritygate is in the images
    "are not in force, so that the axes can vary; "
    "`--respect-pins` keeps them where paritygate is installed in the images, beside pytest"
)
HIDES = "what depends on the zone or the locale could not show in what is pinned"


def cells(*asked: Pins) -> tuple[Cell, ...]:
    return tuple(a_cell("a", number, {"t": "passed"}, pins=each) for number, each in enumerate(asked, 1))


@pytest.mark.parametrize(
    ("told", "asked", "said"),
    [
        (Pins(), False, []),
        (Pins(), True, ["`--respect-pins` changes nothing: no test that ran asks for pins"]),
        (
            Pins(suite=True),
            False,
            [f"the pins of the suite (`parity_pin`) {NOT_IN_FORCE}"],
        ),
        (
            Pins(tests=2),
            False,
            [f"the pins of 2 tests (`pinned_environment`) {NOT_IN_FORCE}"],
        ),
        (
            Pins(suite=True, tests=2, in_force=True),
            True,
            [f"the pins of the suite (`parity_pin`) were kept (`--respect-pins`): {HIDES}"],
        ),
        (
            Pins(suite=True),
            True,
            [NOT_THERE],
        ),
    ],
)
def test_a_report_says_what_became_of_pins(told: Pins, said: list[str], *, asked: bool) -> None:
    assert list(pins.remarks(cells(told, told), asked=asked)) == said


def test_a_suite_that_is_pinned_everywhere_varies_neither_zone_nor_locale() -> None:
    held = Pins(suite=True, in_force=True)
    why = "the suite pins it, and `--respect-pins` lets it"
    assert pins.held_equal(cells(held, held)) == {Axis.TIMEZONE: why, Axis.LOCALE: why}
    died = a_cell("a", 3, collected=0)
    assert set(pins.held_equal((*cells(held), died))) == {Axis.TIMEZONE, Axis.LOCALE}


@pytest.mark.parametrize("other", [Pins(), Pins(suite=True), Pins(tests=1, in_force=True)])
def test_pins_that_some_cells_or_only_some_tests_have_hold_nothing_equal(other: Pins) -> None:
    assert pins.held_equal(cells(Pins(suite=True, in_force=True), other)) == {}
    assert pins.held_equal(cells(other)) == {}
    assert pins.held_equal(()) == {}
