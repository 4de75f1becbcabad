"""How many values of an axis that has too many to try them all are enough, and what can still hide after some."""

from __future__ import annotations

import math

from paritygate.outcomes.words import Axis

CONFIDENCE = 0.95
SEEDS_ONE_IN = 10
"""Hash seeds are tried until a fault that shows under one seed of so many would have been seen, with that confidence."""
SAMPLED = frozenset({Axis.HASH_SEED})
"""Axes whose values are a sample of many, so that what can still hide is a matter of their number."""


def seeds_needed(one_in: int) -> int:
    """Say how many seeds it takes until a fault that shows under one of so many would have been seen."""
    return math.ceil(math.log(1 - CONFIDENCE) / math.log(1 - 1 / one_in)) if one_in > 1 else 1


def hidden(tried: int) -> int:
    """Say of how many seeds a fault may show under one and would still have been seen, after so many without it; 0: of none."""
    one_in = 0
    while tried and seeds_needed(one_in + 1) <= tried:
        one_in += 1
    return one_in
