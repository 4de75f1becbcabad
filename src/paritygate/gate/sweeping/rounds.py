"""Runs the cells of a sweep: each value once, in rounds where there are many, and those that part from the rest once more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from paritygate.classifier import labels
from paritygate.classifier.labels import UNSTABLE
from paritygate.gate.cells import Cells
from paritygate.gate.request import World
from paritygate.gate.sweeping.values import Spread, Swept
from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.cells import Cell, EnvironmentName
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import Axis, Label, Outcome, Purpose
from paritygate.sweeps import proofs

SAMPLED = frozenset({Axis.HASH_SEED})
"""Axes whose values are a sample of many: they are tried in rounds, for a round may leave nothing to learn."""
ROUND = 10
PARTED = frozenset({Label.COUPLING, *UNSTABLE})

Problems = dict[tuple[Axis, EnvironmentName], str]


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """The cells of a sweep, those that prove nothing apart, and why they do not; `left` are environments not tried at all."""

    cells: tuple[Cell, ...]
    unproven: tuple[Cell, ...] = ()
    problems: Problems = {}
    left: frozenset[EnvironmentName] = frozenset()


def run(spread: Spread, plans: Sequence[CellPlan], cells: Cells, world: World) -> Ran:
    """Run the first attempt under every value, and the second under those that part from the rest.

    What did not prove its value is set aside. It ends early where every test has parted, which no further value of a sample
    can change.
    """
    by_attempt = {(plan.environment.name, plan.attempt): plan for plan in plans}
    ran = Ran(cells=())
    rounds = list(in_rounds(spread))
    for number, names in enumerate(rounds):
        world.say(f"sweeping: {len(names)} cell{'s' * (len(names) != 1)}, round {number + 1} of {len(rounds)}")
        ran = _with(ran, spread, _whole(cells, [by_attempt[name, 1] for name in names]))
        if number + 1 < len(rounds) and nothing_to_learn(labels.label(ran.cells)):
            left = frozenset(name for later in rounds[number + 1 :] for name in later)
            world.say(f"every test has parted by now: {len(left)} more values are not tried")
            ran = msgspec.structs.replace(ran, left=left)
            break
    again = parting(labels.label(ran.cells))
    if again:
        world.say(f"once more under values that part from the rest: {len(again)} cell{'s' * (len(again) != 1)}")
        ran = _with(ran, spread, _whole(cells, [by_attempt[name, 2] for name in again]))
    return ran


def in_rounds(spread: Spread) -> Iterator[tuple[EnvironmentName, ...]]:
    """Yield the environments round by round: all that are no sample first, and with them the first of those that are."""
    later = [each.env for axis in spread.axes if axis.axis in SAMPLED for each in axis.values]
    others = {each.env for axis in spread.axes if axis.axis not in SAMPLED for each in axis.values}
    later = [name for name in dict.fromkeys(later) if name not in others]
    first = [each.name for each in spread.environments if each.name not in later]
    yield (*first, *later[:ROUND])
    for start in range(ROUND, len(later), ROUND):
        yield tuple(later[start : start + ROUND])


def nothing_to_learn(findings: Sequence[Finding]) -> bool:
    """Say whether every test has parted: under some values it does something else than under others."""
    return bool(findings) and all(each.label in PARTED for each in findings)


def parting(findings: Sequence[Finding]) -> tuple[EnvironmentName, ...]:
    """List the environments in which some test does not do what it does in most of them."""
    apart: dict[EnvironmentName, None] = {}
    for finding in findings:
        if finding.label is Label.COUPLING:
            apart.update(dict.fromkeys(_fewer(finding.outcomes)))
    order = {name: number for finding in findings[:1] for number, name in enumerate(finding.outcomes)}
    return tuple(sorted(apart, key=lambda name: order.get(name, 0)))


def _fewer(outcomes: Mapping[EnvironmentName, tuple[Outcome, ...]]) -> Iterator[EnvironmentName]:
    counted = Counter(attempts[0] for attempts in outcomes.values())
    most = counted.most_common(1)[0][0]
    return (name for name, attempts in outcomes.items() if attempts[0] is not most)


def _whole(cells: Cells, plans: Sequence[CellPlan]) -> tuple[Cell, ...]:
    ran = cells.again_where_dates_moved(plans, cells.run(plans))
    return cells.again_without_killers(plans, ran)


def _with(before: Ran, spread: Spread, cells: Sequence[Cell]) -> Ran:
    """Add cells to those before; one that does not prove its value tells of nothing but that."""
    problems = dict(before.problems)
    for cell in cells:
        for axis in _axes_of(spread, cell.env):
            if said := proofs.problem(axis, spread.of(cell.env), cell):
                problems.setdefault((axis, cell.env), said)
    gone = frozenset(env for _, env in problems)
    known = (*before.cells, *cells)
    return Ran(
        cells=tuple(cell for cell in known if cell.env not in gone),
        unproven=(*before.unproven, *(_apart(cell) for cell in known if cell.env in gone)),
        problems=problems,
    )


def _axes_of(spread: Spread, env: EnvironmentName) -> AbstractSet[Axis]:
    return {each.axis for each in spread.axes if any(value.env == env for value in each.values)}


def _apart(cell: Cell) -> Cell:
    """Take a cell out of those that labels come from."""
    return msgspec.structs.replace(cell, purpose=Purpose.SWEEP)


def described(swept: Swept, ran: Ran) -> Swept:
    """Say of every value whether it was tried, and why it is not proven."""
    values = tuple(
        msgspec.structs.replace(each, problem=ran.problems.get((swept.axis, each.env), ""), tried=each.env not in ran.left)
        for each in swept.values
    )
    return msgspec.structs.replace(swept, values=values)
