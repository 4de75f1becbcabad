"""Of a test that differs only where several workers run: whether its worker's list makes it, or what runs beside it."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from paritygate.causes.unstable.answers import Answer, OfChance, OfRace, Open, Times
from paritygate.causes.unstable.corners import Corners, merged
from paritygate.causes.unstable.ordering import Bench, Inquiry, explain_order
from paritygate.causes.unstable.suspects import Ran, Suspect, Trial
from paritygate.causes.views import Likeness, Views
from paritygate.classifier.evidence import RISK

FURTHER = 6
"""How often a cell is run again, where it is to be known how often a test goes wrong in it."""
ALONE = 7
"""How often one worker's list is run in one process: all of six against none of seven is chance in 1 of 1,716 cases."""


def explain_company(suspect: Suspect, corners: Corners, views: Views[Trial]) -> Inquiry:
    """Run the lists of the test's own workers in one process each, and the cell as it was.

    | the list of the ill cell's worker, in one process | then |
    |---|---|
    | is ill, and that of the well cell's worker well | it is their order |
    | is well each time, and ill beside the others so often that chance would do it in fewer than 1 of 1,000 cases | a race |
    | otherwise | open |
    """
    bench = Bench(suspect=suspect, victims=(suspect.test,), seeded_as=suspect.ill)
    ill, well = (_in_one_process(bench, ran) for ran in (suspect.ill, suspect.well))
    yield from views.need((ill, well), 1)
    if (views.likeness(ill), views.likeness(well)) == (Likeness.TARGET, Likeness.BASE):
        return (yield from unless_by_chance(explain_order(bench, views), suspect, corners, views))
    return (yield from _beside_others(suspect, corners, views, ill))


def explain_chance(suspect: Suspect, corners: Corners, views: Views[Trial]) -> Inquiry:
    """Run a cell in which a test changed though nothing else did, and say how often it goes wrong there."""
    if suspect.ill.workers > 1 and suspect.ill.list_of(suspect.test) and views.likeness(corners.ill) is None:
        bench = Bench(suspect=suspect, victims=(suspect.test,), seeded_as=suspect.ill)
        return (yield from _beside_others(suspect, corners, views, _in_one_process(bench, suspect.ill)))
    return (yield from _changed(suspect, corners, views))


def so_far(suspect: Suspect, corners: Corners, views: Views[Trial]) -> OfChance | None:
    """Say what is known when the time is over: where a cell came out otherwise it is chance, if no worker can have done it."""
    if not views.unstable() or suspect.ill.workers > 1:
        return None
    answer = _chance(suspect, corners, views)
    return answer if answer.again.of else None


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
    yield from views.need(corners.all, FURTHER)
    if views.unstable():
        return (yield from explain_chance(suspect, corners, views))
    return answer or Open("it came out otherwise in a cell that was run again")


def _cell(suspect: Suspect, corners: Corners, changed: Trial) -> str:
    """Name the cell that changed."""
    attempts = {corners.ill: suspect.ill.attempt, corners.well: suspect.well.attempt}
    if changed in attempts:
        return f"attempt {attempts[changed]} of {suspect.ill.env}"
    if changed.workers <= 1 < suspect.ill.workers:
        return f"one worker's list of {suspect.ill.env} in one process"
    return f"a cell of {suspect.ill.env} made of attempts {suspect.well.attempt} and {suspect.ill.attempt}"


def _beside_others(suspect: Suspect, corners: Corners, views: Views[Trial], alone: Trial) -> Inquiry:
    yield from merged(views, {corners.ill: corners.begun + FURTHER, alone: ALONE})
    beside = _wrong(views, corners.ill, first=corners.begun)
    apart = _wrong(views, alone, first=0)
    if apart.seen == 0 and by_chance(beside, apart) < RISK:
        return OfRace(workers=suspect.ill.workers, beside=beside, alone=Times(apart.of, apart.of))
    if views.likeness(corners.ill) is None:
        return OfChance(cell=_cell(suspect, corners, corners.ill), again=beside, alone=apart)
    if views.unstable():
        return (yield from _changed(suspect, corners, views))
    return Open(f"it goes wrong beside other workers {beside} times and in one process {apart} times, which proves neither")


def by_chance(beside: Times, alone: Times) -> Fraction:
    """Say at what chance all that went wrong would be on one side, if the sides were alike: drawn without putting back."""
    return Fraction(comb(beside.of, beside.seen), comb(beside.of + alone.of, beside.seen))


def _in_one_process(bench: Bench, ran: Ran) -> Trial:
    return bench.trial(ran.list_of(bench.suspect.test))


def _wrong(views: Views[Trial], trial: Trial, *, first: int) -> Times:
    """Count what did not go well, without the first results: those were why it was looked into."""
    told = views.told(trial)[first:]
    return Times(sum(each.likeness is not Likeness.BASE for each in told), len(told))
