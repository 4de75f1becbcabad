"""What a project's `pyproject.toml`, `setup.cfg` and `setup.py` say about it, read without running any of them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec
from packaging.utils import canonicalize_name

from paritygate.errors import ConfigError
from paritygate.images import poetry, setups

TEST_WORDS = ("test", "tests", "testing", "pytest", "unittest", "unit", "test-deps", "tests-deps", "test-requirements")
DEV_WORDS = ("dev", "develop", "development", "devel", "all-dev", "dev-deps", "ci")


class Group(msgspec.Struct, frozen=True):
    """A named list of requirements, includes and references to the project's own extras resolved."""

    name: str
    requirements: tuple[str, ...]

    @property
    def brings_pytest(self) -> bool:
        """Whether pytest itself or a plugin of it is among them."""
        return any(canonicalize_name(requirement_name(line)).startswith("pytest") for line in self.requirements)


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """A project's own metadata; `static` is false where its dependencies are known to code alone.

    `package` says whether it can be installed. `sources` maps names of dependencies to directories beside or below it.
    """

    name: str = ""
    dependencies: tuple[str, ...] = ()
    extras: tuple[Group, ...] = ()
    groups: tuple[Group, ...] = ()
    requires_python: str = ""
    build_requires: tuple[str, ...] = ()
    package: bool = False
    static: bool = True
    sources: dict[str, str] = {}
    document: dict[str, Any] = {}


def requirement_name(line: str) -> str:
    """Say the name in a requirement line; empty where there is none."""
    found = re.match(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)", line)
    return found.group(1) if found else ""


def load_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file; an absent one is empty."""
    if not path.is_file():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(str(path), (f"not TOML: {error}",)) from error


def table(document: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Go down to a table; empty where it is absent or something else."""
    for key in keys:
        found = document.get(key)
        if not isinstance(found, dict):
            return {}
        document = found
    return document


def texts(value: object) -> tuple[str, ...]:
    """Take the texts out of a list; empty for anything else."""
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def read(directory: Path) -> Project:
    """Read what a directory's project says of itself; a `Pipfile` adds to it."""
    project = _read(directory)
    pipfile = load_toml(directory / "Pipfile")
    if not pipfile:
        return project
    packages = () if project.package else poetry.requirements(table(pipfile, "packages"))
    return msgspec.structs.replace(
        project,
        dependencies=project.dependencies + packages,
        groups=(*project.groups, Group("dev", poetry.requirements(table(pipfile, "dev-packages")))),
    )


def _read(directory: Path) -> Project:
    document = load_toml(directory / "pyproject.toml")
    build_requires = texts(table(document, "build-system").get("requires"))
    if document.get("project"):
        return _from_pep621(directory, document, build_requires)
    if table(document, "tool", "poetry"):
        return _from_poetry(document, build_requires)
    if table(document, "tool", "flit", "metadata"):
        return _from_flit(document, build_requires)
    return _from_setuptools(directory, document, build_requires)


