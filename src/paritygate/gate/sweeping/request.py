"""What a sweep is asked for."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from paritygate.gate.settled import Settled
from paritygate.gate.sweeping import values
from paritygate.outcomes.words import Axis
from paritygate.witnesses.table import Witness


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which axes, each with the values that are named, or with none: then the project's own, or the table's.

    After `seconds`, where given, no further value is begun; what was found by then is confirmed all the same.
    """

    axes: Mapping[Axis, tuple[str, ...]]
    seconds: float | None = None

    def witnesses(self, settled: Settled) -> dict[Axis, tuple[Witness, ...]]:
        """Say which values of each axis are tried."""
        own = settled.settings.sweeps
        return {axis: values.chosen(axis, named or own.of(axis)) for axis, named in self.axes.items()}
