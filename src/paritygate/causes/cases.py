"""What is to be explained: for each coupled test two environments in which it differs, and the axes that lie between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import product

import msgspec

from paritygate.causes.computers import Beyond, Computers, Part, are_apart, both
from paritygate.classifier.evidence import Gate, stable_outcome
from paritygate.environments import OFFERED
from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.cells import EnvironmentName, TestId
from paritygate.outcomes.plans import Environment
from paritygate.outcomes.words import Axis, Outcome

Environments = Mapping[EnvironmentName, Environment]


class Pair(msgspec.Struct, frozen=True):
    """Two environments and the axes that varied between them; `whole` says that nothing else differs.

    `computers` names the two on which they run where they are not one: that is a part of its own then, to which all belongs that
    is not an axis that varied.
    """

    first: EnvironmentName
    second: EnvironmentName
    axes: tuple[Axis, ...]
    whole: bool
    computers: str = ""

    @property
    def parts(self) -> tuple[Part, ...]:
        """List all that can be mixed of the two."""
        return (*self.axes, Beyond.COMPUTER) if self.computers else self.axes


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One test in a pair: `base` is where it does the better, and `target` what is to be made of that, axis by axis."""

    test: TestId
    pair: Pair
    base: EnvironmentName
    target: EnvironmentName
    before: Outcome
    after: Outcome


PairOf = Callable[[EnvironmentName, EnvironmentName], Pair]


def cases_of(gate: Gate, varied: AbstractSet[Axis], computers: Computers) -> tuple[Case, ...]:
    """List what is to be explained of every coupled test: its first outcome against each of the others."""
    environments = {plan.environment.name: plan.environment for plan in gate.plans}

    def pair(one: EnvironmentName, two: EnvironmentName) -> Pair:
        found = _pair(environments[one], environments[two], varied)
        if not are_apart(one, two, computers):
            return found
        return msgspec.structs.replace(found, whole=True, computers=both(one, two, computers))

    return tuple(
        _case(test, finding, each) for test, finding in gate.flagged.items() for each in _pairs(finding, environments, pair)
    )


def _pairs(finding: Finding, environments: Environments, pair: PairOf) -> Iterator[Pair]:
    """Choose for each further outcome the two environments between which the least varied."""
    groups: dict[Outcome, list[EnvironmentName]] = {}
    for env in finding.outcomes:
        if env in environments:
            groups.setdefault(stable_outcome(finding, env), []).append(env)
    first, *others = groups.values()
    for other in others:
        yield min((pair(one, two) for one, two in product(first, other)), key=lambda each: len(each.parts))


def _pair(first: Environment, second: Environment, varied: AbstractSet[Axis]) -> Pair:
    different = tuple(axis for axis in OFFERED if first.value(axis) != second.value(axis))
    axes = tuple(axis for axis in different if axis in varied)
    # States of the tree that did not vary hold the same files; of other axes only what was measured was the same.
    return Pair(first.name, second.name, axes, set(different) - {Axis.WORKTREE} <= set(axes))


def _case(test: TestId, finding: Finding, pair: Pair) -> Case:
    """Begin with the better outcome, so that what is looked for is what spoils it: of several things each may be enough."""
    first, second = stable_outcome(finding, pair.first), stable_outcome(finding, pair.second)
    if rank(second) < rank(first):
        return Case(test=test, pair=pair, base=pair.second, target=pair.first, before=second, after=first)
    return Case(test=test, pair=pair, base=pair.first, target=pair.second, before=first, after=second)


def rank(outcome: Outcome) -> int:
    """Say how bad an outcome is, from 0: that a test is not there is worse than that it fails."""
    if outcome is Outcome.PASSED:
        return 0
    return 1 if outcome.green else 2 + (outcome is not Outcome.NOT_COLLECTED)
