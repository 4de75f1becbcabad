"""The state `clean`: what a fresh clone with the patch would hold, under the names that git's index has."""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from paritygate.snapshot import drafts, git, index, lines, names
from paritygate.snapshot.disk import Item
from paritygate.snapshot.drafts import Draft, Plan
from paritygate.snapshot.git import Blobs
from paritygate.snapshot.index import Tracked
from paritygate.snapshot.survey import Repository, Survey


class _Contents(msgspec.Struct, frozen=True, kw_only=True):
    """Where content is not simply the disk's: paths of one repository that git's objects or other line endings serve."""

    from_git: frozenset[str]
    with_line_feeds: frozenset[str]
    lacking: frozenset[str]


def plan(survey: Survey) -> Plan:
    """Plan a tree of the tracked files of the repository and of its submodules, staged and unstaged changes with them."""
    made = Plan()
    for place in survey.repositories:
        on_disk = dict(_on_disk(survey, place))
        contents = _contents(survey, place, on_disk)
        with Blobs(place.git) as blobs:
            for path, entry in place.index.tracked.items():
                if not _deleted(place, path, entry, on_disk) and not drafts.withhold(survey, place, path, made):
                    _add(survey, place, (path, on_disk.get(path)), (contents, blobs), made)
    planned = {draft.path for draft in made.drafts}
    above = names.parents(planned)
    made.drafts.extend(Draft(path=path, kind="directory", mode=0o755) for path in above if path not in planned)
    ours = above | {f"{place.prefix}{path}" for place in survey.repositories for path in place.index.tracked}
    made.left_out.update({path: why for path, why in survey.disk.left_out.items() if path in ours})
    return made


def _on_disk(survey: Survey, place: Repository) -> Iterator[tuple[str, Item]]:
    """Find what the disk has for each tracked path, under whatever spelling; a directory stands for no file."""
    for path, entry in place.index.tracked.items():
        full = f"{place.prefix}{path}"
        item = survey.disk.items.get(survey.renamed.get(full, full))
        if item is not None and item.kind != "directory" and entry.mode != index.SUBMODULE:
            yield path, item


def _deleted(place: Repository, path: str, entry: Tracked, on_disk: dict[str, Item]) -> bool:
    if path in on_disk or entry.hidden or entry.mode == index.SUBMODULE:
        return False
    change = place.index.changes.get(path)
    # What git does not call changed is there for git: a disk that folds names has two of them in one.
    return change is not None and change.unstaged != "M"


def _contents(survey: Survey, place: Repository, on_disk: dict[str, Item]) -> _Contents:
    """Decide for each path where its content comes from; git's word that a file is unmodified is believed if sizes agree."""
    tracked, changes = place.index.tracked, place.index.changes
    files = [path for path, item in on_disk.items() if item.kind == "file" and tracked[path].mode != index.LINK]
    changed = {path for path in files if path in changes and changes[path].unstaged != "."}
    changed |= {path for path in files if f"{place.prefix}{path}" in survey.renamed}
    stored = git.sizes(place.git, [tracked[path].oid for path in files])
    sizes = {path: on_disk[path].size for path in files if path not in changed}
    other = {path for path, size in sizes.items() if stored.get(tracked[path].oid, size) != size}
    known = lines.attributes(place.git, other | changed)
    hidden = {path for path, entry in tracked.items() if entry.hidden or (path not in on_disk and entry.mode != index.SUBMODULE)}
    absent = git.absent(place.git, place.index.commit) if hidden else frozenset()
    available = git.sizes(place.git, [tracked[path].oid for path in hidden if tracked[path].oid not in absent])
    served = {path for path in hidden if tracked[path].oid in available}
    return _Contents(
        from_git=frozenset(served | {path for path in other if not lines.same_in_clone(known[path])}),
        with_line_feeds=frozenset(
            path
            for path in changed
            if lines.loses_carriage_returns(place.git, known[path], tracked[path].oid, _lying(survey, place, path))
        ),
        lacking=frozenset(path for path in hidden - served if path not in on_disk),
    )


def _add(survey: Survey, place: Repository, found: tuple[str, Item | None], where: tuple[_Contents, Blobs], made: Plan) -> None:
    path, item = found
    contents, blobs = where
    entry = place.index.tracked[path]
    full = f"{place.prefix}{path}"
    if full in survey.renamed:
        made.status[full] = "renamed"
    elif path in place.index.changes:
        made.status[full] = "modified"
    if entry.mode == index.SUBMODULE:
        made.drafts.append(Draft(path=full, kind="directory", mode=0o755))
    elif path in contents.lacking:
        made.left_out[full] = "its content is not in this clone (partial or sparse)"
    elif entry.mode == index.LINK and (item is None or item.kind == "file") and not _retyped(place, path):
        made.drafts.append(Draft(path=full, kind="link", mode=0o777, target=_text(blobs, entry.oid)))
    elif item is not None and item.kind == "link" and path not in contents.from_git:
        made.drafts.append(Draft(path=full, kind="link", mode=0o777, target=item.target))
    else:
        made.drafts.append(_file(survey, place, path, contents))


def _file(survey: Survey, place: Repository, path: str, contents: _Contents) -> Draft:
    full = f"{place.prefix}{path}"
    mode = drafts.permissions(place, path)
    if path in contents.from_git:
        source = drafts.reference(place, place.index.tracked[path].oid)
        return Draft(path=full, kind="file", mode=mode, source=source, tracked=True)
    lying = _lying(survey, place, path)
    source = f"lf:{lying}" if path in contents.with_line_feeds else lying
    guarded = drafts.guarded(survey, place, path)
    return Draft(path=full, kind="file", mode=mode, source=source, guarded=guarded, tracked=True)


def _lying(survey: Survey, place: Repository, path: str) -> str:
    full = f"{place.prefix}{path}"
    return f"{survey.top}/{survey.renamed.get(full, full)}"


def _retyped(place: Repository, path: str) -> bool:
    change = place.index.changes.get(path)
    return change is not None and change.unstaged == "T"


def _text(blobs: Blobs, oid: str) -> str:
    size = blobs.ask(oid)
    return "" if size is None else os.fsdecode(b"".join(blobs.content(size)))
