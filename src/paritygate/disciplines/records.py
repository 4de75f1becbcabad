"""Where a project's own records lie: on disk, or as a commit has them. It reads bytes, and knows nothing of their meaning."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from paritygate import places
from paritygate.errors import RefusedError, UnrecordedError, UsageError
from paritygate.snapshot import git, survey


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A project: its folder, the top of the tree that holds it and its path below that, and the caller's variables.

    `commit` is the commit that records are read from; empty for the disk.
    """

    project: Path
    top: Path
    directory: str
    variables: Mapping[str, str]
    commit: str = ""

    def from_top(self, path: str) -> str:
        """Write a path of the project's as one from the tree's top."""
        return f"{self.directory}/{path}" if self.directory else path


def of(project: Path, variables: Mapping[str, str]) -> Place:
    """Find out where a project is; raises `SnapshotError` where git cannot read its repository."""
    top, directory = survey.locate(str(project), dict(variables))
    return Place(project=project, top=Path(top), directory=directory, variables=variables)


def at_merge_base(place: Place, ref: str) -> Place:
    """Read from where HEAD parted from a branch; raises `UsageError` where that cannot be told."""
    asked = git.find(str(place.top), place.variables)
    if asked is None:
        raise UsageError(f"`--ledger-from {ref}` needs git, which is not installed")
    known = git.line(asked, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if not known:
        raise UsageError(
            f"`--ledger-from`: git knows no commit `{ref}` here", "fetch it first: a checkout of one branch has no other"
        )
    base = git.line(asked, "merge-base", known, "HEAD")
    if not base:
        raise UsageError(f"`--ledger-from`: HEAD and `{ref}` have no commit in common", git.way_together(asked))
    return msgspec.structs.replace(place, commit=base)


def store(data: bytes, path: Path, key: str) -> None:
    """Write a record, whole or not at all; its folder is made where it is missing. `key` is the setting that gives its place."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        places.write(data, path)
    except OSError as error:
        raise UsageError(f"cannot make the folder `{path.parent}`: {error.strerror}") from error
    except UnrecordedError as error:
        raise UsageError(error.message, f"give it another place with `{key}`") from error


def read(place: Place, path: str) -> bytes | None:
    """Read a file, given from the tree's top; None where there is none. Raises `RefusedError` for what cannot be read."""
    if not place.commit:
        try:
            return (place.top / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise RefusedError(f"`{path}` cannot be read: {(error.strerror or str(error)).lower()}") from error
    asked = git.find(str(place.top), place.variables)
    if asked is None or not git.line(asked, "ls-tree", "--full-tree", place.commit, "--", path):
        return None
    return git.run(asked, "cat-file", "blob", f"{place.commit}:{path}")
