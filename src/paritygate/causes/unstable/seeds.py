"""Of a test to which a seed matters: whether it is that of random numbers or that of hashes."""

from __future__ import annotations

from collections.abc import Generator

import msgspec

from paritygate.causes.unstable.answers import Answer, OfSeed, Open, Times
from paritygate.causes.unstable.bisection import Wanted
from paritygate.causes.unstable.ordering import PROOFS
from paritygate.causes.unstable.suspects import Suspect, Trial
from paritygate.causes.views import Likeness, Views
from paritygate.outcomes.words import CauseKind


def explain_seed(suspect: Suspect, orders: tuple[Trial, ...], views: Views[Trial]) -> Generator[Wanted, None, Answer]:
    """Run cells with one seed of each, in both orders: those of the shortest cells that show it.

    | random numbers as in the ill cell | hashes as in the ill cell | then it is |
    |---|---|---|
    | ill | well | the data seed |
    | well | ill | the hash seed |
    | ill | ill | either: open, since each alone makes it |
    | well | well | both together: open, since neither alone makes it |
    """
    data = tuple(_seeded(each, suspect.ill.seed, suspect.well.seed) for each in orders)
    hashes = tuple(_seeded(each, suspect.well.seed, suspect.ill.seed) for each in orders)
    times = PROOFS // len({*data})
    yield from views.need((*data, *hashes), times)
    seen = tuple(_likeness(views, some) for some in (data, hashes))
    if not {*seen} <= {Likeness.BASE, Likeness.TARGET} or views.silent((*data, *hashes), times):
        return Open("a seed matters, and which one could not be proven: with one of each it came out now so, now otherwise")
    attempts = (suspect.well.attempt, suspect.ill.attempt)
    if seen == (Likeness.TARGET, Likeness.BASE):
        return OfSeed(kind=CauseKind.DATA_SEED, attempts=attempts, ill=_times(views, data), well=_times(views, hashes))
    if seen == (Likeness.BASE, Likeness.TARGET):
        return OfSeed(kind=CauseKind.HASH_SEED, attempts=attempts, ill=_times(views, hashes), well=_times(views, data))
    if seen == (Likeness.TARGET, Likeness.TARGET):
        return Open("the data seed and the hash seed each make it by themselves")
    return Open("neither the data seed nor the hash seed makes it alone: it takes both")


def _seeded(trial: Trial, data: int, hashes: int) -> Trial:
    return msgspec.structs.replace(trial, seed=data, hash_seed=hashes)


def _likeness(views: Views[Trial], trials: tuple[Trial, ...]) -> Likeness | None:
    seen = {views.likeness(each) for each in trials}
    return seen.pop() if len(seen) == 1 else None


def _times(views: Views[Trial], trials: tuple[Trial, ...]) -> Times:
    count = sum(len(views.told(each)) for each in dict.fromkeys(trials))
    return Times(count, count)
