"""Lock files: what they pin, in a form that one installer step understands.

uv's is left to uv. The others give constraints, so that pip itself weighs each marker against the interpreter it installs for.
"""

from __future__ import annotations

import json
import posixpath
from pathlib import Path
from typing import Any

import msgspec
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from paritygate.errors import ConfigError
from paritygate.images.projects import Project, chosen, load_toml, table, texts
from paritygate.images.recipes import GENERATED, Found, Step, StepKind


def uv(root: Path, directory: str, project: Project) -> Found | None:
    """Use the `uv.lock` of the project or of the workspace above it."""
    top = _nearest(root, directory, "uv.lock")
    if top is None:
        return None
    lock = load_toml(root / top / "uv.lock")
    local = {str(package.get("name")): package["source"] for package in _packages(lock) if _is_local(package)}
    folders = {name: posixpath.normpath(posixpath.join(top, _local_path(source))) for name, source in local.items()}
    inside = {name: folder for name, folder in folders.items() if not folder.startswith("..")}
    files = {
        posixpath.join(top, name): (root / top / name).read_bytes()
        for name in ("uv.lock", "uv.toml")
        if (root / top / name).is_file()
    }
    for folder in {top, directory, *inside.values()}:
        for name in ("pyproject.toml", ".python-version"):
            path = root / folder / name
            if path.is_file():
                files[posixpath.normpath(posixpath.join(folder, name))] = path.read_bytes()
    editable = tuple(
        folder for name, folder in inside.items() if "virtual" not in local[name] and (root / folder / "pyproject.toml").is_file()
    )
    selection = [argument for group in chosen(project.groups) for argument in ("--group", group.name)]
    selection += [argument for extra in chosen(project.extras) for argument in ("--extra", extra.name)]
    if project.name and posixpath.normpath(directory or ".") != posixpath.normpath(top or "."):
        selection += ["--package", project.name]
    outside = tuple(
        f"`{name}` lies outside the tree, at `{folder}`: not installed" for name, folder in folders.items() if name not in inside
    )
    step = Step(kind=StepKind.UV, arguments=tuple(selection), names=tuple(sorted(local)), directory=top)
    return Found(source=posixpath.join(top, "uv.lock"), files=files, steps=(step,), locals=editable, notes=outside)


class Pins(msgspec.Struct, frozen=True, kw_only=True):
    """What a lock file pins: constraints as a file's content, and pip's options for the indexes it takes packages from."""

    name: str
    content: bytes
    indexes: tuple[str, ...]


def poetry_or_pdm(root: Path, directory: str) -> Pins | None:
    """Use a `poetry.lock` or `pdm.lock`."""
    for name in ("poetry.lock", "pdm.lock"):
        path = root / directory / name
        if path.is_file():
            lock = load_toml(path)
            content = "".join(f"{line}\n" for line in constraints(lock)).encode()
            return Pins(name=name, content=content, indexes=_indexes(lock))
    return None


def constraints(lock: dict[str, Any]) -> tuple[str, ...]:
    """Pin each package.

    One locked in several versions without markers gets the range that spans them: pip takes the newest that fits.
    """
    by_name: dict[str, list[dict[str, Any]]] = {}
    for package in _packages(lock):
        by_name.setdefault(canonicalize_name(str(package.get("name", ""))), []).append(package)
    lines: list[str] = []
    for name, packages in sorted(by_name.items()):
        distinct = {str(package.get("version")): package for package in packages}
        markers = [_marker(package) for package in distinct.values()]
        if len(distinct) == 1:
            lines.extend(_pin(name, packages[0], ""))
        elif all(markers):
            for package, marker in zip(distinct.values(), markers, strict=True):
                lines.extend(_pin(name, package, marker))
        else:
            versions = _sorted(distinct)
            lines.append(f"{name}>={versions[0]},<={versions[-1]}")
    return tuple(lines)


