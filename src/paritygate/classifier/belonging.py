"""Says whether cells of two files belong together: one tree, one selection, one version, one set of packages.

What does not is refused with both files' names and what differs; nothing is taken for the same because it is likely.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from paritygate.classifier.numbering import SAME_SEEDS
from paritygate.classifier.sides import DIVERGENT
from paritygate.classifier.surroundings import dates_moved, grave
from paritygate.errors import UsageError
from paritygate.outcomes.artifact import EnvironmentRecord, Finding, Subject
from paritygate.outcomes.cells import Cell, Probe
from paritygate.outcomes.words import Axis, Purpose

APART = "classify together only what was run of one tree, with one selection and one version"
ONE_SET = "run all cells with one set of dependencies, from one base image"
ZONE = f"its {Axis.TIMEZONE}"
SEED = "the seed"
ZONES = "where `auto` is to choose a zone, every job needs the same moment: `paritygate cell ... --at MOMENT`"


def same(first: Path, second: Path, what: str, here: object, there: object) -> None:
    """Refuse what is not the same in two files; raises `UsageError`."""
    if here != there:
        hint = ZONES if what.endswith(ZONE) else SAME_SEEDS if what.startswith(SEED) else APART
        raise UsageError(f"{what} is not the same in `{first}` and `{second}`: {_shown(here)} and {_shown(there)}", hint)


def _shown(value: object) -> str:
    return msgspec.json.encode(value).decode()


def is_known(subject: Subject) -> bool:
    """Say whether anybody has written down what was tested; of a pasted result nobody has."""
    return bool(subject.trees or subject.commit or subject.selection)


def joined_subjects(first: Path, second: Path, here: Subject, there: Subject) -> Subject:
    """Put together what two files say was tested; raises `UsageError` where it is not the same."""
    if not is_known(here) or not is_known(there):
        return here if is_known(here) else there
    same(first, second, "the selection", here.selection, there.selection)
    for state in here.trees.keys() & there.trees.keys():
        same(first, second, f"the {state} tree", here.trees[state], there.trees[state])
    if not here.trees.keys() & there.trees.keys():
        same(first, second, "the commit", here.commit, there.commit)
    return msgspec.structs.replace(
        here,
        trees=here.trees | there.trees,
        withheld=tuple(sorted({*here.withheld, *there.withheld})),
        mismatched_names=tuple(sorted({*here.mismatched_names, *there.mismatched_names})),
        colliding_names=tuple(sorted({*here.colliding_names, *there.colliding_names})),
    )


def joined_records(first: Path, second: Path, here: EnvironmentRecord, there: EnvironmentRecord) -> EnvironmentRecord:
    """Put together what two files say of one environment: what both know; raises `UsageError` where that is not the same."""
    both = [axis for axis in here.axes if axis in there.axes]
    for axis in both:
        same(first, second, f"environment `{here.name}`, its {axis}", here.axes[axis], there.axes[axis])
    return msgspec.structs.replace(here, axes={axis: here.axes[axis] for axis in both})


def check_packages(files: Iterable[tuple[Path, Iterable[Cell]]]) -> None:
    """Refuse files whose cells had other packages, another interpreter, C library or time-zone data; raises `UsageError`."""
    reference: tuple[Path, Probe] | None = None
    for path, cells in files:
        probe = next((cell.probe for cell in cells if cell.purpose is Purpose.GATE and cell.probe is not None), None)
        if probe is None:
            continue
        if reference is None:
            reference = (path, probe)
        for said in grave(reference[1], probe):
            raise UsageError(
                f"{said} between `{reference[0]}` and `{path}`", "run all cells with one set of dependencies, from one base image"
            )


def check_seeds(files: Iterable[tuple[Path, Sequence[int]]]) -> None:
    """Refuse files of single cells that were planned with other seeds; raises `UsageError`.

    The seed of one attempt orders the tests of the next one, too.
    """
    known: list[tuple[Path, int]] = []
    for path, seeds in files:
        for number, ((first, here), there) in enumerate(zip(known, seeds, strict=False), start=1):
            same(first, path, f"{SEED} of attempt {number}", here, there)
        known += [(path, seed) for seed in seeds[len(known) :]]


def dates_apart(findings: Iterable[Finding], gate: Sequence[Cell]) -> tuple[str, ...]:
    """Say why tests that diverge cannot be judged where jobs saw other dates: a whole run would run such cells again."""
    moved = dates_moved(gate)
    if not moved or all(each.label not in DIVERGENT for each in findings):
        return ()
    named = ", ".join(f"`{each.env}` attempt {each.attempt}" for each in moved)
    return (f"tests diverge, and the date changed between the cells: run again {named}",)
