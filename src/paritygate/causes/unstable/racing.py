"""Whether a test races, by how often it went wrong beside other workers and where its worker's list ran in one process.

Pure: it counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import comb, prod

import msgspec

from paritygate.causes.unstable.answers import Times
from paritygate.classifier.evidence import RISK


class Look(msgspec.Struct, frozen=True):
    """How often all is run when a race is judged: the cell in which it went wrong and the one in which it went well.

    Each of the two beside the other workers and, of both, the test's own list in one process.
    """

    ill: tuple[int, int]
    well: tuple[int, int] = (0, 0)


LOOKS = (
    Look((6, 7)),
    Look((6, 7), (6, 7)),
    Look((12, 13), (12, 13)),
    Look((24, 25), (24, 25)),
    Look((36, 37), (24, 25)),
)
"""When a race is judged, each time by the same chance: all of them together err in fewer than 1 of 1,000 cases."""


class Side(msgspec.Struct, frozen=True):
    """How often a test went wrong in one order with its seeds: beside other workers, and where its list ran in one process."""

    beside: Times
    alone: Times

    @property
    def by_chance(self) -> Fraction:
        """The chance that all that went wrong did so beside others, if these were nothing to it (Fisher's exact, one-sided)."""
        return Fraction(comb(self.beside.of, self.beside.seen), comb(self.beside.of + self.alone.of, self.beside.seen))


def beside(seen: Sequence[Side]) -> Times:
    """Count over all orders what ran beside other workers."""
    return Times(sum(each.beside.seen for each in seen), sum(each.beside.of for each in seen))


def alone(seen: Sequence[Side]) -> Times:
    """Count over all orders what ran in one process."""
    return Times(sum(each.alone.seen for each in seen), sum(each.alone.of for each in seen))


def well(times: Times) -> Times:
    """Count what went well in place of what did not."""
    return Times(times.of - times.seen, times.of)


def is_proven(seen: Sequence[Side], look: Look) -> bool:
    """Say whether a test races, by what was seen up to a look: never in one process, and beside others more than by chance.

    `seen` ends with the cell in which it went wrong. What was seen in two orders is multiplied: each is compared with itself.
    """
    wanted = (look.well, look.ill)[-len(seen) :]
    enough = all(each.beside.of >= runs and each.alone.of >= lists for each, (runs, lists) in zip(seen, wanted, strict=True))
    return enough and alone(seen).seen == 0 and by_chance(seen) < RISK


def may_be_proven(seen: Sequence[Side]) -> bool:
    """Say whether the last look may prove a race, if the test went wrong once oftener by now, and went on like that."""
    last = LOOKS[-1]
    wanted = (last.well, last.ill)[-len(seen) :]
    left = any(each.beside.of < runs for each, (runs, _) in zip(seen, wanted, strict=True))
    likely = [_going_on(each, *times) for each, times in zip(seen, wanted, strict=True)]
    return alone(seen).seen == 0 and left and by_chance(likely) < RISK


def _going_on(side: Side, runs: int, lists: int) -> Side:
    wrong = runs * (side.beside.seen + 1) // (side.beside.of + 1)
    return Side(Times(min(runs, wrong), runs), Times(0, lists))


def by_chance(seen: Iterable[Side]) -> Fraction:
    """Say at what chance all that went wrong would be beside others in each order, if that were nothing to the test."""
    return prod((each.by_chance for each in seen), start=Fraction(1))
