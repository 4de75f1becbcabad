"""Of a test that differs only where several workers run: whether its worker's list makes it, or what runs beside it."""

from __future__ import annotations

from collections.abc import Sequence

from paritygate.causes.unstable.answers import Answer, OfChance, OfRace, Open, Times
from paritygate.causes.unstable.corners import TWICE, Corners, merged
from paritygate.causes.unstable.ordering import Bench, Inquiry
from paritygate.causes.unstable.racing import LOOKS, Look, Side, alone, beside, is_proven, may_be_proven, well
from paritygate.causes.unstable.suspects import Suspect, Trial
from paritygate.causes.views import Likeness, Views

FURTHER = 6
"""How often a cell is run again, where it is to be known how often a test goes wrong in it."""
FIRST = 1
"""How many results of a worker's list in one process were why what runs beside the test is looked into."""


def explain_chance(bench: Bench, corners: Corners, views: Views[Trial]) -> Inquiry:
    """Say how often a test goes wrong in a cell in which it changed though nothing else did.

    Beside other workers something else may have: there it is chance only if one process has shown it.
    """
    if bench.suspect.ill.workers > 1 and not _by_itself(views):
        return (yield from explain_company(bench, corners, views))
    return (yield from _changed(bench.suspect, corners, views))


def explain_company(bench: Bench, corners: Corners, views: Views[Trial]) -> Inquiry:
    """Run cells as they were, and its worker's list of them in one process, more often as long as that may prove something.

    The cell in which it went wrong comes first; then also the one in which it went well, since it may go wrong there oftener.

    | in one process | beside the others | then |
    |---|---|---|
    | well each time | so often ill that chance would do it in fewer than 1 of 1,000 cases | a race |
    | well each time | so often that more runs may prove it | both are run again |
    | well each time | seldom | open |
    | now so, now otherwise | | chance, with how often on both sides |
    """
    suspect = bench.suspect
    if not _is_listed(bench):
        return Open("it changes beside other workers, and what its worker ran is not known, so that it cannot be compared")
    for look in LOOKS:
        yield from merged(views, _asked(bench, corners, look))
        seen = _sides(bench, corners, views)
        if is_proven(seen, look):
            return OfRace(workers=suspect.ill.workers, beside=beside(seen), alone=well(_compared(seen)))
        if _by_itself(views) or not may_be_proven(seen):
            break
    if _by_itself(views) and not alone(_sides(bench, corners, views)).seen:
        return (yield from _changed(suspect, corners, views))
    return _company(bench, corners, views)


def so_far(bench: Bench, corners: Corners, views: Views[Trial]) -> OfChance | None:
    """Say what is known when the time is over: where one process came out otherwise it is chance, and no worker has done it."""
    if bench.suspect.ill.workers > 1 and not _by_itself(views):
        return None
    chance = _chance(bench.suspect, corners, views) if views.unstable() else None
    return chance if chance is not None and chance.again.of else None


def sides_so_far(bench: Bench, corners: Corners, views: Views[Trial]) -> str:
    """Say how often a test went wrong beside other workers and in one process, where both were tried before the time was over."""
    if bench.suspect.ill.workers <= 1 or not _is_listed(bench):
        return ""
    seen = _sides(bench, corners, views)
    return f"so far it went wrong {_both(seen)}" if _compared(seen).of else ""


def _is_listed(bench: Bench) -> bool:
    return bool(bench.suspect.ill.list_of(bench.suspect.test) and bench.suspect.well.list_of(bench.suspect.test))


def _by_itself(views: Views[Trial]) -> tuple[Trial, ...]:
    """List the trials in one process that came out now so, now otherwise."""
    return tuple(each for each in views.unstable() if each.workers <= 1)


def _changed(suspect: Suspect, corners: Corners, views: Views[Trial]) -> Inquiry:
    changed = _unstable(corners, views)
    yield from views.need((changed,), _before(corners, changed) + FURTHER)
    return _chance(suspect, corners, views)


def _chance(suspect: Suspect, corners: Corners, views: Views[Trial]) -> OfChance:
    changed = _unstable(corners, views)
    return OfChance(cell=_cell(suspect, corners, changed), again=_wrong(views, changed, first=_before(corners, changed)))


