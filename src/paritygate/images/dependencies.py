"""From a project's files to the recipe that installs its dependencies, without any configuration where that is possible.

What is looked at, first match: `install` of the configuration, `uv.lock`, `Pipfile.lock`, then the project's own metadata,
held to `poetry.lock` or `pdm.lock` where there is one, with requirements files, and with `tox.ini` for what tests need.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from pathlib import Path

import msgspec
from packaging.utils import canonicalize_name

from paritygate.config.settings import ImageSettings
from paritygate.images import locks, projects, requirement_files
from paritygate.images.projects import DEV_WORDS, TEST_WORDS, Project, chosen, requirement_name
from paritygate.images.recipes import GENERATED, Found, Recipe, Step, StepKind
from paritygate.images.requirement_files import Chain

_REQUIREMENTS = f"{GENERATED}/requirements.txt"
_ASKED = f"{GENERATED}/asked.txt"
_CONSTRAINTS = f"{GENERATED}/constraints.txt"
_MANIFESTS = frozenset({"pyproject.toml", "setup.cfg", "setup.py", "Pipfile", "tox.ini", ".python-version"})
_VERSION_FILES = frozenset(
    {
        "__init__",
        "version",
        "_version",
        "__version__",
        "__about__",
        "about",
        "_about",
        "__pkginfo__",
        "meta",
        "metadata",
        "release",
        "_meta",
        "info",
    }
)
_SKIPPED = frozenset({"node_modules", "build", "dist", "venv", "env", "__pycache__", "htmlcov"})
_LARGEST = 1 << 20
_DEEPEST = 3


def find(root: Path, directory: str, settings: ImageSettings) -> Recipe:
    """Find the recipe for the project in `directory`, a path relative to the tree's top `root`."""
    directory = "" if directory in {"", "."} else posixpath.normpath(directory)
    place = root / directory
    project = projects.read(place)
    found = _first(root, directory, project, settings)
    members, missing = _members(root, directory, project, found)
    recipe = Recipe(
        source=found.source or "nothing: the project names no dependencies",
        files=found.files,
        steps=found.steps,
        build_requires=_build_requires(root, members),
        members=members,
        distributions=tuple(projects.read(root / member).name for member in members),
        requires_python=project.requires_python,
        python=settings.python,
        project=settings.install_project,
        notes=found.notes + missing,
    )
    if not any(step.kind is StepKind.METADATA for step in found.steps):
        return recipe
    whole = {**dict(_tree(root, directory)), **{name: content for name, content in found.files.items() if GENERATED in name}}
    return msgspec.structs.replace(
        recipe, fallback=msgspec.structs.replace(recipe, source=f"{recipe.source} (with the whole tree)", files=whole)
    )


def _first(root: Path, directory: str, project: Project, settings: ImageSettings) -> Found:
    if settings.install:
        steps = tuple(Step(kind=StepKind.SHELL, arguments=(line,), directory=directory) for line in settings.install)
        return Found(source="`install` of the configuration", files=_manifests(root, directory), steps=steps)
    return locks.uv(root, directory, project) or locks.pipenv(root, directory) or _from_metadata(root, directory, project)


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What the tests of a project need: requirement lines, and requirements files (`entries`) with all they refer to."""

    lines: tuple[str, ...]
    groups: tuple[str, ...]
    entries: tuple[str, ...] = ()
    chain: Chain = Chain()
    from_tox: bool = False


def _from_metadata(root: Path, directory: str, project: Project) -> Found:
    """Put together metadata, groups, extras and requirements files; one pip call resolves them all."""
    wanted = _wanted(root, directory, project)
    lock = locks.poetry_or_pdm(root, directory)
    files = dict(wanted.chain.files)
    arguments: list[str] = []
    steps: list[Step] = []
    if wanted.lines:
        files[posixpath.join(directory, _REQUIREMENTS)] = "".join(f"{line}\n" for line in wanted.lines).encode()
        arguments += ["-r", _REQUIREMENTS]
    if not project.static:
        files.update(_skeleton(root, directory))
        names = (*TEST_WORDS, "|", *DEV_WORDS)
        steps.append(Step(kind=StepKind.METADATA, arguments=(_ASKED,), names=names, directory=directory))
        arguments += ["-r", _ASKED]
    for name in wanted.entries:
        arguments += ["-r", name]
    if lock:
        files[posixpath.join(directory, _CONSTRAINTS)] = lock.content
        arguments += [*lock.indexes, "-c", _CONSTRAINTS]
    if "-r" in arguments:
        steps.append(Step(kind=StepKind.PIP, arguments=tuple(arguments), directory=directory))
    return Found(
        source=_say(project, lock.name if lock else "", wanted),
        files=files,
        steps=tuple(steps),
        locals=wanted.chain.directories,
        notes=tuple(f"`{name}` is referred to and is not in the tree" for name in wanted.chain.missing),
    )


def _wanted(root: Path, directory: str, project: Project) -> Wanted:
    """Choose what to install; requirements files and `tox.ini` count where metadata does not bring pytest."""
    groups = (*chosen(project.groups), *chosen(project.extras))
    entries: tuple[str, ...] = ()
    tox_lines: tuple[str, ...] = ()
    if not any(group.brings_pytest for group in groups):
        entries, tox_lines = _test_files(root, directory, project)
    chain = requirement_files.follow(root, directory, entries)
    named = {canonicalize_name(name) for name in chain.extras}
    groups += tuple(extra for extra in project.extras if canonicalize_name(extra.name) in named and extra not in groups)
    lines = (*project.dependencies, *(line for group in groups for line in group.requirements), *tox_lines)
    local = {canonicalize_name(name) for name in project.sources}
    return Wanted(
        lines=tuple(line for line in dict.fromkeys(lines) if canonicalize_name(requirement_name(line) or "-") not in local),
        groups=tuple(group.name for group in groups),
        entries=tuple(name for name in entries if posixpath.normpath(posixpath.join(directory, name)) in chain.files),
        chain=chain,
        from_tox=bool(tox_lines),
    )


def _test_files(root: Path, directory: str, project: Project) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Choose requirements files, and lines of `tox.ini`.

    | the project | files |
    |---|---|
    | has metadata of its own | those for tests, else those for development, else what `tox.ini` says, else the main ones |
    | has none | the main ones, with those for tests, else those for development, else what `tox.ini` says |
    """
    place = root / directory
    found = requirement_files.candidates(place)
    extra = found.test or found.dev
    lines: tuple[str, ...] = ()
    if not extra:
        lines, files = requirement_files.from_tox(place / "tox.ini")
        extra = tuple(name for name in files if (place / name).is_file())
    if project.package or project.dependencies:
        return (extra or (() if lines else found.main)), lines
    return tuple(dict.fromkeys((*found.main, *extra))), lines


