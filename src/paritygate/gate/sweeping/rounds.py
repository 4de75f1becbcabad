"""Runs the cells of a sweep: each value once, in rounds where there are many, and those that part from the rest once more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from paritygate.classifier import labels
from paritygate.classifier.labels import UNSTABLE
from paritygate.gate.cells import Cells, killers
from paritygate.gate.request import World
from paritygate.gate.sweeping.values import Breadth
from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.cells import Cell, EnvironmentName
from paritygate.outcomes.plans import CellPlan, Environment
from paritygate.outcomes.sweeps import Sweep
from paritygate.outcomes.words import Axis, Label, Outcome, Purpose
from paritygate.sweeps import proofs
from paritygate.sweeps.conclusions import PARTED_ALL
from paritygate.witnesses.sampling import SAMPLED

ROUND = 10
PARTED = frozenset({Label.COUPLING, *UNSTABLE})

INTERRUPTED = "the sweep was interrupted"
NO_TIME = "the time for it was over"
Over = Callable[[], bool]


def never() -> bool:
    """Say that there is time."""
    return False


Problems = dict[tuple[Axis, EnvironmentName], str]


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """The cells that are what they should be, and why others are not; `left` says why environments were not tried."""

    cells: tuple[Cell, ...]
    problems: Problems = {}
    left: dict[EnvironmentName, str] = {}


def run(spread: Breadth, plans: Sequence[CellPlan], cells: Cells, world: World, over: Over = never) -> Ran:
    """Run the first attempt under every value, and the second under those that part from the rest.

    What did not prove its value is left out. It ends early where the time is `over`, which is looked at before every value but
    the first that can be proven, or where every test has parted and only further values of a sample are left, which cannot
    change that. What has parted by then is looked at again in any case.
    """
    by_attempt = {(plan.environment.name, plan.attempt): plan for plan in plans}
    ran = Ran(cells=())
    waiting = [each.name for each in in_order(spread)]
    while waiting and not (why := why_to_end(spread, waiting, ran, over)):
        now = waiting[:ROUND]
        world.say(f"sweeping: {_number(len(now))}, and {len(waiting) - len(now)} to come")
        begun = cells.run_in_time([by_attempt[name, 1] for name in now], over)
        ran = _with(ran, spread, _whole(cells, begun))
        gone = {plan.environment.name for plan, _ in begun}
        waiting = [name for name in waiting if name not in gone]
    if waiting:
        world.say(f"not tried: {len(waiting)} value{'s' * (len(waiting) != 1)}, since {why}")
        ran = msgspec.structs.replace(ran, left=dict.fromkeys(waiting, why))
    again = parting(labels.label(ran.cells))
    if again:
        world.say(f"once more under values that part from the rest: {_number(len(again))}")
        ran = _with(ran, spread, _whole(cells, cells.run_in_time([by_attempt[name, 2] for name in again], never)))
    return ran


def _number(cells: int) -> str:
    return f"{cells} cell{'s' * (cells != 1)}"


def in_order(spread: Breadth) -> tuple[Environment, ...]:
    """Put the environments last that have no value but of a sample."""
    others = {each.env for axis in spread.axes if axis.axis not in SAMPLED for each in axis.values}
    return tuple(sorted(spread.environments, key=lambda each: each.name not in others))


def why_to_end(spread: Breadth, waiting: Sequence[EnvironmentName], ran: Ran, over: Over) -> str:
    """Say why no further round is run; empty where one is."""
    if not ran.cells:
        return ""
    if over():
        return NO_TIME
    others = {each.env for axis in spread.axes if axis.axis not in SAMPLED for each in axis.values}
    return PARTED_ALL if others.isdisjoint(waiting) and nothing_to_learn(labels.label(ran.cells)) else ""


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


def _whole(cells: Cells, begun: Sequence[tuple[CellPlan, Cell]]) -> tuple[Cell, ...]:
    plans = [plan for plan, _ in begun]
    ran = cells.again_where_dates_moved(plans, tuple(cell for _, cell in begun))
    return cells.again_without_killers(plans, ran)


def _with(before: Ran, spread: Breadth, cells: Sequence[Cell]) -> Ran:
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
        problems=problems,
        left=before.left,
    )


def so_far(spread: Breadth, cells: Sequence[Cell]) -> Ran:
    """Say what a sweep has seen by the cells that came to an end before it was interrupted.

    A cell in which tests ended their process tells too little as long as it has not run again without them.
    """
    gate = {(cell.env, cell.attempt): cell for cell in cells if cell.purpose is Purpose.GATE}
    broken = {(cell.env, cell.attempt) for cell in cells if killers(cell)}
    whole = [cell for name, cell in gate.items() if name not in broken]
    order = {each.name: number for number, each in enumerate(spread.environments)}
    known = _with(Ran(cells=()), spread, sorted(whole, key=lambda cell: (cell.attempt, order[cell.env])))
    tried = {cell.env for cell in whole}
    return msgspec.structs.replace(known, left={name: INTERRUPTED for name in order if name not in tried})


def _axes_of(spread: Breadth, env: EnvironmentName) -> AbstractSet[Axis]:
    return {each.axis for each in spread.axes if any(value.env == env for value in each.values)}


def described(swept: Sweep, ran: Ran) -> Sweep:
    """Say of every value whether it was tried, and why it is not proven."""
    values = tuple(
        msgspec.structs.replace(
            each, problem=ran.problems.get((swept.axis, each.env), ""), untried=ran.left.get(each.env, each.untried)
        )
        for each in swept.values
    )
    return msgspec.structs.replace(swept, values=values)
