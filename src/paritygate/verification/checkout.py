"""What a report claims of a checkout, held against this one: its trees, what was selected, the ledger, and locked files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path

import msgspec

from paritygate import selection
from paritygate.config import file as config_file
from paritygate.config.settings import Settings
from paritygate.disciplines import fixtures, freezing, records
from paritygate.disciplines.freezing import Check
from paritygate.disciplines.records import Place
from paritygate.errors import RefusedError, UsageError
from paritygate.freezes import checking
from paritygate.freezes.ledger import Entry
from paritygate.outcomes.artifact import Artifact, Freeze
from paritygate.outcomes.cells import NodeId
from paritygate.outcomes.trees import Tree
from paritygate.outcomes.words import Worktree
from paritygate.snapshot import git, survey, tree
from paritygate.verification.items import Item, State, checked, not_checked

FROM_MERGE_BASE = "freezes are those of the merge base"
"""How a run notes that it has read its ledger elsewhere."""

Trees = dict[Worktree, Tree]


class Checkout(msgspec.Struct, frozen=True, kw_only=True):
    """A project's folder as a report is held against it, the report's own path, the caller's variables, and the day in UTC."""

    project: Path
    report: Path
    variables: Mapping[str, str]
    today: date


def items(artifact: Artifact, checkout: Checkout) -> tuple[Item, ...]:
    """Check everything that a checkout can bear out.

    Raises `UsageError` where it cannot be one, and `ConfigError` or `SnapshotError` where it cannot be read.
    """
    program = git.find(str(checkout.project), checkout.variables)
    if artifact.subject.commit and program is not None and not git.is_in_a_tree(program):
        what = f"`{checkout.project}` is in no git repository, and the report tells of commit {artifact.subject.commit[:12]}"
        raise UsageError(what, "name the project's folder with `--project`, or do without one: `--without-checkout`")
    settings = config_file.load(checkout.project).settings
    trees = _trees(artifact, settings, checkout)
    place = records.of(checkout.project, checkout.variables)
    return (
        *_of_trees(artifact, trees),
        _of_selection(artifact, settings, trees),
        _of_ledger(artifact, place, settings, checkout.today),
        _of_locks(place, settings),
    )


def _trees(artifact: Artifact, settings: Settings, checkout: Checkout) -> Trees:
    """Take the states of the tree that the report names, without the report itself, which lies in it."""
    own = {*survey.OWN, settings.report}
    if checkout.report.is_relative_to(checkout.project):
        own.add(checkout.report.relative_to(checkout.project).as_posix())
    request = survey.Request(
        project=str(checkout.project), environ=dict(checkout.variables), include=settings.include, own=tuple(sorted(own))
    )
    states = [state for state in Worktree if state.value in artifact.subject.trees]
    return tree.take_all(request, states) if states else {}


def _of_trees(artifact: Artifact, trees: Trees) -> Iterator[Item]:
    """Compare digests; what is untracked or ignored only the computer has that ran the gate, so `dirty` binds only by itself."""
    said = artifact.subject.trees
    if not said:
        yield not_checked("tree", "the report names no tree")
    for state, one in trees.items():
        what = f"tree {state}"
        digest = said[state.value]
        if one.digest == digest:
            yield checked(what, digest[:12], ())
        elif state is Worktree.DIRTY and said.get(Worktree.CLEAN.value, digest) != digest:
            yield not_checked(what, "it holds untracked and ignored files that are not these here; `clean` is what is merged")
        else:
            yield checked(what, f"{one.digest[:12]} here, {digest[:12]} in the report", _elsewhere(artifact, one))


def _elsewhere(artifact: Artifact, one: Tree) -> Iterator[str]:
    commit = artifact.subject.commit
    tracked = [entry.path for entry in one.entries if entry.path.rpartition("/")[2] in survey.OWN]
    yield from (f"`{path}` is tracked by git, so that it is a part of the tree that it tells of" for path in tracked)
    if commit and one.commit != commit:
        yield f"HEAD is {one.commit[:12] or 'none'} here, and was {commit[:12]}"
    else:
        yield "files differ from what was tested"


def _of_selection(artifact: Artifact, settings: Settings, trees: Trees) -> Item:
    """Check that what was selected is there; of another selection than the project's own it is only said that it is another."""
    asked = artifact.subject.selection
    shown = " ".join(asked) or "everything"
    own = " ".join(settings.selection) or "everything"
    said = shown if asked == settings.selection else f"{shown} (the project itself selects {own})"
    if not trees:
        return not_checked("selection", f"{shown}: the report names no tree")
    try:
        words = selection.parse(asked)
        selection.select(words, tuple(trees.values()))
    except UsageError as error:
        return checked("selection", said, (error.message,))
    return checked("selection", said, _files_gone(artifact, trees))


def _files_gone(artifact: Artifact, trees: Trees) -> Iterator[str]:
    """Name the files of tests that no tree has."""
    paths = {entry.path for one in trees.values() for entry in one.entries}
    for file in dict.fromkeys(each.nodeid.partition("::")[0] for each in artifact.tests):
        if file not in paths and not any(path.startswith(f"{file}/") for path in paths):
            yield f"`{file}` of tests in the report is not in the tree"


def _of_ledger(artifact: Artifact, place: Place, settings: Settings, today: date) -> Item:
    """Compare the freezes that the report relied upon with those that hold here and today."""
    path, found = freezing.load(place, settings)
    if found is None:
        return checked("ledger", f"there is no `{path}`", _gone(artifact.freezes))
    wrong = list(freezing.problems(place, Check(settings=settings, today=today, exists=freezing.on_disk(place)), found))
    moved = list(_moved(artifact.freezes, found.entries))
    said = f"`{path}`, {checking.number(len(found.entries), 'freeze')}"
    if moved and not wrong and any(note.startswith(FROM_MERGE_BASE) for note in artifact.notes):
        return Item(what="ledger", state=State.NOT_CHECKED, said=f"{said}; the run read that of a merge base", lines=tuple(moved))
    return checked("ledger", said, (*wrong, *moved))


def _gone(freezes: Mapping[NodeId, Freeze]) -> Iterator[str]:
    return (f"`{nodeid}` is frozen in the report, and not here" for nodeid in freezes)


def _moved(freezes: Mapping[NodeId, Freeze], entries: Mapping[str, Entry]) -> Iterator[str]:
    yield from _gone({nodeid: freeze for nodeid, freeze in freezes.items() if nodeid not in entries})
    for nodeid, entry in entries.items():
        freeze = freezes.get(NodeId(nodeid))
        if freeze is None:
            yield f"`{nodeid}` is frozen here, and not in the report"
            continue
        here = {"owner": entry.owner, "expires": entry.expires.isoformat(), "reason": entry.reason}
        for field, value in here.items():
            if (said := getattr(freeze, field)) != value:
                yield f"`{nodeid}`: its {field} is `{value}` here, `{said}` in the report"


def _of_locks(place: Place, settings: Settings) -> Item:
    try:
        shelf = fixtures.open_shelf(place, settings)
        if shelf is None:
            return checked("fixture lock", "there is none", ())
        held = fixtures.check(shelf)
        fixtures.refuse_broken(shelf, held)
    except RefusedError as error:
        return checked("fixture lock", f"`{settings.lock}`", error.message.splitlines())
    return checked("fixture lock", f"`{settings.lock}`, {checking.number(len(held.digests), 'file')}", ())
