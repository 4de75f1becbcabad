"""In which paths two states of the working tree differ, and what each of these is to git.

Pure: it compares what the snapshots say, and reads no file.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

import msgspec

from paritygate.outcomes.trees import Entry, Tree
from paritygate.outcomes.words import FileState, Worktree

OF_STATUS = {"ignored": FileState.IGNORED, "untracked": FileState.UNTRACKED, "renamed": FileState.RENAMED}


class Difference(msgspec.Struct, frozen=True):
    """What a path is that only one state of the tree has, or has otherwise; `other` is the name that it has in the other state.

    A folder is as what lies in it.
    """

    state: FileState
    other: str = ""
    folder: bool = False


CHANGED = Difference(FileState.CHANGED)

Differences = Mapping[str, Difference]


def differences(trees: Mapping[Worktree, Tree]) -> dict[str, Difference]:
    """Compare the two states, path by path; nothing where there is only one. Names that are not UTF-8 are left out."""
    if len(trees) < len(Worktree):
        return {}
    dirty, clean = trees[Worktree.DIRTY], trees[Worktree.CLEAN]
    here, there = ({entry.path: entry for entry in tree.entries} for tree in (dirty, clean))
    found = {path: _of_file(path, dirty, clean) for path in _different(here, there) if _is_file(path, here, there)}
    found |= {path: Difference(FileState.NOT_ON_DISK) for path, each in found.items() if each == CHANGED and path not in here}
    folders = {path for path in here.keys() ^ there.keys() if not _is_file(path, here, there)}
    for path in tuple(found):
        above = posixpath.dirname(path)
        while above in folders and above not in found:
            found[above] = Difference(found[path].state, folder=True)
            above = posixpath.dirname(above)
    return {path: found[path] for path in sorted(found) if _is_text(path)}


def _different(here: Mapping[str, Entry], there: Mapping[str, Entry]) -> Iterator[str]:
    for path in sorted(here.keys() | there.keys()):
        one, two = here.get(path), there.get(path)
        if one is None or two is None or _content(one) != _content(two):
            yield path


def _content(entry: Entry) -> tuple[str, int, str, str]:
    return entry.kind, entry.mode, entry.target, entry.sha256


def _is_file(path: str, here: Mapping[str, Entry], there: Mapping[str, Entry]) -> bool:
    return any(tree[path].kind != "directory" for tree in (here, there) if path in tree)


def _of_file(path: str, dirty: Tree, clean: Tree) -> Difference:
    """Say what a path is: the names that git's index and the disk have for one file go together."""
    if path in dirty.status and dirty.status[path] in OF_STATUS:
        other = next((each.tracked for each in dirty.mismatches if each.on_disk == path), "")
        return Difference(OF_STATUS[dirty.status[path]], other)
    if clean.status.get(path) == "renamed":
        return Difference(FileState.RENAMED, next((each.on_disk for each in clean.mismatches if each.tracked == path), ""))
    return CHANGED


def to_watch(found: Differences) -> tuple[str, ...]:
    """Say what cells are to watch: each path, but of a folder that one state lacks the folder alone."""
    folders = {path for path, each in found.items() if each.folder}
    return tuple(f"{path}/" if each.folder else path for path, each in found.items() if posixpath.dirname(path) not in folders)


def _is_text(path: str) -> bool:
    """Say whether a path can be written in a specification and in an artifact."""
    return not any("\ud800" <= letter <= "\udfff" for letter in path)