def chosen(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """Choose the groups that tests need: those named for tests, and those for development where these bring no pytest."""
    first = tuple(group for group in groups if canonicalize_name(group.name) in TEST_WORDS)
    if any(group.brings_pytest for group in first):
        return first
    return first + tuple(group for group in groups if canonicalize_name(group.name) in DEV_WORDS)


def _from_pep621(directory: Path, document: dict[str, Any], build_requires: tuple[str, ...]) -> Project:
    project = table(document, "project")
    name = str(project.get("name", ""))
    extras = {key: texts(value) for key, value in table(project, "optional-dependencies").items()}
    dependencies = texts(project.get("dependencies"))
    dynamic = set(texts(project.get("dynamic")))
    static = True
    if "dependencies" in dynamic:
        read_from_files = setups.dynamic_requirements(
            directory, table(document, "tool", "setuptools", "dynamic").get("dependencies")
        )
        poetry_ones = poetry.requirements(table(document, "tool", "poetry", "dependencies"))
        static = read_from_files is not None or bool(poetry_ones)
        dependencies = (read_from_files or ()) + poetry_ones
    if "optional-dependencies" in dynamic:
        for key, value in table(document, "tool", "setuptools", "dynamic", "optional-dependencies").items():
            extras[key] = setups.dynamic_requirements(directory, value) or ()
        static = static and bool(extras)
    uv = table(document, "tool", "uv")
    return Project(
        name=name,
        dependencies=dependencies,
        extras=_extras(name, extras),
        groups=_groups(document) + _poetry_groups(document),
        requires_python=str(project.get("requires-python", "")),
        build_requires=build_requires,
        package=bool(uv.get("package", bool(table(document, "build-system")) or (directory / "setup.py").is_file()))
        and table(document, "tool", "poetry").get("package-mode", True) is not False,
        static=static,
        sources=_sources(uv),
        document=document,
    )


def _from_poetry(document: dict[str, Any], build_requires: tuple[str, ...]) -> Project:
    section = table(document, "tool", "poetry")
    main = table(section, "dependencies")
    extras = {
        key: tuple(line for name in texts(value) for line in poetry.requirement(name, main.get(name, "*"), optional=True))
        for key, value in table(section, "extras").items()
    }
    return Project(
        name=str(section.get("name", "")),
        dependencies=poetry.requirements(main),
        extras=tuple(Group(key, value) for key, value in extras.items()),
        groups=_poetry_groups(document) + _groups(document),
        requires_python=poetry.specifier(str(main.get("python", ""))),
        build_requires=build_requires,
        package=section.get("package-mode", True) is not False and bool(table(document, "build-system")),
        sources=poetry.local_sources(section),
        document=document,
    )


def _from_flit(document: dict[str, Any], build_requires: tuple[str, ...]) -> Project:
    section = table(document, "tool", "flit", "metadata")
    return Project(
        name=str(section.get("dist-name", section.get("module", ""))),
        dependencies=texts(section.get("requires")),
        extras=tuple(Group(key, texts(value)) for key, value in table(section, "requires-extra").items()),
        groups=_groups(document),
        requires_python=str(section.get("requires-python", "")),
        build_requires=build_requires,
        package=bool(build_requires),
        document=document,
    )


def _from_setuptools(directory: Path, document: dict[str, Any], build_requires: tuple[str, ...]) -> Project:
    setup = setups.read(directory)
    if setup.setup_requires and not build_requires:
        build_requires = ("setuptools", "wheel")
    return Project(
        name=setup.name,
        dependencies=setup.dependencies,
        extras=_extras(setup.name, setup.extras),
        groups=_groups(document) + ((Group("test", setup.tests_require),) if setup.tests_require else ()),
        requires_python=setup.requires_python,
        build_requires=build_requires + setup.setup_requires,
        package=setup.present or bool(table(document, "build-system")),
        static=setup.static and (setup.present or not build_requires),
        document=document,
    )


def _extras(name: str, extras: dict[str, tuple[str, ...]]) -> tuple[Group, ...]:
    """Resolve extras that name others of the same project, as `test = ["thing[cli]"]` does."""
    own = canonicalize_name(name) if name else ""

    def lines(key: str, seen: frozenset[str]) -> tuple[str, ...]:
        result: tuple[str, ...] = ()
        for line in extras.get(key, ()):
            inner = re.match(r"\s*([A-Za-z0-9._-]+)\s*\[([^\]]*)\]", line)
            if not (inner and own and canonicalize_name(inner.group(1)) == own):
                result += (line,)
                continue
            wanted = {canonicalize_name(part.strip()) for part in inner.group(2).split(",")}
            for other in extras:
                if canonicalize_name(other) in wanted and other not in seen:
                    result += lines(other, seen | {other})
        return tuple(dict.fromkeys(result))

    return tuple(Group(key, lines(key, frozenset({key}))) for key in extras)


def _groups(document: dict[str, Any]) -> tuple[Group, ...]:
    """Resolve PEP 735 dependency groups, and the older tables of uv and pdm that mean the same."""
    raw: dict[str, list[object]] = {
        key: value for key, value in table(document, "dependency-groups").items() if isinstance(value, list)
    }
    older = table(document, "tool", "uv").get("dev-dependencies")
    if isinstance(older, list):
        raw["dev"] = [*raw.get("dev", []), *older]
    for key, value in table(document, "tool", "pdm", "dev-dependencies").items():
        raw.setdefault(key, list(value) if isinstance(value, list) else [])
    by_name = {canonicalize_name(key): value for key, value in raw.items()}

    def lines(key: str, seen: frozenset[str]) -> tuple[str, ...]:
        result: list[str] = []
        for item in by_name.get(canonicalize_name(key), []):
            if isinstance(item, str):
                result.append(item)
            elif isinstance(item, dict) and "include-group" in item:
                other = canonicalize_name(str(item["include-group"]))
                result.extend(lines(other, seen | {other}) if other not in seen else ())
        return tuple(dict.fromkeys(result))

    return tuple(Group(key, lines(key, frozenset({canonicalize_name(key)}))) for key in raw)


def _poetry_groups(document: dict[str, Any]) -> tuple[Group, ...]:
    section = table(document, "tool", "poetry")
    found = [
        Group(name, poetry.requirements(table(group, "dependencies")))
        for name, group in table(section, "group").items()
        if isinstance(group, dict)
    ]
    if old := table(section, "dev-dependencies"):
        found.append(Group("dev", poetry.requirements(old)))
    return tuple(found)


def _sources(uv: dict[str, Any]) -> dict[str, str]:
    """Find the dependencies that uv takes from directories: paths as written, `*` for a member of the workspace."""
    found: dict[str, str] = {}
    for name, source in table(uv, "sources").items():
        entries = source if isinstance(source, list) else [source]
        for entry in entries:
            if isinstance(entry, dict) and entry.get("workspace"):
                found[canonicalize_name(name)] = "*"
            elif isinstance(entry, dict) and isinstance(entry.get("path"), str):
                found[canonicalize_name(name)] = entry["path"]
    return found
