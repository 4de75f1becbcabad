"""Of a test that differs only where several workers run: whether its worker's list makes it, or what runs beside it."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from paritygate.causes.unstable.answers import Answer, OfChance, OfRace, Open, Times
from paritygate.causes.unstable.corners import TWICE, Corners, merged
from paritygate.causes.unstable.ordering import Bench, Inquiry
from paritygate.causes.unstable.suspects import Suspect, Trial
from paritygate.causes.views import Likeness, Views
from paritygate.classifier.evidence import RISK

FURTHER = 6
"""How often a cell is run again, where it is to be known how often a test goes wrong in it."""
LOOKS = ((6, 7), (12, 13), (24, 25), (36, 37))
"""How often the cell and one worker's list in one process are run, each time that a race is judged by."""
LATER = RISK / 2
"""What the chance must be below at a later look: all of them together err in fewer than 1 of 1,000 cases."""


def explain_chance(suspect: Suspect, corners: Corners, views: Views[Trial]) -> Inquiry:
    """Run a cell in which a test changed though nothing else did, and say how often it goes wrong there."""
    if suspect.ill.workers > 1 and suspect.ill.list_of(suspect.test) and views.likeness(corners.ill) is None:
        return (yield from explain_company(Bench.single(suspect), corners, views))
    return (yield from _changed(suspect, corners, views))


def so_far(bench: Bench, corners: Corners, views: Views[Trial]) -> OfChance | None:
    """Say what is known when the time is over: where one process came out otherwise it is chance, and no worker has done it."""
    suspect = bench.suspect
    if suspect.ill.workers <= 1 or any(each.workers <= 1 for each in views.unstable()):
        chance = _chance(suspect, corners, views) if views.unstable() else None
        return chance if chance is not None and chance.again.of else None
    if not suspect.ill.list_of(suspect.test) or may_be_proven(*_sides(bench, corners, views)):
        return None  # more runs may still prove a race, so that nobody knows yet whether it is chance
    answer = _company(bench, corners, views)
    return answer if isinstance(answer, OfChance) else None


def sides_so_far(bench: Bench, corners: Corners, views: Views[Trial]) -> str:
    """Say how often a test went wrong beside other workers and in one process, where both were tried before the time was over."""
    if bench.suspect.ill.workers <= 1 or not bench.suspect.ill.list_of(bench.suspect.test):
        return ""
    beside, alone = _sides(bench, corners, views)
    return f"so far it went wrong {_both(beside, alone)}" if beside.of and alone.of else ""


def _changed(suspect: Suspect, corners: Corners, views: Views[Trial]) -> Inquiry:
    changed = _unstable(corners, views)
    yield from views.need((changed,), _before(corners, changed) + FURTHER)
    return _chance(suspect, corners, views)


def _chance(suspect: Suspect, corners: Corners, views: Views[Trial]) -> OfChance:
    changed = _unstable(corners, views)
    return OfChance(cell=_cell(suspect, corners, changed), again=_wrong(views, changed, first=_before(corners, changed)))


def _unstable(corners: Corners, views: Views[Trial]) -> Trial:
    return next(each for each in (corners.ill, *views.unstable()) if views.likeness(each) is None)


def _before(corners: Corners, trial: Trial) -> int:
    """Count the results of a trial that were why it was looked into."""
    return corners.begun if trial in (corners.ill, corners.well) else 0


def unless_by_chance(asking: Inquiry, suspect: Suspect, corners: Corners, views: Views[Trial]) -> Inquiry:
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
        return (yield from explain_chance(suspect, corners, views))
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


def explain_company(bench: Bench, corners: Corners, views: Views[Trial]) -> Inquiry:
    """Run the cell as it was, and its worker's list in one process, more often as long as that may prove something.

    | in one process | beside the others | then |
    |---|---|---|
    | well each time | so often ill that chance would do it in fewer than 1 of 1,000 cases | a race |
    | well each time | so often that more runs would prove it, were it to go on like that | both are run again |
    | otherwise | now so, now otherwise | chance, with how often on both sides |
    """
    suspect = bench.suspect
    for look in LOOKS:
        beside, alone = look
        # The list's first result is why what runs beside the test is looked into.
        yield from merged(views, {corners.ill: corners.begun + beside, bench.whole(suspect.ill): 1 + alone})
        seen = _sides(bench, corners, views)
        if is_proven(*seen, look):
            return OfRace(workers=suspect.ill.workers, beside=seen[0], alone=Times(seen[1].of, seen[1].of))
        if not may_be_proven(*seen):
            break
    if views.unstable() and views.likeness(corners.ill) is not None:
        return (yield from _changed(suspect, corners, views))
    return _company(bench, corners, views)


def _company(bench: Bench, corners: Corners, views: Views[Trial]) -> OfChance | Open:
    """Say what was seen of both sides where it proves no race."""
    beside, alone = _sides(bench, corners, views)
    if views.likeness(corners.ill) is None and beside.of >= FURTHER:
        return OfChance(cell=_cell(bench.suspect, corners, corners.ill), again=beside, alone=alone)
    return Open(f"it goes wrong {_both(beside, alone)}, which proves neither")


def _both(beside: Times, alone: Times) -> str:
    return f"beside other workers {beside} times and in one process {alone} times"


def _sides(bench: Bench, corners: Corners, views: Views[Trial]) -> tuple[Times, Times]:
    ill = bench.suspect.ill
    return _wrong(views, corners.ill, first=corners.begun), _wrong(views, bench.whole(ill), first=1)


def is_proven(beside: Times, alone: Times, look: tuple[int, int]) -> bool:
    """Say whether a test races, by what was seen up to a look: never in one process, and beside others more than by chance."""
    enough = beside.of >= look[0] and alone.of >= look[1]
    return enough and alone.seen == 0 and by_chance(beside, alone) < (RISK if look == LOOKS[0] else LATER)


def may_be_proven(beside: Times, alone: Times) -> bool:
    """Say whether the last look would prove a race if the test went on going wrong as often as it did."""
    runs, lists = LOOKS[-1]
    wrong = runs * beside.seen // max(1, beside.of)
    return alone.seen == 0 and beside.of < runs and by_chance(Times(wrong, runs), Times(0, lists)) < LATER


def by_chance(beside: Times, alone: Times) -> Fraction:
    """Say at what chance all that went wrong would be on one side, if the sides were alike: drawn without putting back."""
    return Fraction(comb(beside.of, beside.seen), comb(beside.of + alone.of, beside.seen))


def _wrong(views: Views[Trial], trial: Trial, *, first: int) -> Times:
    """Count what did not go well, without the first results: those were why it was looked into."""
    told = views.told(trial)[first:]
    return Times(sum(each.likeness is not Likeness.BASE for each in told), len(told))
