"""Hints for tests that diverge: the hazards of their files, as those lie on this computer."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from paritygate.classifier.sides import DIVERGENT
from paritygate.errors import NoVerdictError
from paritygate.gate.grounds.parts import Trees
from paritygate.hazards import ruff
from paritygate.hazards.check import check
from paritygate.hazards.files import Names
from paritygate.outcomes.artifact import Artifact, Finding
from paritygate.outcomes.cells import TestId
from paritygate.outcomes.hazards import Hazard, HazardKind
from paritygate.outcomes.trees import Tree
from paritygate.outcomes.words import Worktree

MOST_FILES = 50


def with_hazards(artifact: Artifact, trees: Trees, variables: Mapping[str, str]) -> Artifact:
    """Give each test that diverges the hazards of its file. A hint is worth no failure: what cannot be read has none."""
    files = sorted({_file(each) for each in artifact.tests if each.label in DIVERGENT})[:MOST_FILES]
    if not files:
        return artifact
    tree = trees.get(Worktree.DIRTY) or next(iter(trees.values()))
    project = Path(tree.root, tree.directory)
    names = _names(trees, tree.directory)
    python = [path for path in files if path.endswith(".py") and _lies_within(project / path, Path(tree.root))]
    try:
        hazards = check(project, python, names, ruff.find(variables)).hazards
    except NoVerdictError:
        hazards = check(project, python, names, None).hazards
    return msgspec.structs.replace(artifact, tests=tuple(_hinted(each, hazards) for each in artifact.tests))


def carried_over(findings: Iterable[Finding], before: Iterable[Finding]) -> tuple[Finding, ...]:
    """Give findings the hazards that a report has of them, but for those that a cause found since speaks against."""
    known = {TestId(each.nodeid, each.occurrence): each.hazards for each in before}
    return tuple(_with_known(each, known.get(TestId(each.nodeid, each.occurrence), ())) for each in findings)


def _with_known(finding: Finding, hazards: tuple[Hazard, ...]) -> Finding:
    fitting = tuple(each for each in hazards if finding.label in DIVERGENT and _fits(each, finding))
    return msgspec.structs.replace(finding, hazards=fitting)


def _file(finding: Finding) -> str:
    return finding.nodeid.partition("::")[0]


def _lies_within(path: Path, root: Path) -> bool:
    """Say whether a file is in the tree, also where a link leads to it."""
    return path.resolve().is_relative_to(root.resolve())


def _hinted(finding: Finding, hazards: tuple[Hazard, ...]) -> Finding:
    """Choose what may have to do with a test: in its own function first, then outside of all tests; of its cause's axes."""
    if finding.label not in DIVERGENT:
        return finding
    name = finding.nodeid.partition("::")[2].partition("[")[0].rpartition("::")[2]
    near = [each for each in hazards if each.file == _file(finding) and _concerns(each, name) and _fits(each, finding)]
    return msgspec.structs.replace(finding, hazards=tuple(sorted(near, key=lambda each: each.function != name)))


def _concerns(hazard: Hazard, name: str) -> bool:
    """Say whether a hazard is in a test, or in what all tests of the file share; a suppression without a reason is no cause."""
    shared = not hazard.function.startswith("test")
    return hazard.kind is not HazardKind.SUPPRESSION and (hazard.function == name or shared)


def _fits(hazard: Hazard, finding: Finding) -> bool:
    """Say whether a hazard can show on the axes that flip a test; where none is known any may."""
    axes = finding.cause.axes if finding.cause is not None else ()
    return not axes or not hazard.axes or not set(axes).isdisjoint(hazard.axes)


def _names(trees: Mapping[Worktree, Tree], directory: str) -> Names:
    """Say what git and the disk have; nothing where there is no clean tree to tell them apart."""
    clean, dirty = trees.get(Worktree.CLEAN), trees.get(Worktree.DIRTY)
    if clean is None or not clean.commit:
        return Names()
    tracked = frozenset(_inside(each.path, directory) for each in clean.entries if each.kind == "file") - {""}
    status = {} if dirty is None else {_inside(path, directory): how for path, how in dirty.status.items()}
    return Names(
        tracked=tracked,
        untracked={path: how for path, how in status.items() if path and how in {"untracked", "ignored"}},
        folded={path.casefold(): path for path in tracked},
    )


def _inside(path: str, directory: str) -> str:
    inside = posixpath.relpath(path, directory or ".")
    return "" if inside.startswith("../") else inside
