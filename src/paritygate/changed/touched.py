"""What a patch touches, by git: everything in which the working tree differs from where HEAD parted from a branch."""

from __future__ import annotations

import os
from collections.abc import Mapping

import msgspec

from paritygate.errors import UsageError
from paritygate.snapshot import git
from paritygate.snapshot.git import Git

_LIKELY = ("origin/main", "origin/master", "main", "master")


class Diff(msgspec.Struct, frozen=True, kw_only=True):
    """The commit that a working tree was held against, and the paths, from the tree's top, in which it differs.

    `untracked` are those of them that git does not track.
    """

    base: str
    paths: tuple[str, ...]
    untracked: frozenset[str]


def since(top: str, base: str, environ: Mapping[str, str]) -> Diff:
    """List what was committed, staged, changed or added since HEAD parted from `base` (empty: the default branch).

    A renamed file is listed under both names; what git ignores is in no diff. Raises `UsageError` where there is no such commit.
    """
    asked = git.find(top, environ)
    if asked is None:
        raise UsageError("`--changed` needs git, which is not installed", "name the tests instead")
    if not git.line(asked, "rev-parse", "--show-toplevel"):
        raise UsageError(f"`--changed` needs a git repository, and `{top}` is in none", "name the tests instead")
    commit = _merge_base(asked, base or _default_branch(asked))
    # The index too: what is staged for deletion may still lie on disk as it was.
    plain = ("diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none")
    found = git.records(git.run(asked, *plain, commit, "--"))
    found += git.records(git.run(asked, *plain, "--cached", commit, "--"))
    untracked = frozenset(git.records(git.run(asked, "ls-files", "-z", "--others", "--exclude-standard")))
    # A file that the base has is changed, though it is untracked by now.
    return Diff(base=commit, paths=tuple(sorted(untracked.union(found))), untracked=untracked.difference(found))


def _default_branch(asked: Git) -> str:
    """Find the branch that work starts from: the remote's, or one with a usual name."""
    remote = git.line(asked, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
    configured = git.line(asked, "config", "init.defaultBranch")
    for name in (remote, *_LIKELY, configured):
        if name and _commit(asked, name):
            return name
    hint = "name a commit: `--changed=HEAD~1`"
    if git.is_shallow(asked):
        hint = "this clone is shallow: `git fetch --unshallow origin main`, if that is the branch, and `--changed=FETCH_HEAD`"
    raise UsageError("`--changed`: nothing says which is the default branch here", hint)


def _commit(asked: Git, name: str) -> str:
    return git.line(asked, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")


def _merge_base(asked: Git, name: str) -> str:
    known = _commit(asked, name)
    if not known:
        is_path = os.path.lexists(os.path.join(asked.directory, name)) or os.path.lexists(name)  # noqa: PTH118 - a word, not a path
        hint = "fetch it first: a checkout of one branch has no other"
        raise UsageError(f"`--changed`: git knows no commit `{name}` here", "paths go before `--changed`" if is_path else hint)
    base = git.line(asked, "merge-base", known, "HEAD")
    if not base:
        raise UsageError(f"`--changed`: HEAD and `{name}` have no commit in common", git.way_together(asked))
    return base
