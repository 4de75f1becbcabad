"""What a project's folder shows of itself, read without running anything of it."""

from __future__ import annotations

import configparser
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from paritygate.changed.project import CONFIGURATION, Conventions, conventions
from paritygate.changed.unnoticed import said_of, unnoticed
from paritygate.config import file as config_file
from paritygate.config.settings import USUAL_REPORT, USUAL_SWEEP
from paritygate.errors import UsageError
from paritygate.images import base, dependencies, projects
from paritygate.snapshot import survey
from paritygate.snapshot.ignoring import rules_of

MOST_FILES = 50_000
USUAL = ("tests", "test")
REPORTS = (USUAL_REPORT, USUAL_SWEEP)
_OF_PYTEST = re.compile(r"\[pytest\]|\[tool:pytest\]|\[tool\.pytest|^\[pytest", re.MULTILINE)
_SECTIONS = ("pytest", "tool:pytest")
_NAME = re.compile(r"[^\W\d]\w*")


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """What there is: test files with the folders that pytest is told of, where pytest is configured, and its own markers.

    `source` says where paritygate is configured already, empty for nowhere; `noxfile` is the text of one, None without.
    `reports` are the names of reports that git would take for files of the project.
    """

    project: Path
    name: str
    python: str
    requires_python: str
    dependencies: str
    in_git: bool
    tests: tuple[str, ...]
    testpaths: tuple[str, ...]
    pytest_file: str
    markers: tuple[str, ...]
    source: str
    noxfile: str | None
    reports: tuple[str, ...] = ()


def look(project: Path, variables: Mapping[str, str]) -> Seen:
    """Look at a project; raises `UsageError` where nothing looks like one that pytest tests, `ConfigError` for broken files."""
    loaded = config_file.load(project)
    texts = {name: _text(project / name) for name in CONFIGURATION if (project / name).is_file()}
    known = conventions(texts, ())
    files = tuple(sorted(_files(project, known)))
    # Modules with doctests are no test files: they count only where there are no others.
    by_name = msgspec.structs.replace(known, doctests=False)
    tests = tuple(path for path in files if by_name.is_test(path)) or tuple(path for path in files if known.is_test(path))
    own = next((name for name, text in texts.items() if name.endswith("pytest.ini") or _OF_PYTEST.search(text)), "")
    if not tests and not own:
        raise _no_project(project, unnoticed(project, files, known), known)
    settings, about = loaded.settings, projects.read(project)
    recipe = dependencies.find(project, "", settings.image)
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    top, inside = survey.locate(str(project), dict(variables))
    in_git = (Path(top) / ".git").exists()
    noxfile = project / "noxfile.py"
    return Seen(
        project=project,
        name=about.name or project.name,
        python=base.choose_python(settings.image, project, recipe.requires_python, running),
        requires_python=about.requires_python,
        dependencies=recipe.source,
        in_git=in_git,
        tests=tests,
        testpaths=tuple(each for each in known.places if (project / each).exists()),
        pytest_file=own,
        markers=_markers(own, texts.get(own, "")),
        source=loaded.source,
        noxfile=_text(noxfile) if noxfile.is_file() else None,
        reports=tuple(_not_ignored(top, inside, variables)) if in_git else (),
    )


def _not_ignored(top: str, inside: str, variables: Mapping[str, str]) -> Iterator[str]:
    """Name the reports that git does not ignore."""
    paths = {name: f"{inside}/{name}" if inside else name for name in REPORTS}
    ignored = rules_of(top, variables, tuple(paths.values()))
    return (name for name, path in paths.items() if path not in ignored)


def _no_project(project: Path, passed_over: tuple[str, ...], known: Conventions) -> UsageError:
    what = f"`{project}` looks like no project that pytest tests: "
    if passed_over:
        said, now = said_of(passed_over, known)
        return UsageError(f"{what}{said}", now)
    named = " or ".join(f"`{each}`" for each in known.files)
    return UsageError(
        f"{what}no file is called {named}, and nothing configures pytest",
        "go to the project's folder, or name it with `--project DIR`",
    )


def _files(project: Path, known: Conventions) -> Iterator[str]:
    """List the Python files where pytest is told to look, or anywhere; not in folders that it does not enter."""
    count = 0
    for folder, below, names in os.walk(project):
        inside = Path(folder).relative_to(project)
        entered = [each for each in below if known.is_entered((inside / each / "x").as_posix())]
        below[:] = [each for each in entered if not Path(folder, each, "pyvenv.cfg").exists()]
        for name in names:
            path = (inside / name).as_posix()
            count += 1
            if path.endswith(".py") and _is_placed(path, known.places):
                yield path
        if count > MOST_FILES:
            return


def _is_placed(path: str, places: tuple[str, ...]) -> bool:
    return not places or any(place in {".", path} or path.startswith(f"{place}/") for place in places)


def _markers(name: str, text: str) -> tuple[str, ...]:
    """List the markers that a pytest configuration registers, each by its name alone."""
    found: object = None
    if name.endswith(".toml"):
        top = tomllib.loads(text)
        tool = projects.table(top, "tool", "pytest") if name == config_file.SHARED_FILE else projects.table(top, "pytest")
        found = (projects.table(tool, "ini_options") or tool).get("markers")
    elif name:
        parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
        with suppress(configparser.Error):
            parser.read_string(text)
        found = next((parser.get(each, "markers", fallback="") for each in _SECTIONS if parser.has_section(each)), "")
    lines = found.splitlines() if isinstance(found, str) else projects.texts(found)
    return tuple(match[0] for match in map(_NAME.match, (line.strip() for line in lines)) if match)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