def _say(project: Project, lock: str, wanted: Wanted) -> str:
    """Say in a few words what the recipe was made from."""
    parts = [lock] if lock else []
    if project.dependencies or wanted.groups or not project.static:
        names = f" with {', '.join(f'`{name}`' for name in dict.fromkeys(wanted.groups))}" if wanted.groups else ""
        parts.append(f"the project's metadata{names}")
    parts.extend(wanted.entries)
    if wanted.from_tox:
        parts.append("`tox.ini`")
    return ", ".join(parts)


def _members(root: Path, directory: str, project: Project, found: Found) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List the directories to install editable, the project last, and a note for each that cannot be."""
    places = [posixpath.normpath(posixpath.join(directory, path)) for path in project.sources.values() if path != "*"]
    places += found.locals
    notes = tuple(f"`{place}` lies outside the tree: not installed" for place in places if place.startswith(".."))
    own = directory or "."
    installable = [
        place
        for place in dict.fromkeys(posixpath.normpath(place or ".") for place in places)
        if place != own and not place.startswith("..") and projects.read(root / place).package
    ]
    return (*installable, *((own,) if project.package else ())), notes


def _build_requires(root: Path, members: tuple[str, ...]) -> tuple[str, ...]:
    """List what must lie ready for editable installs without a network."""
    result: list[str] = []
    for member in members:
        declared = projects.read(root / member).build_requires
        names = {canonicalize_name(requirement_name(line)) for line in declared}
        result += declared
        if not names or "setuptools" in names:
            result += ["setuptools", "wheel"]
        if "hatchling" in names:
            result.append("editables")
    return tuple(dict.fromkeys(result))


def _manifests(root: Path, directory: str) -> dict[str, bytes]:
    """Take every file that an install command may want: manifests, locks, requirements files and what they refer to."""
    place = root / directory
    names = [path.name for path in sorted(place.iterdir()) if path.is_file() and _is_manifest(path)]
    found = requirement_files.candidates(place)
    chain = requirement_files.follow(root, directory, (*found.main, *found.test, *found.dev))
    return {**{posixpath.join(directory, name): (place / name).read_bytes() for name in names}, **chain.files}


def _is_manifest(path: Path) -> bool:
    return path.name in _MANIFESTS or path.suffix == ".lock" or path.name == "Pipfile.lock"


def _skeleton(root: Path, directory: str) -> dict[str, bytes]:
    """Take what a `setup.py` commonly reads: the top's small files, requirements, and modules that hold versions."""
    files = {}
    for name, path in _walk(root, directory):
        relative = posixpath.relpath(name, directory or ".")
        depth = relative.count("/")
        wanted = (
            depth == 0
            or relative.startswith("requirements/")
            or (depth <= _DEEPEST and path.stem in _VERSION_FILES and path.suffix == ".py")
        )
        if wanted and path.suffix not in {".lock", ".log"}:
            files[name] = path.read_bytes()
    return files


def _tree(root: Path, directory: str) -> Iterator[tuple[str, bytes]]:
    return ((name, path.read_bytes()) for name, path in _walk(root, directory))


def _walk(root: Path, directory: str) -> Iterator[tuple[str, Path]]:
    """Walk the project's regular files of moderate size, without hidden folders, environments and build products."""
    for folder, folders, names in os.walk(root / directory):
        folders[:] = sorted(
            each
            for each in folders
            if not each.startswith(".")
            and each not in _SKIPPED
            and not each.endswith(".egg-info")
            and not (Path(folder) / each / "pyvenv.cfg").exists()
        )
        for name in sorted(names):
            path = Path(folder) / name
            if path.is_file() and not path.is_symlink() and not name.startswith(".env") and path.stat().st_size <= _LARGEST:
                yield path.relative_to(root).as_posix(), path
