"""Takes the tree: from a project's directory to a value that says all that a cell will see of it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from paritygate.outcomes.trees import Entry, Tree
from paritygate.outcomes.words import Worktree
from paritygate.snapshot import clean, dirty, history, names, survey, version
from paritygate.snapshot.drafts import Draft, Plan
from paritygate.snapshot.history import History
from paritygate.snapshot.measure import Fact, Finding, measure
from paritygate.snapshot.sources import Objects
from paritygate.snapshot.survey import Request, Survey

_LARGE = 2 << 30


def take(request: Request, state: Worktree) -> Tree:
    """Take the project's tree in one state; raises `SnapshotError` where it cannot be read."""
    return take_all(request, (state,))[state]


def take_all(request: Request, states: Iterable[Worktree]) -> dict[Worktree, Tree]:
    """Take the project's tree in several states from one look at it, so that they differ in nothing else."""
    seen = survey.look(request)
    place = seen.repositories[0] if seen.repositories else None
    plans = {state: _plan(seen, state) for state in states}
    with Objects(seen.top, request.environ) as objects:
        facts = measure((draft for plan in plans.values() for draft in plan.drafts), objects)
    notes = list(seen.notes)
    past, why = history.consider(place.git, place.index.commit) if place else (None, "")
    if why:
        notes.append(f"tests see no `.git`: {why}")
    changed = any(repository.index.changes for repository in seen.repositories)
    derived, note = version.derive(Path(seen.top, seen.directory), place.git if place else None, changed=changed)
    if note:
        notes.append(note)
    return {state: _tree(seen, state, _settled(plan, facts), (past, derived, tuple(notes))) for state, plan in plans.items()}


def _plan(seen: Survey, state: Worktree) -> Plan:
    match state:
        case Worktree.DIRTY:
            return dirty.plan(seen)
        case Worktree.CLEAN:
            return clean.plan(seen) if seen.repositories else dirty.plan(seen)


def _settled(plan: Plan, facts: dict[str, Fact]) -> tuple[Plan, tuple[Entry, ...], tuple[str, ...]]:
    """Make entries of drafts, except of those whose content turned out not to be sent."""
    entries: list[Entry] = []
    pointers: list[str] = []
    withheld, left_out = set(plan.withheld), dict(plan.left_out)
    for draft in sorted(plan.drafts, key=lambda draft: draft.path):
        fact = facts.get(draft.source, Fact())
        match fact.finding:
            case Finding.KEY:
                withheld.add(draft.path)
            case Finding.UNREADABLE:
                left_out[draft.path] = fact.reason
            case Finding.POINTER:
                pointers.append(draft.path)
                entries.append(_entry(draft, fact))
            case Finding.NOTHING:
                entries.append(_entry(draft, fact))
    settled = Plan(withheld=withheld, left_out=left_out, status=plan.status)
    notes = tuple(f"`{path}` is a git-lfs pointer whose content was never fetched; run `git lfs pull`" for path in pointers)
    return settled, tuple(entries), notes


def _entry(draft: Draft, fact: Fact) -> Entry:
    return Entry(
        path=draft.path,
        kind=draft.kind,
        mode=draft.mode,
        source=draft.source,
        target=draft.target,
        size=fact.size,
        sha256=fact.sha256,
    )


def _tree(
    seen: Survey,
    state: Worktree,
    settled: tuple[Plan, tuple[Entry, ...], tuple[str, ...]],
    derived: tuple[History | None, str, tuple[str, ...]],
) -> Tree:
    plan, entries, pointers = settled
    past, version_text, notes = derived
    present = {entry.path for entry in entries}
    return Tree(
        state=state,
        root=seen.top,
        directory=_directory(seen.directory, entries),
        commit=seen.repositories[0].index.commit if seen.repositories else "",
        digest=_digest(entries, past, version_text),
        entries=entries,
        withheld=tuple(sorted(map(_printable, plan.withheld))),
        left_out={_printable(path): why for path, why in sorted(plan.left_out.items())},
        mismatches=seen.mismatches,
        status={path: word for path, word in sorted(plan.status.items()) if path in present},
        version=version_text,
        has_git=past is not None,
        tracked=bool(seen.repositories),
        notes=(*notes, *pointers, *_size_note(entries)),
    )


def _directory(directory: str, entries: tuple[Entry, ...]) -> str:
    """Spell the project's place as this tree does, which need not be as the user did on a disk that folds case."""
    folders = {entry.path for entry in entries if entry.kind == "directory"}
    if not directory or directory in folders:
        return directory
    return next((path for path in sorted(folders) if names.fold(path) == names.fold(directory)), directory)


def _digest(entries: tuple[Entry, ...], past: History | None, version_text: str) -> str:
    digest = hashlib.sha256()
    digest.update(f"{past.commit} {past.tag}\0{version_text}\0".encode() if past else f"\0{version_text}\0".encode())
    for entry in entries:
        content = entry.target if entry.kind == "link" else entry.sha256
        digest.update(b"%s\0%o\0%s\0%s\0" % (entry.kind.encode(), entry.mode, os.fsencode(entry.path), os.fsencode(content)))
    return digest.hexdigest()


def _size_note(entries: tuple[Entry, ...]) -> tuple[str, ...]:
    total = sum(entry.size for entry in entries)
    if total <= _LARGE:
        return ()
    largest = sorted(entries, key=lambda entry: -entry.size)[:10]
    named = ", ".join(f"`{_printable(entry.path)}` ({entry.size >> 20} MiB)" for entry in largest)
    return (f"the tree has {total >> 20} MiB, and all of it is sent; the largest files are {named}",)


def _printable(path: str) -> str:
    """Show a name that is not UTF-8 as text that JSON can hold."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
