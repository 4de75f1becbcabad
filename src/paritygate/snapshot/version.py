"""The version that a project derives from git, computed once on the host: a cell's history cannot give it."""

from __future__ import annotations

import re
from pathlib import Path

from packaging.version import InvalidVersion, Version

from paritygate.snapshot import git
from paritygate.snapshot.git import Git

_TOOLS = re.compile(
    r"setuptools[-_]scm|hatch[-_]vcs|versioningit|dunamai|versioneer|poetry[-_]dynamic[-_]versioning|setuptools[-_]git[-_]versioning"
    r"|tool\.pdm\.version\]\s*\n(?:[^\[]*\n)*?\s*source\s*=\s*[\"']scm|source\s*=\s*[\"']vcs[\"']|vcs[-_]versioning|\bpbr\b"
)
_FILES = ("pyproject.toml", "setup.cfg", "setup.py")
_TAG = re.compile(r"(?:^|.*?[-_/a-zA-Z])[vV]?(\d+(?:\.\d+)*.*)")
UNKNOWN = "0.0.0"


def derive(project: Path, repository: Git | None, *, changed: bool) -> tuple[str, str]:
    """Return the version and a note, both empty where the project does not derive one from git.

    | history                        | version                 |
    |--------------------------------|-------------------------|
    | exactly on a tag, unchanged    | the tag's               |
    | N commits after a tag, or changed | the next one's `.devN+gHASH` |
    | no tag, N commits              | `0.1.devN+gHASH`        |
    | no tag in a shallow clone      | `0.0.0`, and a note     |
    """
    if not any(_TOOLS.search(_text(project / name)) for name in _FILES):
        return "", ""
    if repository is None:
        return _packaged(project)
    described = git.line(repository, "describe", "--tags", "--long", "--match", "*[0-9]*")
    if described:
        tag, distance, commit = described.rsplit("-", 2)
        return _after(tag, int(distance), commit, changed=changed)
    if git.line(repository, "rev-parse", "--is-shallow-repository") == "true":
        return UNKNOWN, f"no tag in this shallow clone: the version is taken to be {UNKNOWN}"
    count = git.line(repository, "rev-list", "--count", "HEAD") or "0"
    commit = git.line(repository, "rev-parse", "--short", "HEAD")
    return f"0.1.dev{count}" + (f"+g{commit}" if commit else ""), ""


def _after(tag: str, distance: int, commit: str, *, changed: bool) -> tuple[str, str]:
    match = _TAG.fullmatch(tag)
    try:
        base = Version(match[1] if match else tag)
    except InvalidVersion:
        return UNKNOWN, f"tag `{tag}` is no version: it is taken to be {UNKNOWN}"
    if distance == 0 and not changed:
        return str(base), ""
    return f"{_next(base)}.dev{distance}+{commit}", ""


def _next(base: Version) -> str:
    """Raise the last number, as setuptools-scm guesses: 1.2.3 to 1.2.4, 2.0rc1 to 2.0rc2."""
    public = re.sub(r"\.dev\d+$", "", base.public)
    if public != base.public:
        return public
    return re.sub(r"(\d+)$", lambda number: str(int(number[1]) + 1), public)


def _packaged(project: Path) -> tuple[str, str]:
    """Take the version that a source distribution carries."""
    found = re.search(r"^Version: *(\S+)", _text(project / "PKG-INFO"), re.MULTILINE)
    if found:
        return found[1], ""
    return UNKNOWN, f"the project derives its version from git, and there is none: it is taken to be {UNKNOWN}"


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
