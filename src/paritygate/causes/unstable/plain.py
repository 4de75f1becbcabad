"""The first question of every unstable test: what it does without all that ran before it, under the seeds of either cell.

Those cells are the shortest that there are, and mostly tell what to look for next; whole cells are run only where they do not.
"""

from __future__ import annotations

from collections.abc import Generator

from paritygate.causes.unstable.bisection import Wanted
from paritygate.causes.unstable.corners import NATURES, TWICE, Corners, Nature, nature
from paritygate.causes.unstable.ordering import Bench
from paritygate.causes.unstable.suspects import Trial
from paritygate.causes.views import Likeness, Views

ILL, WELL = frozenset({Likeness.TARGET}), frozenset({Likeness.BASE})


def plain_nature(bench: Bench, corners: Corners, views: Views[Trial]) -> Generator[Wanted, None, Nature]:
    """Run the suspects of two cells without the others, with the seeds of each.

    | as the ill cell is seeded | as the well cell | then |
    |---|---|---|
    | now so, now otherwise | or here | it changes though nothing else does |
    | ill | well | a seed matters: order and seeds are mixed, to see whether order does, too |
    | the same | the same | the order: what ran before makes the difference, or what the suspects do to each other |
    | anything else | | both cells are run again, and mixed |

    Where several workers ran, the ill cell's list for that worker is run in one process first: if it goes well, what ran beside
    it matters.
    """
    suspect = bench.suspect
    ill, well = bench.bare(), bench.seeded(suspect.well).bare()
    yield from views.need((*ill, *well), TWICE // len({*ill}))
    if any(views.likeness(each) is None for each in (*ill, *well)):
        return Nature.CONTRARY
    if suspect.ill.workers > 1:
        whole = bench.whole(suspect.ill)
        yield from views.need((whole,), 1)
        if views.likeness(whole) is Likeness.BASE:
            return Nature.BESIDE
    first, second = ({views.likeness(each) for each in some} for some in (ill, well))
    if first == second and first <= ILL | WELL:
        return Nature.ORDER
    if first == ILL and second == WELL:
        mixed = (bench.seeded(suspect.well).whole(suspect.ill), bench.whole(suspect.well))
        yield from views.need(mixed, 1)
        return NATURES.get((views.likeness(mixed[0]), views.likeness(mixed[1])), Nature.OPEN)
    return (yield from nature(corners, views))
