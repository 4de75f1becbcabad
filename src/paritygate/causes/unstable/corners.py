"""Of a test that two whole cells have to tell of: is it the order, a seed, or does it change though nothing else does.

Two cells in which it differs are run again as they were, and with the seeds of each in the order of the other.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from enum import StrEnum

import msgspec

from paritygate.causes.unstable.bisection import Wanted
from paritygate.causes.unstable.suspects import Ran, Suspect, Trial, lists_up_to
from paritygate.causes.views import Likeness, Seen, Views
from paritygate.outcomes.cells import TestId
from paritygate.outcomes.plans import Order

TWICE = 2


class Nature(StrEnum):
    """What a test depends on, as far as the first cells show; `BESIDE` is what runs beside it on other workers."""

    ORDER = "order"
    SEED = "seed"
    EITHER = "either"
    BOTH = "both"
    BESIDE = "beside"
    CONTRARY = "contrary"
    OPEN = "open"


class Corners(msgspec.Struct, frozen=True, kw_only=True):
    """The two cells of a suspect, and what is made of the order of one and the seeds of the other."""

    well: Trial
    ill: Trial
    ill_order: Trial
    ill_seeds: Trial

    @property
    def all(self) -> tuple[Trial, ...]:
        """List the corners."""
        return self.well, self.ill, self.ill_order, self.ill_seeds

    @property
    def begun(self) -> int:
        """Count the results that a corner begins with."""
        return 2 if self.well == self.ill else 1

    def views(self, suspect: Suspect) -> dict[Trial, list[Seen]]:
        """Begin with what the gate saw."""
        begun: dict[Trial, list[Seen]] = {self.well: [Seen(Likeness.BASE, suspect.better)]}
        begun.setdefault(self.ill, []).append(Seen(Likeness.TARGET, suspect.worse))
        return begun


def corners_of(suspect: Suspect, fellows: Iterable[Suspect]) -> Corners:
    """Make the corners of a suspect, the same for all `fellows` in the same two cells, so that they share what is run."""
    tests = [each.test for each in fellows]
    asked = {ran.attempt: _order(ran, suspect, tests) for ran in (suspect.well, suspect.ill)}
    return Corners(
        well=trial(asked[suspect.well.attempt], suspect.well, suspect.well),
        ill=trial(asked[suspect.ill.attempt], suspect.ill, suspect.ill),
        ill_order=trial(asked[suspect.ill.attempt], suspect.ill, suspect.well),
        ill_seeds=trial(asked[suspect.well.attempt], suspect.well, suspect.ill),
    )


def trial(order: Order, ordered_as: Ran, seeded_as: Ran) -> Trial:
    """Put the order of one cell and the seeds of another together."""
    return Trial(env=ordered_as.env, order=order, workers=ordered_as.workers, seed=seeded_as.seed, hash_seed=seeded_as.seed)


def _order(ran: Ran, suspect: Suspect, tests: Iterable[TestId]) -> Order:
    """Say how a cell is run again: one process up to the last suspect in it; as the gate asked for it where that is not known."""
    if ran.workers > 1:
        return ran.order
    if not (suspect.well.list_of(suspect.test) and suspect.ill.list_of(suspect.test)):
        return ran.planned
    return Order(seed=0, exactly=tuple(lists_up_to(ran, tests)))


def nature(corners: Corners, views: Views[Trial]) -> Generator[Wanted, None, Nature]:
    """Run the corners, and say what follows.

    | the ill cell's order with the other's seeds | its seeds in the other's order | then it is |
    |---|---|---|
    | ill | well | the order |
    | well | ill | a seed |
    | ill | ill | either, each is enough |
    | well | well | both together |
    """
    known, mixed = (corners.well, corners.ill), (corners.ill_order, corners.ill_seeds)
    yield from merged(views, {**dict.fromkeys(mixed, 1), **dict.fromkeys(known, TWICE)})
    if views.likeness(corners.well) is None or views.likeness(corners.ill) is None:
        return Nature.CONTRARY
    seen = (views.likeness(corners.ill_order), views.likeness(corners.ill_seeds))
    silent = views.silent(known, TWICE)
    return Nature.OPEN if silent else NATURES.get(seen, Nature.OPEN)


NATURES: dict[tuple[Likeness | None, Likeness | None], Nature] = {
    (Likeness.TARGET, Likeness.BASE): Nature.ORDER,
    (Likeness.BASE, Likeness.TARGET): Nature.SEED,
    (Likeness.TARGET, Likeness.TARGET): Nature.EITHER,
    (Likeness.BASE, Likeness.BASE): Nature.BOTH,
}


def merged(views: Views[Trial], times: dict[Trial, int]) -> Generator[Wanted, None, None]:
    """Ask for several trials at once, each so many times."""
    asking = [views.need((each,), count) for each, count in times.items()]
    while wanted := [one for each in asking if (one := next(each, None))]:
        yield {each: more for one in wanted for each, more in one.items()}
