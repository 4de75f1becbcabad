"""Requirements files: which of them the tests need, and everything they refer to.

Lines that install a directory are taken out and reported: the tree is not there yet when dependencies are installed. A wheel or
an archive of the tree is sent along.
"""

from __future__ import annotations

import configparser
import posixpath
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

_TEST = frozenset({"test", "tests", "testing", "pytest", "unittest"})
_DEV = frozenset({"dev", "develop", "development", "devel", "ci"})
_MAIN = frozenset({"base", "main", "common", "core", "default", "prod", "production", "install", "runtime", "all"})
_KINDS = frozenset({"requirements", "requirement", "reqs", "req"})
_ARCHIVE = re.compile(r"\s*(?:file:)?((?!\S*://)[^\s\[;#]+\.(?:whl|zip|tgz|tar\.(?:gz|bz2|xz)))(?:\[[^\]]*\])?\s*(?:[;#].*)?$")


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """Requirements files with everything they refer to; paths are relative to the tree's top.

    `directories` are those that a line installs, `extras` what such a line asks of the project itself, `archives` the wheels and
    source archives that lines install, as they name them.
    """

    files: dict[str, bytes] = {}
    archives: tuple[str, ...] = ()
    directories: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


class Candidates(msgspec.Struct, frozen=True, kw_only=True):
    """Requirements files of a project by what they are for, paths relative to the project."""

    main: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    dev: tuple[str, ...] = ()


def candidates(directory: Path) -> Candidates:
    """Sort a project's requirements files by their names; a `.in` counts only where its `.txt` is absent."""
    names: list[str] = []
    for folder in ("", "requirements/", "tests/", "test/"):
        for path in sorted((directory / folder).glob("*.*")) if (directory / folder).is_dir() else ():
            compiled = path.suffix == ".in" and path.with_suffix(".txt").is_file()
            if path.suffix in {".txt", ".in", ".pip"} and path.is_file() and not compiled:
                names.append(folder + path.name)
    purposes = {name: _purpose(name) for name in names}
    main = tuple(name for name in names if purposes[name] == "main")
    top = tuple(name for name in main if "/" not in name)
    return Candidates(
        main=top or main,
        test=tuple(name for name in names if purposes[name] == "test"),
        dev=tuple(name for name in names if purposes[name] == "dev"),
    )


def follow(root: Path, directory: str, names: Iterable[str]) -> Chain:
    """Read files of a project's `directory` and all that their lines refer to, but for what is outside of `root`."""
    chain = Chain()
    waiting = [posixpath.join(directory, name) for name in names]
    while waiting:
        name = posixpath.normpath(waiting.pop(0))
        path = root / name
        if name in chain.files or name in chain.missing:
            continue
        if name.startswith("..") or not path.is_file():
            chain = msgspec.structs.replace(chain, missing=(*chain.missing, name))
            continue
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        kept, found = _sift(text, posixpath.dirname(name))
        chain = msgspec.structs.replace(
            chain,
            files={**chain.files, name: kept.encode()},
            archives=tuple(dict.fromkeys(chain.archives + found.archives)),
            directories=tuple(dict.fromkeys(chain.directories + found.directories)),
            extras=tuple(dict.fromkeys(chain.extras + found.extras)),
        )
        waiting.extend(found.missing)
    return _with_archives(chain, root, directory)


def _with_archives(chain: Chain, root: Path, directory: str) -> Chain:
    """Add the archives; pip takes their paths as relative to where it runs, whichever file names them."""
    named = tuple(posixpath.normpath(posixpath.join(directory, name)) for name in chain.archives)
    here = {name: (root / name).read_bytes() for name in named if not name.startswith("..") and (root / name).is_file()}
    lacking = tuple(name for name in named if name not in here)
    return msgspec.structs.replace(chain, files={**chain.files, **here}, missing=chain.missing + lacking)


def from_tox(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read `deps` of `[testenv]` in a `tox.ini`: requirement lines, and files; lines for some factors only are left out."""
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(path.read_text(encoding="utf-8", errors="replace") if path.is_file() else "")
    except configparser.Error:
        return (), ()
    lines: list[str] = []
    files: list[str] = []
    for raw in parser.get("testenv", "deps", fallback="").splitlines():
        line = raw.split(" #")[0].strip()
        reference = re.match(r"(?:-r|--requirement)[\s=]*(?:\{toxinidir\}/)?(\S+)", line)
        if reference and "{" not in reference.group(1):
            files.append(reference.group(1))
        elif re.match(r"[A-Za-z0-9][\w.-]*\s*(\[[^\]]*\])?\s*([<>=!~;].*)?$", line) and "{" not in line:
            lines.append(line)
    return tuple(lines), tuple(files)


def _purpose(name: str) -> str:
    words = set(re.split(r"[-_./]+", posixpath.splitext(name)[0].lower())) - {""}
    if not words & _KINDS:
        return ""
    rest = words - _KINDS
    if rest and rest <= _TEST | {"extra"}:
        return "test"
    if rest and rest <= _DEV | _TEST:
        return "dev"
    return "main" if rest <= _MAIN else ""


def _sift(text: str, folder: str) -> tuple[str, Chain]:
    """Take out of a file what installs directories; `missing` of the chain holds the files it refers to."""
    kept: list[str] = []
    found = Chain()
    for line in text.splitlines():
        reference = re.match(r"\s*(?:-r|--requirement|-c|--constraint)[\s=]*([^\s#]+)", line)
        local = re.match(
            r"\s*(?:(?:-e|--editable)[\s=]*)?(?:file:)?(\.{1,2}(?:/[^\s\[;#]*)?)(?:\[([^\]]*)\])?\s*(?:[;#].*)?$", line
        )
        editable = re.match(r"\s*(?:-e|--editable)[\s=]*(?!(?:git|hg|svn|bzr)\+|https?:)([^\s\[;#]+)(?:\[([^\]]*)\])?", line)
        if reference and "://" not in reference.group(1):
            found = msgspec.structs.replace(found, missing=(*found.missing, posixpath.join(folder, reference.group(1))))
            kept.append(line)
        elif archive := _ARCHIVE.match(line):
            found = msgspec.structs.replace(found, archives=(*found.archives, archive.group(1)))
            kept.append(line)
        elif place := local or editable:
            found = msgspec.structs.replace(
                found,
                directories=(*found.directories, posixpath.normpath(posixpath.join(folder, place.group(1)))),
                extras=found.extras + tuple(part.strip() for part in (place.group(2) or "").split(",") if part.strip()),
            )
        else:
            kept.append(line)
    return "\n".join(kept) + "\n", found
