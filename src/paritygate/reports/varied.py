"""Axes that varied with the values that they had, for readers who see no table of environments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.words import Axis
from paritygate.reports.text import MOST_ENVIRONMENTS, spell_out

BETWEEN = " | "


def with_values(artifact: Artifact, axes: Sequence[Axis]) -> Iterator[tuple[Axis, str]]:
    """Give each axis its values in the order of the environments; of many environments each value once, up to a number."""
    for axis in axes:
        values = [spell_out(record.axes.get(axis, "")) or "none" for record in artifact.environments]
        shown = values if len(values) <= MOST_ENVIRONMENTS else list(dict.fromkeys(values))
        more = len(shown) - MOST_ENVIRONMENTS
        yield axis, BETWEEN.join(shown[:MOST_ENVIRONMENTS]) + (f" and {more} more" if more > 0 else "")


def names(artifact: Artifact) -> str:
    """Name the environments in the order of the values; nothing where they are too many for that."""
    some = [spell_out(record.name) for record in artifact.environments]
    return BETWEEN.join(some) if len(some) <= MOST_ENVIRONMENTS else ""
