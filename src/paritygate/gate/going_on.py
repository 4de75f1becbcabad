"""The search for causes of a report, gone on with: it begins with the cells that the report has, and never says less."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from paritygate import archive, recorded
from paritygate.causes.computers import computers_of_report
from paritygate.causes.files import rules_in, with_rules
from paritygate.causes.flow import Run
from paritygate.causes.wording import UNFINISHED
from paritygate.classifier import labels, surroundings, verdicts
from paritygate.classifier.sides import laid_side_by_side
from paritygate.confirm.flow import Confirmation
from paritygate.environments import Resolution
from paritygate.freezes import judging
from paritygate.gate import hints
from paritygate.gate.explaining import Budget, Known, Search, distinct
from paritygate.gate.material import Planned
from paritygate.gate.result import that_count
from paritygate.locks import drift
from paritygate.outcomes.artifact import Artifact, Finding, Material
from paritygate.outcomes.cells import Cell, EnvironmentName, TestId
from paritygate.outcomes.plans import CellPlan
from paritygate.outcomes.words import Axis, Label, Purpose, VerdictName
from paritygate.sweeps import conclusions


class GoingOn:
    """A search for causes that begins with what a report holds, and leaves none of it out."""

    def __init__(self, artifact: Artifact, material: Material, run: Run) -> None:
        self._artifact = artifact
        self._material = material
        self._run = run
        self._ran: dict[str, CellPlan] = {}
        self._search = Search(_known(artifact, material), self._running)

    def explained(self, budget: Budget) -> Artifact:
        """Give the report with the causes that are found in some time."""
        return _explained(self._artifact, self._material, self._search.causes(budget), self._ran)

    def so_far(self) -> Artifact:
        """Give it with what follows from the cells that have run, also after an interruption."""
        return _explained(self._artifact, self._material, self._search.so_far(), self._ran)

    def _running(self, plans: tuple[CellPlan, ...]) -> Sequence[Cell]:
        cells = self._run(plans)
        self._ran |= {plan.name: plan for plan in plans}
        return cells


def _known(artifact: Artifact, material: Material) -> Known:
    plans = recorded.gate_plans(material)
    plan_of = {plan.name: plan for plan in material.plans}
    envs = {plan.environment.name for plan in plans}
    resolution = Resolution(environments=tuple({plan.environment.name: plan.environment for plan in plans}.values()))
    ruled = told_by_rules(artifact)
    findings = tuple(each for each in archive.before_causes(artifact) if TestId(each.nodeid, each.occurrence) not in ruled)
    return Known(
        planned=Planned(plans=plans, resolution=resolution, lacking={}, nothing=material.nothing, shadowed=material.shadowed),
        varied=_varied(artifact),
        gate=tuple(cell for cell in artifact.cells if cell.purpose is Purpose.GATE),
        confirmation=Confirmation(
            findings=findings,
            cells=tuple(cell for cell in artifact.cells if _is_before_causes(cell, plan_of, envs)),
        ),
        different=material.different,
        computers=computers_of_report(artifact),
        earlier=tuple((plan_of[_name(cell)], cell) for cell in artifact.cells if _has_looked_for_causes(cell, plan_of)),
        frozen=judging.still_let_through(artifact.freezes, findings),
    )


def _name(cell: Cell) -> str:
    return f"{cell.env}-{cell.attempt}"


def _has_looked_for_causes(cell: Cell, plan_of: Mapping[str, CellPlan]) -> bool:
    return cell.purpose is Purpose.HYBRID and _name(cell) in plan_of


def _is_before_causes(cell: Cell, plan_of: Mapping[str, CellPlan], envs: AbstractSet[EnvironmentName]) -> bool:
    """Say whether a cell confirmed, or checked the order: what is unstable is looked into with these, and with no later ones.

    One that checked the order has its hash seed from its data seed, as those have in which a search has mixed nothing; those
    count as well, for they come before what is unstable. One that looks into an unstable test has a hash seed of its own.
    """
    if cell.purpose is Purpose.CONFIRM:
        return True
    return cell.env in envs and _has_looked_for_causes(cell, plan_of) and plan_of[_name(cell)].hash_seed is None


def told_by_rules(artifact: Artifact) -> dict[TestId, Finding]:
    """Give the couplings of a sweep with the rules as their causes: these came from more values than a search could ask for."""
    ruled = {TestId(rule.nodeid, rule.occurrence) for sweep in artifact.sweeps for rule in sweep.rules}
    found = {TestId(each.nodeid, each.occurrence): each for each in conclusions.with_causes(artifact.tests, artifact.sweeps)}
    return {test: each for test, each in found.items() if test in ruled and each.label is Label.COUPLING}


def _with_ruled(artifact: Artifact, found: Iterable[Finding]) -> tuple[Finding, ...]:
    """Put what was found, and what a sweep's rules have said already, into the order of the report."""
    said = {TestId(each.nodeid, each.occurrence): each for each in found} | told_by_rules(artifact)
    return tuple(said.get(TestId(each.nodeid, each.occurrence), each) for each in artifact.tests)


