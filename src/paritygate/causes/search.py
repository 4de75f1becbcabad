"""Which mixtures of two environments to try next for one test, and what follows from those that were tried.

Pure: it runs nothing, and says what it wants to see.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from itertools import combinations

import msgspec

from paritygate.causes.computers import Part
from paritygate.causes.views import Likeness, Seen, Views

TWICE = 2

Mix = frozenset[Part]
"""The axes that are taken from the target, all others being the base's; and whether it is run on the target's computer."""

Ways = tuple[Mix, ...]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What explains a test: `ways` are the mixtures that are each enough, and `hidden` the axes that show only without those.

    Where no way was found: `unstable` are mixtures that gave contrary results, `silent` those whose cells told nothing; where
    there are neither, the axes do not explain it.
    """

    ways: Ways = ()
    hidden: Mix = frozenset()
    unstable: Ways = ()
    silent: Ways = ()


Wanted = dict[Mix, int]
"""How often each of some mixtures is to be tried."""

Search = Generator[Wanted, None, Answer]


class Table(Views[Mix]):
    """What has been seen of one test, mixture by mixture, and the axes that are mixed."""

    def __init__(self, axes: Sequence[Part], views: Mapping[Mix, Sequence[Seen]]) -> None:
        super().__init__(views)
        self.axes = tuple(axes)


def study(table: Table) -> Search:
    """Find what makes the target of the base: each axis alone, then several together.

    Where others have already shown what the target is without each axis, and one of them alone matters, that is tried first:
    without it no other makes the target, so if it does there is no more to find.
    """
    singles = tuple(Mix({axis}) for axis in table.axes)
    everything = frozenset(table.axes)
    mattering = table.like((everything - one for one in singles), Likeness.BASE)
    if len(mattering) == 1 and not table.silent(everything - one for one in singles):
        one = everything - mattering[0]
        yield from table.need((one, mattering[0]), TWICE)
        if table.likeness(one) is Likeness.TARGET and not table.silent((one, mattering[0]), TWICE):
            return Answer(ways=(one,))
    yield from table.need(singles, 1)
    ways = table.like(singles, Likeness.TARGET) or (yield from _together(table, everything))
    if ways:
        return (yield from _prove(table, ways))
    # Before it is said that none explains a test each is looked at once more.
    yield from table.need(singles, TWICE)
    return Answer(silent=table.silent())


def _together(table: Table, whole: Mix) -> Generator[Wanted, None, Ways]:
    """Find the smallest mixtures of several axes that make the target, which `whole` does, and no axis alone.

    Whatever makes it holds every axis without which the whole does not: mostly that is all. Otherwise one more axis is tried
    beside those, and two where there is none. If that is not enough either, axes are taken out of the whole, one after another,
    as long as it makes the target without them.
    """
    inside = tuple(axis for axis in table.axes if axis in whole)
    if len(inside) <= 1:
        return ()
    yield from table.need((whole - {axis} for axis in inside), 1)
    needed = frozenset(axis for axis in inside if table.likeness(whole - {axis}) is not Likeness.TARGET)
    if len(needed) > 1:
        yield from table.need((needed, whole - needed), TWICE)  # what would prove it, at once
        if table.likeness(needed) is Likeness.TARGET:
            return (needed,)
    others = tuple(axis for axis in inside if axis not in needed)
    larger = tuple(needed | frozenset(some) for some in combinations(others, 1 if needed else TWICE))
    yield from table.need(larger, 1)
    return table.like(larger, Likeness.TARGET) or (yield from _narrowed(table, whole, others))


def _narrowed(table: Table, whole: Mix, others: Sequence[Part]) -> Generator[Wanted, None, Ways]:
    """Take what is not needed out of a whole, axis by axis; no way where it cannot be without any of these."""
    left = whole
    for axis in others:
        yield from table.need((left - {axis},), 1)
        if table.likeness(left - {axis}) is Likeness.TARGET:
            left -= {axis}
    return (left,) if left != whole else ()


def _prove(table: Table, ways: Ways) -> Search:
    """Run every way again, and the other way round: without all of them the target has to be the base.

    | the target without them | then |
    |---|---|
    | is the base, twice | that is the answer |
    | is a third thing | what gave a third thing alone was hidden behind them: without that too it has to be the base |
    | is still the target | something else makes it as well, though no axis alone |
    """
    everything = frozenset(table.axes)
    without = everything.difference(*ways)
    # Where it takes all axes there is no mixture to prove it by but those that lack one.
    smaller = tuple(everything - {axis} for axis in table.axes) if everything in ways else ()
    trials = (*ways, without, *smaller)
    yield from table.need(trials, TWICE)
    if silent := table.silent(trials, TWICE):
        return Answer(silent=silent)
    singles = (Mix({axis}) for axis in table.axes if axis in without)
    hidden = Mix().union(*table.like(singles, Likeness.OTHER))
    if hidden and table.likeness(without) is not Likeness.BASE:
        yield from table.need((without - hidden,), TWICE)
        if table.likeness(without - hidden) is Likeness.BASE:
            return Answer(ways=ways, hidden=hidden)
    more = (yield from _together(table, without)) if table.likeness(without) is Likeness.TARGET else ()
    return (yield from _prove(table, (*ways, *more))) if more else Answer(ways=ways)
