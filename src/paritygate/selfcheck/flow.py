"""One selfcheck: the planted suite laid out in a folder of its own, run by the gate, judged, and removed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from paritygate import case_folding
from paritygate.outcomes.artifact import Artifact
from paritygate.outcomes.words import Axis, CellStatus
from paritygate.selfcheck import planted
from paritygate.selfcheck.judging import Judged, judge
from paritygate.selfcheck.planted import CONTROL, Plant

FOLDER = "selfcheck"
"""The project's folder, after which its images are named: equal each time, so that they are made once."""
OF_A_FILESYSTEM = (Axis.CASE_SENSITIVE, Axis.DIRECTORY_ORDER)

Run = Callable[[Path, tuple[str, ...], tuple[Axis, ...]], Artifact]
"""Gates a project: its folder, the files of tests to run, and the axes that are not to vary."""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which plants to try (none: all), which axes not to vary, and the variables of the process."""

    plants: tuple[str, ...] = ()
    without_axes: tuple[Axis, ...] = ()
    variables: Mapping[str, str] = {}


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """What was judged, and the artifact that shows it."""

    judged: tuple[Judged, ...]
    artifact: Artifact


def check(wanted: Wanted, run: Run) -> Done:
    """Try the gate on what is planted; nothing of it is left but images. Raises whatever the gate raises that cannot begin.

    Where cells cannot have a filesystem of their own, everything else is tried without it.
    """
    plants = planted.chosen(wanted.plants)
    with tempfile.TemporaryDirectory(prefix="paritygate-selfcheck-") as folder:
        project = Path(folder).resolve() / FOLDER
        planted.lay_out(project, wanted.variables)
        left_out = (*wanted.without_axes, *planted.axes_left_out(plants))
        artifact = run(project, _files(plants, left_out), left_out)
        if why := _no_filesystem(artifact):
            left_out = tuple(dict.fromkeys((*left_out, *OF_A_FILESYSTEM)))
            artifact = run(project, _files(plants, left_out), left_out)
    lacking = {axis.value: why for axis in OF_A_FILESYSTEM} if why else {}
    return Done(judged=tuple(judge(artifact, plants, wanted.without_axes, lacking)), artifact=artifact)


def _files(plants: Mapping[str, Plant], left_out: tuple[Axis, ...]) -> tuple[str, ...]:
    """List the files to run: without those whose axis does not vary, in which there is nothing to be seen."""
    return tuple(plant.file for name, plant in plants.items() if name == CONTROL or plant.axis not in left_out)


def _no_filesystem(artifact: Artifact) -> str:
    """Say why cells could not have a filesystem of their own; empty where they could, or died of something else."""
    ill = [cell for cell in artifact.cells if cell.status is CellStatus.ENVIRONMENT_MISMATCH]
    return next((cell.detail for cell in ill if case_folding.failure_in(cell.detail).step), "")