def _varied(artifact: Artifact) -> frozenset[Axis]:
    return frozenset(each.axis for each in artifact.axes if each.varied)


def _never_poorer(artifact: Artifact, now: Iterable[Finding]) -> tuple[Finding, ...]:
    """Take for each test what says more: what was found of it, or what the report has."""
    bare = archive.before_causes(artifact)
    ended = {
        TestId(before.nodeid, before.occurrence): before
        for before, each in zip(artifact.tests, bare, strict=True)
        if before.cause is not None or (before.note != each.note and UNFINISHED not in before.note)
    }
    return tuple(_richer(ended.get(TestId(each.nodeid, each.occurrence), each), each) for each in now)


def _richer(ended: Finding, now: Finding) -> Finding:
    """Choose between a search that ended and a later one: a cause above none, files above none, and any end above a cut."""
    if ended.label is not now.label:
        return now
    if ended.cause is None or now.cause is None:
        less = ended.cause is not None or (now.cause is None and UNFINISHED in now.note)
    else:
        less = UNFINISHED in now.note or (ended.cause.axes == now.cause.axes and bool(ended.cause.files) and not now.cause.files)
    return msgspec.structs.replace(now, cause=ended.cause, note=ended.note) if less else now


def _explained(artifact: Artifact, material: Material, found: Confirmation, ran: Mapping[str, CellPlan]) -> Artifact:
    """Put what was found into the report, and weigh it again as the gate does."""
    gate = tuple(cell for cell in artifact.cells if cell.purpose is Purpose.GATE)
    explained = _with_ruled(artifact, drift.attributed(found.findings, gate))
    findings = laid_side_by_side(with_rules(explained, lambda _: rules_in(artifact.tests)), gate)
    findings = hints.carried_over(_never_poorer(artifact, findings), artifact.tests)
    facts = verdicts.Facts(
        cells=gate,
        varied=artifact.axes,
        excluded=len(artifact.excluded),
        blocking=surroundings.undeclared_differences(gate, _varied(artifact)).blocking,
        collisions=that_count(artifact.subject.colliding_names, (plan.environment for plan in material.plans)),
        frozen=judging.still_let_through(artifact.freezes, findings),
        refused=artifact.verdict.reasons if artifact.verdict.name is VerdictName.REFUSED else (),
    )
    plans = (*material.plans, *ran.values())
    return msgspec.structs.replace(
        artifact,
        verdict=verdicts.verdict(findings, facts),
        cells=distinct((*artifact.cells, *(cell for cell in found.cells if cell.purpose is Purpose.HYBRID))),
        tests=findings,
        freezes=judging.since(artifact.freezes, artifact.tests, findings),
        labels=labels.counts(findings, artifact.excluded),
        material=msgspec.structs.replace(material, plans=recorded.plans_for_the_record(plans)),
    )
