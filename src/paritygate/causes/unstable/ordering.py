"""Of a test to which order matters: which tests spoil it when they ran before, or which it needs.

Victims that share the cell in which they fail are asked about together, in cells that run a part of its list and all of them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable

import msgspec

from paritygate.causes.unstable.answers import Answer, OfOrder, Open, Times
from paritygate.causes.unstable.bisection import Lists, Tests, Wanted, culprits, fewer
from paritygate.causes.unstable.corners import merged
from paritygate.causes.unstable.suspects import Ran, Suspect, Trial, listed
from paritygate.causes.views import Likeness, Views
from paritygate.outcomes.cells import TestId
from paritygate.outcomes.plans import Order

PROOFS = 6
"""How often a test is seen with what makes the difference, and how often without, before it is named.

Chance that has passed the corners and every question of the search would pass this, too, in fewer than 1 of 1,000 cases.
"""

Inquiry = Generator[Wanted, None, Answer]


class Bench(msgspec.Struct, frozen=True, kw_only=True):
    """Where lists are tried: in one process of the environment, with the seeds of one cell, beside the other victims."""

    suspect: Suspect
    victims: tuple[TestId, ...]
    seeded_as: Ran
    also: str = ""

    @classmethod
    def single(cls, suspect: Suspect) -> Bench:
        """Ask about one suspect, with the seeds of the cell in which it went wrong."""
        return cls(suspect=suspect, victims=(suspect.test,), seeded_as=suspect.ill)

    def trial(self, tests: Tests, *, reseeds: bool = True) -> Trial:
        """Run exactly these tests."""
        return Trial(
            env=self.suspect.ill.env,
            order=Order(seed=0, exactly=tests),
            workers=0,
            seed=self.seeded_as.seed,
            hash_seed=self.seeded_as.seed,
            reseeds=reseeds,
        )

    def of(self, ran: Ran, some: Tests = ()) -> Trial:
        """Run a part of what a cell's process ran, and the victims."""
        return self.trial(listed(self._process(ran), (*some, *self.victims)))

    def turned(self, some: Tests, *, reseeds: bool = True) -> Trial:
        """Run a part of it before the victims, and those in the reverse of the ill cell's order."""
        return self.trial((*some, *reversed(listed(self._process(self.suspect.ill), self.victims))), reseeds=reseeds)

    def whole(self, ran: Ran) -> Trial:
        """Run what a cell's process ran up to the last of the victims."""
        return self.of(ran, self.before(ran))

    def bare(self) -> tuple[Trial, Trial]:
        """Run nothing but the victims, in either cell's order."""
        return self.of(self.suspect.ill), self.of(self.suspect.well)

    def before(self, ran: Ran) -> Tests:
        """List what ran before the last of the victims, and is none of them."""
        (tests,) = self._process(ran).lists
        end = max(place for place, test in enumerate(tests) if test in self.victims)
        return tuple(test for test in tests[:end] if test not in self.victims)

    def _process(self, ran: Ran) -> Ran:
        """Leave nothing of a cell but the process that ran the suspect."""
        own = next(each for each in ran.lists if self.suspect.test in each)
        return msgspec.structs.replace(ran, lists=(own,))

    def seeded(self, ran: Ran) -> Bench:
        """Take the seeds of another cell."""
        return msgspec.structs.replace(self, seeded_as=ran)

    def elsewhere(self) -> Bench:
        """Take the seeds of the cell whose seeds it has not."""
        suspect = self.suspect
        return self.seeded(suspect.well if self.seeded_as == suspect.ill else suspect.ill)

    def beside(self, fellows: Iterable[Suspect]) -> Bench:
        """Ask about all of these together."""
        return msgspec.structs.replace(self, victims=tuple(each.test for each in fellows))

    def alone(self) -> Bench:
        """Ask about the suspect apart from the others."""
        return msgspec.structs.replace(self, victims=(self.suspect.test,))


def explain_order(bench: Bench, views: Views[Trial]) -> Inquiry:
    """Tell a victim from a brittle test by what they do without the others, find those that matter, and prove it.

    | without all that is no victim, in either cell's order | then |
    |---|---|
    | well | a victim: something in the ill cell's list spoils it |
    | ill | brittle: something in the well cell's list makes it pass, with that cell's seeds if these change nothing of this |
    | it depends | the victims matter to each other: each is looked into apart |
    """
    suspect = bench.suspect
    nothing = yield from _without(bench, views)
    if nothing == {Likeness.BASE}:
        answer = yield from _look(bench, views, suspect.ill, Likeness.TARGET)
    elif nothing == {Likeness.TARGET}:
        other = bench.seeded(suspect.well)
        same = (yield from _without(other, views)) == nothing
        answer = yield from _look(other if same else bench, views, suspect.well, Likeness.BASE)
    else:
        answer = None
    if answer is not None:
        return answer
    if len(bench.victims) > 1:
        return (yield from explain_order(bench.alone(), views))
    return Open("its order matters, and which of the tests before it make the difference could not be proven")


def _without(bench: Bench, views: Views[Trial]) -> Generator[Wanted, None, set[Likeness | None]]:
    yield from views.need(bench.bare(), 1)
    return {views.likeness(each) for each in bench.bare()}


def _look(bench: Bench, views: Views[Trial], ran: Ran, flipped: Likeness) -> Generator[Wanted, None, OfOrder | None]:
    """Find what makes the difference in the list of a cell; None where that could not be proven."""
    lists = Lists(views, lambda some: bench.of(ran, some), flipped)
    candidates = bench.before(ran)
    if not candidates:
        return None
    found = yield from culprits(candidates, lists)
    found = yield from fewer(found, lists)
    if not found:
        return None
    after = (bench.of(ran, found), bench.turned(found))
    without = (bench.of(ran), bench.turned(()))
    calm = bench.turned(found, reseeds=False)
    elsewhere = bench.elsewhere().of(ran, found)
    each = PROOFS // len({*after})
    once = (*((elsewhere,) if not bench.also else ()), *((calm,) if _spoils(flipped) else ()))
    yield from merged(views, {**dict.fromkeys(once, 1), **dict.fromkeys((*after, *without), each)})
    shown = Likeness.TARGET if flipped is Likeness.BASE else Likeness.BASE
    if any(views.likeness(one) is not flipped for one in after) or any(views.likeness(one) is not shown for one in without):
        return None
    if views.silent((*after, *without), each):
        return None
    reseeded = Times(0, 0)
    if views.likeness(calm) is Likeness.BASE:
        yield from views.need((calm,), PROOFS)
        reseeded = _times(views, (calm,)) if views.likeness(calm) is Likeness.BASE else reseeded
    return OfOrder(
        culprits=found,
        brittle=not _spoils(flipped),
        after=_times(views, after),
        without=_times(views, without),
        reseeded=reseeded,
        also=bench.also or _bound(bench, views.likeness(elsewhere) is shown),
    )


def _bound(bench: Bench, bound: bool) -> str:  # noqa: FBT001
    return f"only with the seeds of attempt {bench.seeded_as.attempt}" if bound else ""


def _spoils(flipped: Likeness) -> bool:
    return flipped is Likeness.TARGET


def _times(views: Views[Trial], trials: tuple[Trial, ...]) -> Times:
    """Count results that are all alike."""
    count = sum(len(views.told(each)) for each in dict.fromkeys(trials))
    return Times(count, count)
