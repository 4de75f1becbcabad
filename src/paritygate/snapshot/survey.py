"""Everything that is known of a working tree before it is decided what a state of it holds: git's view beside the disk's."""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from paritygate.errors import SnapshotError
from paritygate.outcomes.trees import NameMismatch
from paritygate.snapshot import disk, git, index, names
from paritygate.snapshot.disk import Disk
from paritygate.snapshot.git import Git
from paritygate.snapshot.index import Index

OWN = tuple(f"{name}.{ending}" for name in ("parity_report", "parity_sweep") for ending in ("json", "html", "md", "xml", "log"))
"""Reports by the names that they usually have: they lie in the project, and are no part of what is tested."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What to take.

    `project` is its directory and `environ` the caller's variables (git needs PATH and HOME). `include` are patterns of
    secret-like files that are sent all the same, `own` files of ours, from the project, that are never sent.
    """

    project: str
    environ: dict[str, str]
    include: tuple[str, ...] = ()
    own: tuple[str, ...] = OWN


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """One repository: the one that holds the project, or a submodule of it, whose `prefix` ends with `/`."""

    prefix: str
    git: Git
    index: Index


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """A working tree, looked at once. Paths are below `top`.

    `repositories` is empty without git, and where git tracks nothing yet. `renamed` maps tracked names to the
    names that the disk has for them.
    """

    top: str
    directory: str
    repositories: tuple[Repository, ...]
    disk: Disk
    renamed: dict[str, str]
    mismatches: tuple[NameMismatch, ...]
    include: tuple[str, ...]
    notes: tuple[str, ...]


def look(request: Request) -> Survey:
    """Look at the tree that holds the project; raises `SnapshotError` where it cannot be read."""
    project = os.path.realpath(request.project)
    if not os.path.isdir(project):  # noqa: PTH112 - realpath is text already
        raise SnapshotError(f"`{request.project}` is not a directory", hint="name the project's directory with `--project`")
    notes: list[str] = []
    top, directory, found = _locate(project, request.environ, notes)
    repositories = tuple(_repositories(found, "", notes)) if found else ()
    if repositories and not repositories[0].index.commit and not repositories[0].index.tracked:
        # Of a repository that was only just made a fresh clone would be empty, and every test coupled to the working tree.
        repositories = ()
        notes.append("git tracks nothing here yet, so the tree is taken as if without git: commit first")
    tracked = {f"{place.prefix}{path}" for place in repositories for path in place.index.tracked}
    own = {f"{directory}/{path}" if directory else path for path in request.own}
    seen = disk.look(top, tracked, names.parents(tracked), own)
    visible = {path for place in repositories for path in _visible(place)}
    renamed = names.partners(visible, {path for path, item in seen.items.items() if item.kind != "directory"})
    return Survey(
        top=top,
        directory=directory,
        repositories=repositories,
        disk=seen,
        renamed=renamed,
        mismatches=names.mismatches(tracked, renamed),
        include=request.include,
        notes=tuple(notes),
    )


def locate(project: str, environ: dict[str, str]) -> tuple[str, str]:
    """Say where the top of the tree is that holds a project, and the project's place below it."""
    top, directory, _ = _locate(os.path.realpath(project), environ, [])
    return top, directory


def _locate(project: str, environ: dict[str, str], notes: list[str]) -> tuple[str, str, Git | None]:
    """Find the tree's top, the project's place in it, and git where it is of use."""
    asked = git.find(project, environ)
    if asked is None:
        notes.append("git is not installed: the tree is the project's directory, and a clean one cannot be told from it")
        return project, "", None
    answer = git.attempt(asked, "rev-parse", "--show-toplevel")
    if answer.returncode == 0:
        top = os.path.realpath(os.fsdecode(answer.stdout).removesuffix("\n"))
        return top, git.line(asked, "rev-parse", "--show-prefix").rstrip("/"), asked.within(top)
    said = answer.stderr.decode("utf-8", "replace").strip()
    if "not a git repository" not in said:
        raise SnapshotError(f"git cannot read the repository of `{project}`: {said}")
    if os.path.lexists(os.path.join(project, ".git")):  # noqa: PTH118 - realpath is text already
        notes.append(f"`.git` in the project leads nowhere, so it was read as if without git: {said}")
    return project, "", None


def _repositories(place: Git, prefix: str, notes: list[str]) -> Iterator[Repository]:
    known = index.read(place)
    yield Repository(prefix=prefix, git=place, index=known)
    for path, entry in known.tracked.items():
        if entry.mode != index.SUBMODULE:
            continue
        inner = place.within(f"{place.directory}/{path}")
        if not os.path.lexists(f"{inner.directory}/.git"):
            notes.append(f"submodule `{prefix}{path}` is not checked out; its directory is empty")
        elif os.path.realpath(git.line(inner, "rev-parse", "--show-toplevel") or "/") != os.path.realpath(inner.directory):
            notes.append(f"submodule `{prefix}{path}` has no repository that git can read; its tracked files are unknown")
        else:
            if git.line(inner, "rev-parse", "HEAD") != entry.oid:
                notes.append(f"submodule `{prefix}{path}` is at another commit than recorded, and is taken as it lies")
            yield from _repositories(inner, f"{prefix}{path}/", notes)


def _visible(place: Repository) -> Iterator[str]:
    for path, entry in place.index.tracked.items():
        if not entry.hidden and entry.mode != index.SUBMODULE:
            yield f"{place.prefix}{path}"