def pipenv(root: Path, directory: str) -> Found | None:
    """Use a `Pipfile.lock`: it holds the whole closure with markers, so nothing is left to resolve."""
    path = root / directory / "Pipfile.lock"
    if not path.is_file():
        return None
    try:
        lock = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigError(str(path), (f"not JSON: {error}",)) from error
    lines: dict[str, None] = {}
    for section in ("default", "develop"):
        for name, entry in table(lock, section).items():
            if isinstance(entry, dict) and (line := _pipenv_line(name, entry)):
                lines[line] = None
    generated = posixpath.join(directory, GENERATED, "pipfile-lock.txt")
    indexes = tuple(
        argument
        for source in table(lock, "_meta").get("sources", [])
        if "$" not in source["url"]
        for argument in _index(source["url"])
    )
    return Found(
        source="Pipfile.lock",
        files={generated: "".join(f"{line}\n" for line in lines).encode()},
        steps=(
            Step(
                kind=StepKind.PIP, arguments=("--no-deps", *indexes, "-r", f"{GENERATED}/pipfile-lock.txt"), directory=directory
            ),
        ),
    )


def _pipenv_line(name: str, entry: dict[str, Any]) -> str:
    if "path" in entry or (entry.get("editable") and "git" not in entry):
        return ""
    extras = f"[{','.join(texts(entry.get('extras')))}]" if entry.get("extras") else ""
    marker = f" ; {entry['markers']}" if entry.get("markers") else ""
    if "git" in entry:
        return f"{name}{extras} @ git+{entry['git']}@{entry.get('ref', 'HEAD')}{marker}"
    return f"{name}{extras} @ {entry['file']}{marker}" if "file" in entry else f"{name}{extras}{entry.get('version', '')}{marker}"


def _packages(lock: dict[str, Any]) -> list[dict[str, Any]]:
    found = lock.get("package")
    return [package for package in found if isinstance(package, dict)] if isinstance(found, list) else []


def _is_local(package: dict[str, Any]) -> bool:
    return any(key in table(package, "source") for key in ("editable", "directory", "virtual"))


def _local_path(source: dict[str, Any]) -> str:
    return str(next(source[key] for key in ("editable", "directory", "virtual") if key in source))


def _nearest(root: Path, directory: str, name: str) -> str | None:
    """Find the directory, from the project's up to the tree's top, that holds a file."""
    place = directory.strip("/")
    while not (root / place / name).is_file():
        if not place:
            return None
        place = posixpath.dirname(place)
    return place


def _marker(package: dict[str, Any]) -> str:
    marker = package.get("markers", package.get("marker", ""))
    return marker if isinstance(marker, str) else ""


def _pin(name: str, package: dict[str, Any], marker: str) -> tuple[str, ...]:
    source = table(package, "source") or package
    condition = f" ; {marker}" if marker else ""
    if source.get("type") == "git" or "git" in source:
        reference = source.get("resolved_reference") or source.get("revision") or source.get("reference", "HEAD")
        folder = f"#subdirectory={source['subdirectory']}" if source.get("subdirectory") else ""
        return (f"{name} @ git+{source.get('url', source.get('git'))}@{reference}{folder}{condition}",)
    if source.get("type") == "url":
        return (f"{name} @ {source['url']}{condition}",)
    if source.get("type") in {"directory", "file"} or "path" in package:
        return ()
    return (f"{name}=={package.get('version')}{condition}",)


def _sorted(versions: dict[str, dict[str, Any]]) -> list[str]:
    try:
        return sorted(versions, key=Version)
    except InvalidVersion:
        return sorted(versions)


def _indexes(lock: dict[str, Any]) -> tuple[str, ...]:
    urls = {
        table(package, "source").get("url") for package in _packages(lock) if table(package, "source").get("type") == "legacy"
    }
    return tuple(argument for url in sorted(filter(None, urls)) for argument in _index(url))


def _index(url: str) -> tuple[str, ...]:
    return ("--extra-index-url", url)
