"""Which of the tests that ran before another one make the difference to it: questions about shorter and shorter lists.

Pure: it runs nothing. A list *flips* when the test does after it what it does after the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from itertools import pairwise

import msgspec

from paritygate.causes.unstable.suspects import Trial
from paritygate.causes.views import Likeness, Views
from paritygate.outcomes.cells import TestId

PARTS = 3

Tests = tuple[TestId, ...]
Wanted = dict[Trial, int]
Looking = Generator[Wanted, None, Tests]


class Lists(msgspec.Struct, frozen=True):
    """What one test does after lists of others: `trial` says which cell shows it, `flipped` what a list that flips gives."""

    views: Views[Trial]
    trial: Callable[[Tests], Trial]
    flipped: Likeness

    def ask(self, *lists: Tests) -> Generator[Wanted, None, None]:
        """Ask for each list once."""
        yield from self.views.need((self.trial(each) for each in lists), 1)

    def ask_again(self, some: Tests) -> Generator[Wanted, None, None]:
        """Ask for a list a second time, where much is to be built on it."""
        yield from self.views.need((self.trial(some),), 2)

    def flips(self, some: Tests) -> bool:
        """Say whether a list that was asked for flips."""
        return self.views.likeness(self.trial(some)) is self.flipped


def culprits(candidates: Tests, lists: Lists) -> Looking:
    """Find the tests, of all that ran before, after which alone it is as after all of them; nothing alone does not flip.

    The list is cut in three, and two thirds are run side by side; where neither flips it is the last one, which is run together
    with its own thirds. Where no third flips by itself several tests are needed together, from different thirds.
    Each of three thirds would cost a half more in cells and no less time on two processors, halves as many more rounds.
    """
    some = candidates
    while len(some) > 1:
        *asked, last = parts(some)
        yield from lists.ask(*asked)
        found = next((each for each in asked if lists.flips(each)), None)
        if found is None:
            yield from lists.ask(last, *parts(last)[:-1])
            if not lists.flips(last):
                return (yield from _together(some, lists))
        some = last if found is None else found
    return some


def parts(some: Tests) -> tuple[Tests, ...]:
    """Cut a list in three, or in as many as it has tests."""
    count = min(PARTS, len(some))
    ends = [len(some) * number // count for number in range(count + 1)] if count else []
    return tuple(some[start:end] for start, end in pairwise(ends))


def _together(some: Tests, lists: Lists) -> Looking:
    """Find tests that flip together, the last one first: the end of the shortest beginning that flips is one of them.

    With that one put behind what is left, the next is looked for in what came before it, until those that were found are enough.
    That holds whether or not a test undoes what another did: a beginning that flips and a shorter one that does not always have
    two neighbours between them that part. A list that does not flip a second time is chance, of which there is no end.
    """
    yield from lists.ask_again(some)
    if not lists.flips(some):
        return ()
    kept: Tests = ()
    while True:
        low, high = 0, len(some)
        while high - low > 1:
            ends = _between(low, high)
            yield from lists.ask(*(some[:end] + kept for end in ends))
            flipping = [end for end in ends if lists.flips(some[:end] + kept)]
            high = min(flipping, default=high)
            low = max((end for end in ends if end < high), default=low)
        kept = (some[high - 1], *kept)
        some = some[: high - 1]
        yield from lists.ask(kept)
        if lists.flips(kept) or not some:
            return kept


def _between(low: int, high: int) -> Sequence[int]:
    """Choose one or two places that cut what lies between two ends in equal parts."""
    return sorted({low + (high - low) // PARTS, low + 2 * (high - low) // PARTS} - {low, high}) or [low + 1]


def fewer(found: Tests, lists: Lists) -> Looking:
    """Leave out of several tests those without which the rest still flips."""
    kept = found
    for test in found if len(found) > 1 else ():
        rest = tuple(each for each in kept if each != test)
        yield from lists.ask(rest)
        if rest and lists.flips(rest):
            kept = rest
    return kept
