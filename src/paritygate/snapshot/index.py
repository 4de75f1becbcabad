"""What git knows of one working tree: its index, how HEAD and the disk differ from it, and what it does not track."""

from __future__ import annotations

import msgspec

from paritygate.snapshot import git
from paritygate.snapshot.git import Git

LINK = 0o120000
SUBMODULE = 0o160000
EXECUTABLE = 0o100755


class Tracked(msgspec.Struct, frozen=True, kw_only=True):
    """An index entry; `hidden` when git was told not to look at the disk (skip-worktree, assume-unchanged)."""

    mode: int
    oid: str
    hidden: bool


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """How a tracked path differs: git's letters for HEAD to index and index to disk, `.` for not at all.

    `mode` is the disk's as far as git trusts it; `head` the object that HEAD has, empty where it has none.
    """

    staged: str
    unstaged: str
    mode: int
    head: str


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about one repository; names as git spells them. Untracked repositories are listed as `name/`."""

    commit: str
    tracked: dict[str, Tracked]
    changes: dict[str, Change]
    untracked: frozenset[str]


def read(repository: Git) -> Index:
    """Read the index of a repository and compare it with HEAD and the disk."""
    status = git.run(
        repository, "status", "--porcelain=v2", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=all"
    )
    others = git.run(repository, "ls-files", "-z", "--others", "--exclude-standard")
    return Index(
        commit=git.line(repository, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"),
        tracked=_tracked(git.run(repository, "ls-files", "-z", "--stage", "-v")),
        changes=_changes(status),
        untracked=frozenset(git.records(others)),
    )


def _tracked(listing: bytes) -> dict[str, Tracked]:
    entries: dict[str, Tracked] = {}
    for record in git.records(listing):
        facts, path = record.split("\t", 1)
        tag, mode, oid, stage = facts.split(" ")
        # A conflict has up to three entries for one path: ours (2) says what it is.
        if path not in entries or stage == "2":
            entries[path] = Tracked(mode=int(mode, 8), oid=oid, hidden=tag.islower() or tag == "S")
    return entries


def _changes(status: bytes) -> dict[str, Change]:
    changes: dict[str, Change] = {}
    for record in git.records(status):
        if record.startswith("1 "):
            _, letters, _, _, _, mode, head, _, path = record.split(" ", 8)
        elif record.startswith("u "):
            _, letters, _, _, _, _, mode, _, head, _, path = record.split(" ", 10)
        else:
            continue
        changes[path] = Change(staged=letters[0], unstaged=letters[1], mode=int(mode, 8), head=head.strip("0") and head)
    return changes
