"""From one touched file to the test files that can see it: by imports, by names, by what tests mention. Doubt means all of them.

| touched | seen by |
|---|---|
| any file | who mentions it or a pattern for it, who lists folders, and whoever cannot be seen through |
| a test file | also itself, who imports it, who mentions a folder that it is in, and whose name it has |
| a `conftest.py` | also the tests in its folder and below, and the same |
| another Python file | also who imports it or is named after it, and on the tests' side who mentions a folder that it is in |
| another file | also who mentions a folder that it is in, and whose name it has |
| prose and the settings of services | the same, and where nobody does no test sees it |
| what configures pytest, installs or is linked to | all tests; where it is below the project, also the tests below it |
| a report of ours that git does not track | none, unless a file mentions its name |
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from fnmatch import fnmatch

import msgspec

from paritygate.changed.facts import Facts
from paritygate.changed.graph import Graph, on_the_test_side
from paritygate.changed.project import CONFIGURATION

_INSTALLING = re.compile(
    r"setup\.py|(site|user)customize\.py|.*\.pth|.*requirements.*|.*constraints.*|.*\.lock|pipfile.*|environment.*\.ya?ml|"
    r"manifest\.in|\.python-version|\.tool-versions|\.gitattributes|\.gitmodules|paritygate\.toml|dockerfile.*|hatch_build\.py|"
    r"meson.*|cmakelists\.txt|cargo\.toml|makefile",
    re.IGNORECASE,
)
_PROSE_SUFFIXES = frozenset({".md", ".rst", ".adoc", ".markdown"})
_PROSE = re.compile(
    r"(readme|change(s|log)|history|licen[cs]e|copying|authors|contribut(ing|ors)|news|notice|security|code_of_conduct|todo|"
    r"citation|maintainers|funding)(\..*)?",
    re.IGNORECASE,
)
_SERVICES = frozenset(
    {
        ".editorconfig",
        ".gitignore",
        ".gitlab-ci.yml",
        ".pre-commit-config.yaml",
        ".readthedocs.yaml",
        ".readthedocs.yml",
        ".travis.yml",
    }
)
_PROSE_FOLDERS = frozenset({".github", ".gitlab", "changelog.d", "changes", "doc", "docs", "news", "newsfragments"})
_PATTERN = re.compile(r"[*?\[]")
_SHORTEST = 2


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """Which test files see a touched file; with `everything` all, since nobody knows which. `why` says why all, or why none."""

    tests: frozenset[str] = frozenset()
    everything: bool = False
    why: str = ""


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What a touched file lies among: all files of the trees, links with what they lead to, the project's folder, the graph.

    With `doctests` any module may hold tests, and is a module all the same. `reports` are ours, not tracked by git.
    """

    files: frozenset[str]
    links: dict[str, str]
    directory: str
    graph: Graph
    doctests: bool = False
    reports: frozenset[str] = frozenset()


def seen(path: str, around: Surroundings) -> Seen:
    """Say which test files can see a touched file, given from the tree's top."""
    if path in around.reports and not any(posixpath.basename(path) in text for text in _texts(around)):
        return Seen(why="it is a report of paritygate that git does not track")
    if why := _why_all(path, around):
        return Seen(everything=True, why=why)
    name = posixpath.basename(path)
    if name in CONFIGURATION:
        below = {each for each in around.graph.tests if each.startswith(f"{posixpath.dirname(path)}/")}
        return Seen(tests=_tests(around, {*below, *_reading(path, around)}), why="no test is below it")
    if name == "conftest.py" or (path in around.graph.tests and not around.doctests):
        found = _tests(around, {path, *_reading(path, around)})
        return Seen(tests=found, why="no test lies below" if path in around.files else "it is gone")
    return _of_module(path, around) if path.endswith(".py") else _of_data(path, around)


def _why_all(path: str, around: Surroundings) -> str:
    name = posixpath.basename(path)
    if path.endswith("/") or path in around.links or any(file.startswith(f"{path}/") for file in around.files):
        return "it is a link or another repository, and what is behind it is not known"
    if link := next((link for link, target in around.links.items() if f"{path}/".startswith(f"{target}/")), ""):
        return f"it is also reached by the link `{link}`"
    if name in CONFIGURATION and (name.endswith((".toml", ".cfg")) or not _is_below(path, around.directory)):
        return "it configures pytest or the project"
    if _INSTALLING.fullmatch(name):
        return "it decides what is installed or how tests start"
    return ""


def _is_below(path: str, directory: str) -> bool:
    folder = posixpath.dirname(path)
    return folder != directory and f"{folder}/".startswith(f"{directory}/" if directory else "")


