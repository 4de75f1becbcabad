"""What the search may find of one unstable test; each says what was seen, so that a reader can count it."""

from __future__ import annotations

import msgspec

from paritygate.outcomes.cells import TestId
from paritygate.outcomes.words import CauseKind


class Times(msgspec.Struct, frozen=True):
    """How often something was seen, of how many times that told anything."""

    seen: int
    of: int

    def __str__(self) -> str:
        """Write it as reports do."""
        return f"{self.seen} of {self.of}"


class OfOrder(msgspec.Struct, frozen=True, kw_only=True):
    """After `culprits` the test is as after all that ran before it, and without them otherwise; `brittle`: it needs them.

    `reseeded` counts where pytest-randomly was kept from seeding random numbers before each test and the culprits changed nothing
    any more; `also` says what else than order matters.
    """

    culprits: tuple[TestId, ...]
    brittle: bool
    after: Times
    without: Times
    reseeded: Times = Times(0, 0)
    also: str = ""


class OfSeed(msgspec.Struct, frozen=True, kw_only=True):
    """One seed alone makes it; `attempts` are those with whose seed it goes well and ill."""

    kind: CauseKind
    attempts: tuple[int, int]
    well: Times
    ill: Times


class OfRace(msgspec.Struct, frozen=True, kw_only=True):
    """It goes wrong beside other workers, so often that it is not chance, and never where its list runs in one process."""

    workers: int
    beside: Times
    alone: Times


class OfChance(msgspec.Struct, frozen=True, kw_only=True):
    """It changes where the same `cell` is run again: `again` says how often it went wrong in further runs of it.

    `alone` counts the same where several workers ran, and their list in one process did not settle it.
    """

    cell: str
    again: Times
    alone: Times = Times(0, 0)


class Open(msgspec.Struct, frozen=True):
    """Nothing could be proven; `why` says what was seen."""

    why: str


Answer = OfOrder | OfSeed | OfRace | OfChance | Open
