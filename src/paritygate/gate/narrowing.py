"""The selection from the diff, where one was asked for."""

from __future__ import annotations

from collections.abc import Mapping

from paritygate.changed import choosing
from paritygate.changed.reading import Wanted
from paritygate.config.settings import USUAL_REPORT
from paritygate.gate import material
from paritygate.gate.grounds.parts import Trees
from paritygate.gate.request import Request, World
from paritygate.gate.settled import Settled, settle
from paritygate.outcomes.artifact import Changed
from paritygate.outcomes.plans import Selection
from paritygate.snapshot import survey


def narrow(asked: Selection, request: Request, settled: Settled, trees: Trees, world: World) -> tuple[Selection, Changed | None]:
    """Narrow what was asked for to what can see the patch, and say how many test files that are; None without `--changed`."""
    if request.changed is None:
        return asked, None
    chosen = choosing.choose(_wanted(asked, request.changed, settled, trees, world.variables))
    changed = chosen.changed
    files = f"{len(changed.files)} file{'s' * (len(changed.files) != 1)}"
    world.say(f"changed since {changed.base[:12]}: {files}, {len(changed.tests)} of {changed.known} test files")
    return chosen.selection, changed


def preview(request: Request, world: World) -> Changed:
    """Say what `narrow` would choose, without an engine."""
    settled = settle(request, world)
    trees = material.take_trees(settled, world)
    asked = material.select(settled, trees, request)
    return choosing.choose(_wanted(asked, request.changed or "", settled, trees, world.variables)).changed


def _wanted(asked: Selection, base: str, settled: Settled, trees: Trees, variables: Mapping[str, str]) -> Wanted:
    """Gather what a choice is made from; reports lie in the tree and are no part of a patch."""
    prefix = f"{asked.directory}/" if asked.directory else ""
    inside = settled.report.is_relative_to(settled.project)
    report = settled.report.relative_to(settled.project).as_posix() if inside else USUAL_REPORT
    return Wanted(
        asked=asked,
        trees=tuple(trees.values()),
        base=base,
        own=tuple(f"{prefix}{name}" for name in (*survey.OWN, ".paritygate", report)),
        environ=variables,
    )
