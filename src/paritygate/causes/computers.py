"""Where the cells of environments run, as far as that is a difference between them, which is no axis.

A mixed environment runs where its base does. So a mixture of axes can be run on either computer, and which of them it is counts
as one more part of the mixture: what one computer does says nothing of the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from paritygate.outcomes.artifact import Artifact, EngineRecord
from paritygate.outcomes.cells import Cell, EnvironmentName
from paritygate.outcomes.words import Axis, RunnerName

Computers = Mapping[EnvironmentName, tuple[str, ...]]
"""The names of the engines, or of the runner, on which an environment's cells run; where nothing is said all are alike."""


class Beyond(StrEnum):
    """What two environments may differ in beside axes."""

    COMPUTER = "computer"


Part = Axis | Beyond
"""One thing in which two environments differ."""


def computers_of(runners: Mapping[EnvironmentName, RunnerName], engines: Iterable[EngineRecord]) -> Computers:
    """Say where environments run, by their runners and by the engines of a run that has several."""
    found: dict[EnvironmentName, tuple[str, ...]] = {}
    for engine in engines:
        for name in engine.environments:
            found[name] = (*found.get(name, ()), f"engine `{engine.name}`")
    return {name: found.get(name, (runner.value,)) for name, runner in runners.items()} | {
        name: named for name, named in found.items() if name not in runners
    }


def computers_of_report(artifact: Artifact) -> Computers:
    """Say where the environments of a report ran; a report names no runners where all cells ran on an engine."""
    material = artifact.material
    runners = dict.fromkeys((record.name for record in artifact.environments), RunnerName.DOCKER)
    return computers_of(runners | (material.runners if material is not None else {}), artifact.engines)


def ran_there(cell: Cell, base: EnvironmentName, computers: Computers) -> bool:
    """Say whether a cell of a mixed environment ran where its base's cells do."""
    known = computers.get(base)
    return known is None or (f"engine `{cell.engine}`" if cell.engine else cell.runner.value) in known


def are_apart(one: EnvironmentName, other: EnvironmentName, computers: Computers) -> bool:
    """Say whether two environments run on different computers: of several engines, where not both have the same."""
    here, there = (frozenset(computers.get(name, ())) for name in (one, other))
    return here != there


def both(one: EnvironmentName, other: EnvironmentName, computers: Computers) -> str:
    """Name the two computers as a report does."""
    here, there = (", ".join(computers.get(name, ())) for name in (one, other))
    return f"the two computers themselves ({here} / {there})"
