"""The grounds of a run that is over, found once more: the same runners, and the trees that were tested, while they are there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from paritygate.config.file import Overrides
from paritygate.config.settings import EnvironmentSettings
from paritygate.errors import NoVerdictError
from paritygate.gate import material as gate_material
from paritygate.gate.grounds import choosing
from paritygate.gate.grounds.choosing import Ready
from paritygate.gate.grounds.parts import Trees
from paritygate.gate.request import Request, World
from paritygate.gate.settled import Settled, settle
from paritygate.outcomes.artifact import Artifact, Material


class Checkout(msgspec.Struct, frozen=True):
    """Where the trees of a report should be: the project's folder, and the report, which is no part of them. Both absolute."""

    project: Path
    report: Path


@contextmanager
def found_again(artifact: Artifact, material: Material, checkout: Checkout, world: World) -> Iterator[Ready]:
    """Make everything ready on which the cells of a report ran.

    Raises `NoVerdictError` where the checkout no longer holds what was tested, or a ground cannot be had.
    """
    settled = _as_then(
        settle(Request(project=checkout.project, overrides=Overrides(report=str(checkout.report))), world), material
    )
    trees = gate_material.take_trees(settled, world)
    _check(artifact, trees, checkout)
    with choosing.found(settled, world) as grounds:
        yield grounds.prepare(settled, trees, world)


def _as_then(settled: Settled, material: Material) -> Settled:
    """Give each environment what its ground has to have for it as it was, whatever the command line said then."""
    then = {plan.environment.name: plan.environment for plan in material.plans}
    known = settled.settings.environments
    environments = {
        str(name): msgspec.structs.replace(
            known.get(name, EnvironmentSettings()),
            runner=runner.value,
            worktree=then[name].worktree,
            timezone=then[name].timezone,
            locale=then[name].locale,
            case_sensitive="any" if then[name].case_sensitive is None else then[name].case_sensitive,
        )
        for name, runner in material.runners.items()
        if name in then
    }
    network = any(plan.network for plan in material.plans)
    return msgspec.structs.replace(
        settled, settings=msgspec.structs.replace(settled.settings, environments=environments, network=network)
    )


def _check(artifact: Artifact, trees: Trees, checkout: Checkout) -> None:
    """Refuse trees that are not those that were tested."""
    for state, tree in trees.items():
        tested = artifact.subject.trees.get(state.value, "")
        if tree.digest != tested:
            commit = f" (it was on commit {artifact.subject.commit[:12]})" if artifact.subject.commit else ""
            raise NoVerdictError(
                f"the {state} tree in `{checkout.project}` is not the one that was tested ({tested[:12]}, now "
                f"{tree.digest[:12]}), and cells that ran without an engine are made of it",
                f"bring back what was tested{commit}, without new files, name its folder with `--project`, or run the gate again",
            )
