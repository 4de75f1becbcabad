"""What a project's pytest configuration says of its tests, as far as the selection from a diff needs it. It errs towards more."""

from __future__ import annotations

import configparser
import posixpath
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from typing import Any

import msgspec

CONFIGURATION = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_NOT_ENTERED = ("*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}")
_TEXTS = "test*.txt"
_COLLECTORS = re.compile(
    r"doctest[-_]glob|\bnbval|\bnbmake|\btavern|pytest[-_]mypy[-_]plugins|\bsybil|markdown[-_]docs|pytest[-_]examples|codeblocks"
)
_LOADED = re.compile(
    r"(?<![\w-])-p[\s,\"'=]*([^\W\d][\w.]*)|DJANGO_SETTINGS_MODULE\W+([^\W\d][\w.]*)|\bpytest_plugins\W+([^\W\d][\w.]*)"
)
_PLUGINS = re.compile(r"pytest11(.*?)(?:^\s*\[|\Z)", re.DOTALL | re.MULTILINE)
_DOTTED = re.compile(r"[^\W\d][\w.]*")


class Conventions(msgspec.Struct, frozen=True, kw_only=True):
    """How tests are found: patterns of names, where they are looked for (nowhere in particular: empty) and where not.

    `doctests` says that every module may hold tests, `loaded` are modules that pytest loads, `others` which collector of files
    that are not Python there is; `loose` that any folder may be one to import from.
    """

    files: tuple[str, ...] = ("test_*.py", "*_test.py")
    places: tuple[str, ...] = ()
    not_entered: tuple[str, ...] = _NOT_ENTERED
    doctests: bool = False
    loaded: tuple[str, ...] = ()
    others: str = ""
    loose: bool = False

    def is_test(self, path: str) -> bool:
        """Say whether pytest takes a file for one with tests."""
        name = posixpath.basename(path)
        if fnmatch(name, _TEXTS):
            return True
        return path.endswith(".py") and (self.doctests or any(_matches(path, pattern) for pattern in self.files))

    def is_entered(self, path: str) -> bool:
        """Say whether pytest gets to a file of the project by itself."""
        folders = path.split("/")[:-1]
        return not any(fnmatch(folder, pattern) for folder in folders for pattern in self.not_entered)


def conventions(texts: Mapping[str, str], arguments: tuple[str, ...]) -> Conventions:
    """Read the project's configuration files, given by name, and further arguments of pytest's."""
    # The first file that has a table is the only one that counts; one of pytest's own counts even without.
    found: dict[str, Any] = next((table for name, text in texts.items() for table in _tables(name, text)), {})
    everything = "\n".join((*texts.values(), " ".join(arguments)))
    other = _COLLECTORS.search(everything)
    loaded = [name for match in _LOADED.finditer(everything) for name in match.groups() if name]
    loaded += [name for match in _PLUGINS.finditer(everything) for name in _DOTTED.findall(match[1])]
    standard = Conventions()
    return Conventions(
        files=_words(found.get("python_files")) or standard.files,
        places=tuple(posixpath.normpath(each) for each in _words(found.get("testpaths"))),
        not_entered=_words(found.get("norecursedirs")) or standard.not_entered,
        doctests="doctest-modules" in everything or "doctestmodules" in everything,
        loaded=tuple(dict.fromkeys(loaded)),
        others=other[0] if other else "",
        loose="pythonpath" in found,
    )


def _matches(path: str, pattern: str) -> bool:
    return fnmatch(path if "/" in pattern else posixpath.basename(path), f"*{pattern}" if "/" in pattern else pattern)


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, list):
        return tuple(str(each) for each in value)
    try:
        return tuple(shlex.split(str(value or "")))
    except ValueError:
        return tuple(str(value).split())


def _tables(name: str, text: str) -> Iterator[dict[str, Any]]:
    """List the tables of one file that may be pytest's."""
    if name.endswith(".toml"):
        try:
            top: Any = tomllib.loads(text)
        except tomllib.TOMLDecodeError:
            return
        tool = top.get("tool", {}).get("pytest", {}) if name == "pyproject.toml" else top.get("pytest", {})
        if tool or name != "pyproject.toml":
            yield {key: value for key, value in tool.items() if key != "ini_options"} | tool.get("ini_options", {})
        return
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error:
        return
    for section in ("pytest", "tool:pytest"):
        if parser.has_section(section):
            yield dict(parser.items(section))
            return
    if name in {"pytest.ini", ".pytest.ini"}:
        yield {}
