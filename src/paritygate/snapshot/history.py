"""A repository of one commit for the tree, so that tests and tools that call git work in a cell.

No remotes, no reflog, no history: only HEAD's own content, and the tag that a version is derived from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from paritygate.snapshot import git
from paritygate.snapshot.git import Git

LIMIT = 200 << 20
# 2020-01-01, for the commit and for every file: after 1980, which zip archives need, and the same wherever it is taken.
INSTANT = 1577836800
_BRANCH = "main"
_PACKED = "# pack-refs with: peeled fully-peeled sorted \n"
_CONFIG = "[core]\n\trepositoryformatversion = {version}\n\tfilemode = true\n\tbare = false\n{extension}"


class History(msgspec.Struct, frozen=True, kw_only=True):
    """What the repository will be made of: HEAD's tree, the commit made for it, the tag on it (empty for none)."""

    tree: str
    commit: str
    tag: str


def consider(repository: Git, commit: str) -> tuple[History | None, str]:
    """Say what a repository for this commit would be; None and the reason where it cannot be made."""
    found = describe(repository, commit)
    if found is None:
        return None, "there is no commit yet" if not commit else "HEAD's tree is not in this clone"
    objects = _objects(repository, found.tree)
    if objects is None:
        return None, "HEAD's files are not all in this clone (partial)"
    size = sum(git.sizes(repository, objects, "objectsize:disk").values())
    if size > LIMIT:
        return None, f"HEAD's files take {size >> 20} MiB in git, more than {LIMIT >> 20}"
    return found, ""


def describe(repository: Git, commit: str) -> History | None:
    """Say which commit, tree and tag the repository will have; equal for equal trees and tags."""
    tree = git.line(repository, "rev-parse", "--verify", "--quiet", f"{commit}^{{tree}}") if commit else ""
    if not tree:
        return None
    content = _commit(tree)
    kind = hashlib.sha256 if len(tree) == hashlib.sha256().digest_size * 2 else hashlib.sha1
    made = kind(b"commit %d\0%s" % (len(content), content)).hexdigest()
    return History(tree=tree, commit=made, tag=git.line(repository, "describe", "--tags", "--abbrev=0", commit))


@contextmanager
def repository(source: Git, history: History) -> Iterator[Path]:
    """Make the repository, as the content of a `.git`, in a temporary directory that is gone afterwards."""
    with TemporaryDirectory(prefix="paritygate-git-") as name:
        top = Path(name)
        for directory in ("objects/pack", "objects/info", "refs/heads", "refs/tags", "info"):
            (top / directory).mkdir(parents=True)
        modern = len(history.tree) == hashlib.sha256().digest_size * 2
        extension = "[extensions]\n\tobjectformat = sha256\n" if modern else ""
        (top / "config").write_text(_CONFIG.format(version=int(modern), extension=extension))
        (top / "HEAD").write_text(f"ref: refs/heads/{_BRANCH}\n")
        objects = "".join(f"{oid}\n" for oid in _objects(source, history.tree) or ()).encode()
        # Without a delta search (window 0) deltas that are there already are reused, and nothing is computed.
        options = ("--quiet", "--window=0", "--delta-base-offset", "--threads=1")
        git.run(source, "pack-objects", *options, str(top / "objects/pack/pack"), stdin=objects)
        target = source.within(name)
        git.run(target, "--git-dir=.", "hash-object", "-w", "-t", "commit", "--stdin", stdin=_commit(history.tree))
        (top / "refs/heads" / _BRANCH).write_text(f"{history.commit}\n")
        if history.tag:
            (top / "packed-refs").write_text(f"{_PACKED}{history.commit} refs/tags/{history.tag}\n")
        git.run(target, "--git-dir=.", "read-tree", history.tree)
        yield top


def _commit(tree: str) -> bytes:
    who = f"paritygate <paritygate@localhost> {INSTANT} +0000"
    return f"tree {tree}\nauthor {who}\ncommitter {who}\n\nThe tree under test\n".encode()


def _objects(repository: Git, tree: str) -> list[str] | None:
    listing = git.attempt(repository, "rev-list", "--objects", "--no-object-names", "--missing=print", tree)
    words = listing.stdout.decode("ascii", "replace").split()
    return words if listing.returncode == 0 and not any(word.startswith("?") for word in words) else None
