"""Looks for hazards in a project: gathers what git and the disk have, chooses the files, and has them checked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from paritygate.errors import NoVerdictError, UsageError
from paritygate.hazards import ruff, scope, vendored
from paritygate.hazards.check import Checked, check
from paritygate.hazards.files import Names
from paritygate.hazards.ruff import Ruff
from paritygate.snapshot import index, survey
from paritygate.snapshot.survey import Survey


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What to look through: an absolute project folder, absolute paths in it (none: tests and packages), and who asks."""

    project: Path
    paths: tuple[Path, ...] = ()
    with_ruff: bool = True
    environ: Mapping[str, str]


def search(wanted: Wanted) -> Checked:
    """Look for hazards; raises `UsageError` for paths that cannot be, `NoVerdictError` where ruff is missing or fails."""
    program = _program(wanted)
    project = Path(os.path.realpath(wanted.project))
    seen = survey.look(survey.Request(project=str(project), environ=dict(wanted.environ)))
    names = names_of(seen)
    here = {_inside(seen, path) for path, item in seen.disk.items.items() if item.kind == "file" and path.endswith(".py")} - {""}
    if wanted.paths:
        chosen = _chosen(wanted.paths, project, here)
    else:
        usual = scope.by_default({path for path in here if names.untracked.get(path) != "ignored"})
        others = vendored.from_cpython(project, usual)
        chosen = [path for path in usual if path not in others]
    return check(project, chosen, names, program)


def _program(wanted: Wanted) -> Ruff | None:
    if not wanted.with_ruff:
        return None
    program = ruff.find(wanted.environ)
    if program is None:
        raise NoVerdictError(
            "there is no `ruff` here, and a third of the hazards are found by its rules",
            "`pip install 'paritygate[hazards]'`, or leave them out with `--without-ruff`",
        )
    return program


def named(wanted: Wanted) -> tuple[str, ...]:
    """List what the user named, as paths from the project; the project as a whole names nothing in particular."""
    project = Path(os.path.realpath(wanted.project))
    return tuple(place for path in wanted.paths if (place := _place(path, project)) != ".")


def _place(path: Path, project: Path) -> str:
    return os.path.relpath(os.path.realpath(path), project).replace(os.sep, "/")


def _chosen(paths: Sequence[Path], project: Path, here: set[str]) -> list[str]:
    """Turn what the user named into files; a folder stands for all Python files in it."""
    chosen: set[str] = set()
    for path in paths:
        place = _place(path, project)
        if place == ".." or place.startswith("../"):
            raise UsageError(f"`{path}` lies outside the project `{project}`", "name the project's folder with `--project`")
        if path.is_dir():
            chosen |= {each for each in here if place == "." or each.startswith(f"{place}/")}
        else:
            chosen.add(place)
    return sorted(chosen)


def names_of(seen: Survey) -> Names:
    """Say what git and the disk have, as paths from the project."""
    if not seen.repositories:
        return Names()
    tracked = frozenset(
        inside
        for place in seen.repositories
        for path, entry in place.index.tracked.items()
        if entry.mode != index.SUBMODULE and (inside := _inside(seen, f"{place.prefix}{path}"))
    )
    listed = {f"{place.prefix}{path}" for place in seen.repositories for path in place.index.untracked}
    on_disk = {path for path, item in seen.disk.items.items() if item.kind != "directory"}
    untracked = {
        inside: "untracked" if path in listed else "ignored"
        for path in on_disk
        if (inside := _inside(seen, path)) and inside not in tracked
    }
    renamed = {_inside(seen, disk): _inside(seen, kept) for kept, disk in seen.renamed.items()}
    return Names(
        tracked=tracked,
        untracked={path: how for path, how in untracked.items() if path not in renamed},
        folded={path.casefold(): path for path in tracked},
        renamed=renamed,
        ascii_of=lambda path: _is_ascii(Path(seen.top, seen.directory, path)),
    )


def _inside(seen: Survey, path: str) -> str:
    """Say a path of the tree as one from the project; empty where it lies outside."""
    if not seen.directory:
        return path
    return path.removeprefix(f"{seen.directory}/") if path.startswith(f"{seen.directory}/") else ""


def _is_ascii(path: Path) -> bool:
    try:
        return path.read_bytes().isascii()
    except OSError:
        return True