def _unstable(corners: Corners, views: Views[Trial]) -> Trial:
    """Choose a trial that came out now so, now otherwise: in one process if possible, the cell that went wrong if it is that."""
    some = _by_itself(views) or views.unstable()
    return corners.ill if corners.ill in some else some[0]


def _before(corners: Corners, trial: Trial) -> int:
    """Count the results of a trial that were why it was looked into."""
    return corners.begun if trial in (corners.ill, corners.well) else 0


def unless_by_chance(asking: Inquiry, bench: Bench, corners: Corners, views: Views[Trial]) -> Inquiry:
    """Go on asking as long as no cell that is run again comes out otherwise.

    What proves nothing in the end may still be chance that has looked like a cause so far: the corners are run again then.
    """
    answer: Answer | None = None
    while answer is None and not views.unstable():
        try:
            yield next(asking)
        except StopIteration as end:
            answer = end.value
    if answer is not None and not isinstance(answer, Open):
        return answer
    for times in (TWICE, FURTHER):
        for some in (corners.well, corners.ill), (corners.ill_order, corners.ill_seeds):
            if not views.unstable():
                yield from views.need(some, times)
    if views.unstable():
        return (yield from explain_chance(bench, corners, views))
    return answer or Open("it came out otherwise in a cell that was run again")


def _cell(suspect: Suspect, corners: Corners, changed: Trial) -> str:
    """Name the cell that changed."""
    attempts = {corners.ill: suspect.ill.attempt, corners.well: suspect.well.attempt}
    if changed in attempts:
        return f"attempt {attempts[changed]} of {suspect.ill.env}"
    if changed.order.exactly == (suspect.test,):
        return f"a cell of {suspect.ill.env} with nothing but this test"
    if changed.workers <= 1 < suspect.ill.workers:
        return f"one worker's list of {suspect.ill.env} in one process"
    return f"a cell of {suspect.ill.env} made of attempts {suspect.well.attempt} and {suspect.ill.attempt}"


def _company(bench: Bench, corners: Corners, views: Views[Trial]) -> OfChance | Open:
    """Say what was seen of both sides where it proves no race: chance only if it went wrong in one process, too."""
    seen = _sides(bench, corners, views)
    if alone(seen).seen and beside(seen).of:
        return OfChance(cell=_cell(bench.suspect, corners, corners.ill), again=beside(seen), alone=alone(seen))
    return Open(f"it goes wrong {_both(seen)}, which proves neither a race nor chance")


def _both(seen: Sequence[Side]) -> str:
    return f"beside other workers {beside(seen)} times and in one process {_compared(seen)} times"


def _compared(seen: Sequence[Side]) -> Times:
    """Count what ran in one process in those orders in which it ran beside others, too."""
    return alone([each for each in seen if each.beside.of])


def _lists(bench: Bench, corners: Corners) -> dict[Trial, Trial]:
    """Lay beside each of the two cells the list in one process of the worker that ran the test there, seeded as it was."""
    well, ill = bench.suspect.well, bench.suspect.ill
    # Where both are one and the same cell, it is the one that went wrong.
    return {corners.well: bench.seeded(well).whole(well)} | {corners.ill: bench.seeded(ill).whole(ill)}


def _asked(bench: Bench, corners: Corners, look: Look) -> dict[Trial, int]:
    """Say how often all that a look judges by has to have been run, beside the first results: those were why it is looked at."""
    lists = _lists(bench, corners)
    times = {corners.well: look.well, corners.ill: look.ill}
    asked = {each: corners.begun + runs for each, (runs, _) in times.items() if runs}
    return asked | {lists[each]: FIRST + count for each, (_, count) in times.items() if count}


def _sides(bench: Bench, corners: Corners, views: Views[Trial]) -> tuple[Side, ...]:
    """Count what was seen in the order of each of the two cells, the one in which it went wrong at the end."""
    return tuple(
        Side(_wrong(views, whole, first=corners.begun), _wrong(views, one, first=FIRST))
        for whole, one in _lists(bench, corners).items()
    )


def _wrong(views: Views[Trial], trial: Trial, *, first: int) -> Times:
    """Count what did not go well, without the first results: those were why it was looked into."""
    told = views.told(trial)[first:]
    return Times(sum(each.likeness is not Likeness.BASE for each in told), len(told))
