"""In which paths two states of the working tree differ, and what each of these is to git.

Pure: it compares what the snapshots say, and reads no file.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping

from paritygate.outcomes.artifact import Finding
from paritygate.outcomes.trees import Difference, Entry, Tree
from paritygate.outcomes.words import FileState, Label, Worktree

RENAMED = "renamed"
OF_STATUS = {"ignored": FileState.IGNORED, "untracked": FileState.UNTRACKED}


Differences = Mapping[str, Difference]


def differences_behind(findings: Iterable[Finding], trees: Mapping[Worktree, Tree]) -> dict[str, Difference]:
    """Compare the two states where anything is coupled: otherwise nobody asks."""
    return differences(trees) if any(finding.label is Label.COUPLING for finding in findings) else {}


def differences(trees: Mapping[Worktree, Tree]) -> dict[str, Difference]:
    """Compare the two states, path by path; nothing where there is only one. Names that are not UTF-8 are left out."""
    if len(trees) < len(Worktree):
        return {}
    dirty, clean = trees[Worktree.DIRTY], trees[Worktree.CLEAN]
    here, there = ({entry.path: entry for entry in tree.entries} for tree in (dirty, clean))
    found = {path: _of_file(path, dirty, clean) for path in _different(here, there) if _is_file(path, here, there)}
    gone = {path for path, each in found.items() if each.state is FileState.CHANGED and path not in here}
    found |= {path: Difference(path, FileState.NOT_ON_DISK) for path in gone}
    folders = sorted((path for path in here.keys() ^ there.keys() if not _is_file(path, here, there)), reverse=True)
    inside = {posixpath.dirname(path): each for path, each in sorted(found.items(), reverse=True)}
    for path in folders:  # the inner ones first
        found[path] = _folder(inside[path]) if path in inside else Difference(f"{path}/", FileState.UNTRACKED)
        inside.setdefault(posixpath.dirname(path), found[path])
    return {path: found[path] for path in sorted(found) if _is_text(path)}


def _folder(inside: Difference) -> Difference:
    """Say what a folder is, by something that lies in it."""
    above = posixpath.dirname(inside.name.rstrip("/"))
    return Difference(f"{above}/", inside.state, posixpath.dirname(inside.other))


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
    for each in dirty.mismatches:
        if (each.on_disk == path and dirty.status.get(path) == RENAMED) or (
            each.tracked == path and clean.status.get(path) == RENAMED
        ):
            return Difference(each.on_disk, FileState.RENAMED, each.tracked)
    return Difference(path, OF_STATUS.get(dirty.status.get(path, ""), FileState.CHANGED))


def to_watch(found: Differences) -> tuple[str, ...]:
    """Say what cells are to watch: each path, but of a folder that one state lacks the folder alone."""
    folders = {path for path, each in found.items() if each.is_folder}
    return tuple(f"{path}/" if each.is_folder else path for path, each in found.items() if posixpath.dirname(path) not in folders)


def _is_text(path: str) -> bool:
    """Say whether a path can be written in a specification and in an artifact."""
    return not any("\ud800" <= letter <= "\udfff" for letter in path)
