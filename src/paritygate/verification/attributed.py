"""Whether the cells of mixed environments bear out the axes, or the computers, that a report names as causes of couplings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from paritygate.causes.cases import Case, cases_of
from paritygate.causes.computers import Beyond, Part, computers_of_report, ran_there
from paritygate.causes.mixing import hybrid_of
from paritygate.causes.search import Mix
from paritygate.classifier.evidence import gate_of
from paritygate.outcomes.artifact import Artifact, Finding
from paritygate.outcomes.cells import Cell, TestId
from paritygate.outcomes.words import CauseKind, Label, Purpose
from paritygate.verification.items import Item, checked, not_checked

WHAT = "causes"
OTHERS = "other causes"
MIXED = frozenset({CauseKind.AXIS, CauseKind.COMPUTER})
"""The kinds of causes that are shown by mixing environments."""


def items(artifact: Artifact) -> Iterator[Item]:
    """Check the axes that are named as causes, and say of which tests the cause is only told."""
    yield _of_axes(artifact)
    others = [each for each in artifact.tests if each.cause is not None and each.cause.kind not in MIXED]
    if others:
        kinds = ", ".join(sorted({each.cause.kind for each in others if each.cause is not None}))
        yield not_checked(OTHERS, f"of {len(others)} tests ({kinds}): what is told of them is not derived again")


def _of_axes(artifact: Artifact) -> Item:
    """Check every coupling's axes: what is named must have been run in a cell that mixes just that, and done as it says.

    All that differs, together, needs no such cell: it is what lies between the two sides. That is more than the axes where the
    two ran on different computers. What is not checked is whether less would have been enough.
    """
    named = [each for each in artifact.tests if each.label is Label.COUPLING and each.cause and each.cause.kind in MIXED]
    if not named:
        return checked(WHAT, "no coupling has an axis for its cause", ())
    if artifact.material is None:
        return not_checked(WHAT, "the report does not hold the plans of its cells")
    cases = _cases(artifact)
    wrong = [line for each in named for line in _of_one(artifact, each, cases.get(_test(each), ()))]
    hybrids = sum(cell.purpose is Purpose.HYBRID for cell in artifact.cells)
    return checked(WHAT, f"axes of {len(named)} couplings, held against {hybrids} cells of mixed environments", wrong)


def _test(finding: Finding) -> TestId:
    return TestId(finding.nodeid, finding.occurrence)


def _cases(artifact: Artifact) -> dict[TestId, tuple[Case, ...]]:
    plans = artifact.material.plans if artifact.material is not None else ()
    gate = gate_of(artifact.tests, artifact.cells, (plan for plan in plans if plan.purpose is Purpose.GATE))
    varied = frozenset(each.axis for each in artifact.axes if each.varied)
    found: dict[TestId, tuple[Case, ...]] = {}
    for case in cases_of(gate, varied, computers_of_report(artifact)):
        found[case.test] = (*found.get(case.test, ()), case)
    return found


def _of_one(artifact: Artifact, finding: Finding, cases: Sequence[Case]) -> Iterator[str]:
    """Check the ways of one coupling, each by the pairs of environments that it may be about."""
    cause = finding.cause
    ways = () if cause is None else cause.ways or (cause.axes,)
    if cause is not None and {axis for way in ways for axis in way} != set(cause.axes):
        yield f"`{finding.nodeid}`: {_listed(cause.axes)} is named, and what was shown is {'; '.join(map(_listed, ways))}"
    elsewhere: Mix = frozenset({Beyond.COMPUTER} if cause is not None and cause.kind is CauseKind.COMPUTER else ())
    for way in ways:
        mix = elsewhere.union(way)
        about = [case for case in cases if mix <= frozenset(case.pair.parts)]
        if not about:
            yield f"`{finding.nodeid}`: {_listed(_sorted(mix))} did not vary where it differs"
        elif not any(mix == frozenset(case.pair.parts) for case in about):
            yield from _of_a_mix(artifact, about, mix)


def _of_a_mix(artifact: Artifact, cases: Sequence[Case], mix: Mix) -> Iterator[str]:
    """Look for the cells of one mixture: in one pair at least every one that tells of the test must have flipped it."""
    seen: Counter[str] = Counter()
    for case in cases:
        outcomes = [run.outcome for cell in _mixed(artifact, case, mix) for run in cell.tests if run.test == case.test]
        if outcomes and case.before not in outcomes:
            return
        seen.update(map(str, outcomes))
    test, way = cases[0].test.nodeid, _listed(_sorted(mix))
    if seen:
        counted = ", ".join(f"{what} ({count})" for what, count in seen.items())
        yield f"`{test}`: with {way} alone it was {counted}, which is no flip"
    else:
        yield f"`{test}`: no cell has run it with {way} alone"


def _mixed(artifact: Artifact, case: Case, mix: Mix) -> Iterator[Cell]:
    """Find the cells of a mixture that were run to tell of a test, on the computer on which its base's cells are."""
    hybrid, computers = hybrid_of(case, mix), computers_of_report(artifact)
    for cell in artifact.cells:
        if cell.purpose is not Purpose.HYBRID or cell.env != hybrid.name or not ran_there(cell, hybrid.base, computers):
            continue
        if not cell.about or case.test in cell.about:
            yield cell


def _sorted(mix: Mix) -> tuple[Part, ...]:
    return tuple(sorted(mix, key=lambda part: (isinstance(part, Beyond), part)))


def _listed(way: Sequence[Part]) -> str:
    return " and ".join(way)
