"""Labels, counts, axes and verdict of a report, derived once more from its cells and from nothing else that it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from paritygate import archive, selection
from paritygate.classifier import belonging, labels, planning, surroundings, verdicts
from paritygate.classifier.sides import DIVERGENT, laid_side_by_side
from paritygate.environments import folds_case
from paritygate.freezes import judging
from paritygate.freezes.checking import number
from paritygate.outcomes.artifact import Artifact, Finding, Verdict
from paritygate.outcomes.cells import Cell, TestId
from paritygate.outcomes.words import Axis, CellStatus, FreezeState, Label, Purpose, VerdictName
from paritygate.sweeps.conclusions import amounts, conclude, uncompared
from paritygate.verification import attributed
from paritygate.verification.items import Item, checked

ORDER_CHECKED = frozenset({Label.NONDETERMINISM, Label.UNDECIDED})
"""What a check of the order makes of a coupling that further attempts have confirmed."""
OF_FREEZES = "frozen test"


def items(artifact: Artifact) -> tuple[Item, ...]:
    """Check everything that follows from the cells."""
    gate = tuple(cell for cell in artifact.cells if cell.purpose is Purpose.GATE)
    cells = f"{number(len(gate), 'cell')} of the gate, {len(artifact.cells) - len(gate)} further"
    return (
        checked("cells", cells, _cells(artifact, gate)),
        checked("labels", f"{number(len(artifact.tests), 'test')}, derived again from the cells", _labels(artifact)),
        *attributed.items(artifact),
        checked("sides", "what is shown of tests that diverge", _sides(artifact, gate)),
        checked("counts", _counted(artifact), _counts(artifact, gate)),
        checked("axes", ", ".join(artifact.verdict.axes) or "none varied", _axes(artifact, gate)),
        *_of_sweeps(artifact, gate),
        checked("verdict", f"{artifact.verdict.name} (exit {artifact.verdict.exit_code})", _verdict(artifact, gate)),
    )


def _of_sweeps(artifact: Artifact, gate: Sequence[Cell]) -> Iterator[Item]:
    """Check of a sweep that its rules follow from its cells; another kind of run has nothing to check here."""
    for said in artifact.sweeps:
        found = conclude(said, artifact.tests, gate)
        rules = {(rule.nodeid, rule.occurrence) for rule in found.rules}
        wrong = [f"`{rule.nodeid}`: `{rule.text}` does not follow" for rule in said.rules if rule not in found.rules]
        told = {(rule.nodeid, rule.occurrence) for rule in said.rules}
        wrong += [f"`{nodeid}` parts, and there is no rule for it" for nodeid, _ in rules - told]
        wrong += ["what can still hide does not follow from the number of values"] * (said.bound != found.bound)
        yield checked("sweep", f"{said.axis}: {number(len(said.rules), 'rule')} over {number(len(said.values), 'value')}", wrong)


def _selected(artifact: Artifact) -> Iterator[str]:
    """Check that the cells were planned for what is said to be selected; a tree that lacks a path was planned without it."""
    plans = () if artifact.material is None else artifact.material.plans
    planned = [selection.words_of(plan.selection) for plan in plans if plan.purpose is Purpose.GATE]
    for_cells = tuple(dict.fromkeys(word for words in planned for word in words))
    if planned and {*for_cells} != {*artifact.subject.selection}:
        told, planned_for = (" ".join(words) or "everything" for words in (artifact.subject.selection, for_cells))
        yield f"the cells were planned for `{planned_for}`, and the report says that `{told}` was selected"


def _cells(artifact: Artifact, gate: Sequence[Cell]) -> Iterator[str]:
    """Check that cells are what they say: each one once, of a known environment and of the trees, green only where all is."""
    known = {record.name for record in artifact.environments}
    states = {record.name: record.axes.get(Axis.WORKTREE, "") for record in artifact.environments}
    for (env, attempt), count in Counter((cell.env, cell.attempt) for cell in gate).items():
        if count > 1:
            yield f"there are {count} cells `{env}` attempt {attempt}"
    yield from _selected(artifact)
    for cell in gate:
        name = f"`{cell.env}` attempt {cell.attempt}"
        if cell.env not in known:
            yield f"{name}: there is no such environment"
        if cell.passed and (cell.status is not CellStatus.FINISHED or any(not run.outcome.green for run in cell.tests)):
            yield f"{name} says that it passed, and it {'holds red tests' if cell.tests else 'did not finish'}"
        tree = artifact.subject.trees.get(states.get(cell.env, ""), "")
        if cell.probe is not None and cell.probe.sentinel and tree and cell.probe.sentinel != tree:
            yield f"{name} ran the tree `{cell.probe.sentinel[:12]}`, and the report is about `{tree[:12]}`"


def _labels(artifact: Artifact) -> Iterator[str]:
    fresh = {TestId(each.nodeid, each.occurrence): each for each in archive.from_cells(artifact)}
    said = {TestId(each.nodeid, each.occurrence): each for each in artifact.tests}
    if len(said) < len(artifact.tests):
        yield f"{number(len(artifact.tests) - len(said), 'test')} more than once in the list"
    for test in fresh.keys() - said.keys():
        yield f"`{test.nodeid}` is in the cells, and not among the tests"
    for test, finding in said.items():
        found = fresh.get(test)
        if found is None:
            yield f"`{test.nodeid}` is in no cell"
        elif found.outcomes != finding.outcomes:
            yield f"`{test.nodeid}`: the cells have {_outcomes(found)}, the report {_outcomes(finding)}"
        elif found.label is not finding.label and not (_is_by_order(artifact, found, finding) or _says_less(found, finding)):
            yield f"`{test.nodeid}` is `{found.label}` by its cells, `{finding.label}` in the report"
        elif found.label is finding.label is Label.COUPLING and found.confirmed != finding.confirmed:
            yield f"`{test.nodeid}` is confirmed by {found.confirmed} further attempts, by {finding.confirmed} in the report"


def _outcomes(finding: Finding) -> str:
    return " | ".join(f"{env} {' '.join(attempts)}" for env, attempts in finding.outcomes.items())


def _is_by_order(artifact: Artifact, found: Finding, finding: Finding) -> bool:
    """Say whether cells that checked the order bear out that a confirmed coupling is called something else."""
    if found.label is not Label.COUPLING or finding.label not in ORDER_CHECKED:
        return False
    test = TestId(finding.nodeid, finding.occurrence)
    replays = [cell for cell in artifact.cells if cell.purpose is Purpose.HYBRID and cell.env in finding.outcomes]
    if finding.label is Label.UNDECIDED:
        return any(cell.status is not CellStatus.FINISHED for cell in replays)
    return any(run.outcome is not found.outcomes[cell.env][0] for cell in replays for run in cell.tests if run.test == test)


def _says_less(found: Finding, finding: Finding) -> bool:
    """Say whether a report leaves undecided what its cells show and nothing has confirmed, as where it was interrupted."""
    return found.label is Label.COUPLING and not found.confirmed and finding.label is Label.UNDECIDED


def _sides(artifact: Artifact, gate: Sequence[Cell]) -> Iterator[str]:
    """Check that the failures laid side by side are those of the cells."""
    diverging = [each for each in artifact.tests if each.label in DIVERGENT and each.sides]
    bare = [msgspec.structs.replace(each, sides=()) for each in diverging]
    for said, found in zip(diverging, laid_side_by_side(bare, gate), strict=True):
        if said.sides != found.sides:
            yield f"`{said.nodeid}`: its sides are not what its cells have recorded"


def _counted(artifact: Artifact) -> str:
    return ", ".join(f"{count} {label}" for label, count in artifact.labels.items() if count)


def _counts(artifact: Artifact, gate: Sequence[Cell]) -> Iterator[str]:
    left_out = labels.excluded(gate)
    if left_out != artifact.excluded:
        yield f"the cells exclude {number(len(left_out), 'test')}, the report {len(artifact.excluded)}, or for other reasons"
    for label, count in labels.counts(artifact.tests, left_out).items():
        if artifact.labels.get(label, 0) != count:
            yield f"{label}: {number(count, 'test')}, {artifact.labels.get(label, 0)} in the report"


def _axes(artifact: Artifact, gate: Sequence[Cell]) -> Iterator[str]:
    """Check that what is said to have varied did by the probes; what did and is not counted must say why."""
    said = {each.axis: each for each in artifact.axes}
    for found in surroundings.varied(artifact.environments, gate, artifact.subject.trees):
        row = said.get(found.axis)
        if row is not None and row.varied and not found.varied:
            yield f"{found.axis} did not vary: {found.why}"
        if found.varied and (row is None or (not row.varied and not row.why)):
            yield f"{found.axis} varied by the cells, and the report does not say so"


def _verdict(artifact: Artifact, gate: Sequence[Cell]) -> Iterator[str]:
    said, found = artifact.verdict, weighed(artifact, gate)
    for field in ("name", "exit_code", "axes"):
        here, there = getattr(found, field), getattr(said, field)
        if here != there:
            yield f"{field.replace('_', ' ')}: {_plain(here)} by the labels, {_plain(there)} in the report"
    if said.name is found.name:
        reasons = [_about_tests(verdict) for verdict in (found, said)]
        yield from (f"reason that does not follow: {each}" for each in reasons[1] if each not in reasons[0])
        yield from (f"reason that the report lacks: {each}" for each in reasons[0] if each not in reasons[1])
    if said.reasons == found.reasons and said.line != found.line:
        yield f"line: {_plain(found.line)} by the labels, {_plain(said.line)} in the report"


def _about_tests(verdict: Verdict) -> list[str]:
    return [reason for reason in verdict.reasons if OF_FREEZES not in reason]


def _plain(value: object) -> str:
    return f"`{', '.join(map(str, value))}`" if isinstance(value, tuple) else f"`{value}`"


def weighed(artifact: Artifact, gate: Sequence[Cell]) -> Verdict:
    """Weigh a report's findings again, as the gate does."""
    varied = frozenset(each.axis for each in artifact.axes if each.varied)
    plans = artifact.material.plans if artifact.material is not None else ()
    unknown = any(freeze.state is FreezeState.UNKNOWN for freeze in artifact.freezes.values())
    return verdicts.verdict(
        artifact.tests,
        verdicts.Facts(
            cells=tuple(gate),
            varied=artifact.axes,
            excluded=len(artifact.excluded),
            blocking=(
                *planning.obstacles(artifact.planned, gate),
                *surroundings.undeclared_differences(gate, varied).blocking,
                *uncompared(artifact.sweeps),
                # A whole run has run such cells again; what was put together from files has not.
                *(belonging.dates_apart(artifact.tests, gate) if artifact.material is None else ()),
            ),
            collisions=artifact.subject.colliding_names if folds_case(plan.environment for plan in plans) else (),
            frozen=judging.still_let_through(artifact.freezes, artifact.tests),
            refused=artifact.verdict.reasons if artifact.verdict.name is VerdictName.REFUSED and unknown else (),
            amounts=amounts(artifact.sweeps),
        ),
    )