def _of_module(path: str, around: Surroundings) -> Seen:
    graph = around.graph
    stem = posixpath.basename(path).removesuffix(".py")
    stem = posixpath.basename(posixpath.dirname(path)) if stem == "__init__" else stem.strip("_")
    by_name = {test for test in graph.tests if stem and _is_named_after(test, stem)}
    found = _tests(around, {path, *by_name})
    if not found:
        return Seen(everything=True, why="no test is known to import it")
    return Seen(tests=found | _tests(around, {*_mentioning(path, around), *_looking_around(path, around)}))


def _is_named_after(test: str, stem: str) -> bool:
    name = posixpath.basename(test).removesuffix(".py")
    return name in {f"test_{stem}", f"{stem}_test"} or name.startswith(f"test_{stem}_") or name.endswith(f"_{stem}_test")


def _of_data(path: str, around: Surroundings) -> Seen:
    found = _tests(around, {*_mentioning(path, around), *_named_like(path, around)})
    listing = _tests(around, {*_looking_around(path, around)})
    if not found and not _is_prose(path, around):
        return Seen(everything=True, why="no test is known to mention it")
    return Seen(tests=found | listing, why="no test mentions it or lists folders")


def _is_prose(path: str, around: Surroundings) -> bool:
    """Say whether a file is for people and services alone; one that is gone may still be missed by who installs the project."""
    folder, name = posixpath.split(path)
    inside = folder.removeprefix(around.directory).strip("/")
    if path not in around.files or (inside and _PROSE_FOLDERS.isdisjoint(inside.split("/")[:1])):
        return False
    is_service = inside.split("/")[0] in {".github", ".gitlab"} or name in _SERVICES
    return is_service or posixpath.splitext(name)[1].lower() in _PROSE_SUFFIXES or _PROSE.fullmatch(name) is not None


def _tests(around: Surroundings, seeds: set[str]) -> frozenset[str]:
    return around.graph.tests & around.files & around.graph.seeing(seeds)


def _texts(around: Surroundings) -> Iterator[str]:
    return (text for facts in around.graph.files.values() for text in facts.texts)


def _reading(path: str, around: Surroundings) -> Iterator[str]:
    """List the files that may read or run another as they would any file, whatever it is to pytest."""
    yield from _mentioning(path, around)
    yield from _named_like(path, around)
    yield from _looking_around(path, around)


def _mentioning(path: str, around: Surroundings) -> Iterator[str]:
    """List the files with a text that could be a file's name, a part of it, a folder that it is in or a pattern for it."""
    name = posixpath.basename(path)
    stem = name.partition(".")[0]
    # Folders of code are called like much else; those of tests are named by who runs or reads what is in them.
    is_code = path.endswith(".py") and not on_the_test_side(path, around.graph.tests)
    folders = frozenset() if is_code else frozenset(posixpath.dirname(path).split("/"))
    for file, facts in around.graph.files.items():
        if file != path and any(_could_mean(text, name, stem, folders) for text in facts.texts):
            yield file


def _could_mean(text: str, name: str, stem: str, folders: frozenset[str]) -> bool:
    if name in text or (len(text) >= _SHORTEST and "." in text and name.endswith(text)):
        return True
    if _PATTERN.search(text):
        return fnmatch(name, posixpath.basename(text))
    *above, last = text.replace("\\", "/").split("/")
    # `data/a.json` is about that one file: who reads others in the folder says so elsewhere.
    is_file = "." in last.strip(".") and last not in folders
    return bool(folders) and bool(text) and (text == stem or (not is_file and not folders.isdisjoint((*above, last))))


def _named_like(path: str, around: Surroundings) -> Iterator[str]:
    """List the test files after which a file or its folder is named, or after one of whose tests: recordings are kept so."""
    # Test files in two folders that are called alike have nothing to do with each other.
    kept = posixpath.dirname(path) if path.endswith(".py") else path
    parts = {part.partition(".")[0].partition("[")[0] for part in kept.split("/")}
    for test in around.graph.tests:
        facts = around.graph.files.get(test, Facts())
        if posixpath.basename(test).partition(".")[0] in parts or not facts.defined.isdisjoint(parts):
            yield test


def _looking_around(path: str, around: Surroundings) -> Iterator[str]:
    """List the files that may see another without any mention of it: nobody can say what they see, or they list folders."""
    graph = around.graph
    top = "" if path.endswith(".py") else path.partition("/")[0]
    for file, facts in graph.files.items():
        lists = facts.lists and (on_the_test_side(file, graph.tests) or file.partition("/")[0] == top)
        if facts.opaque or lists:
            yield file
