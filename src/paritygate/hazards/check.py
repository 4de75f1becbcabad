"""Reads files and lists their hazards: parse, run every check, ask ruff, leave out what is suppressed."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from paritygate.hazards import (
    clocks,
    encodings,
    files,
    fixed,
    judged,
    locales,
    ordering,
    ruff,
    source,
    suppression,
    surroundings,
    timings,
    variables,
)
from paritygate.hazards.catalogue import CATALOGUE
from paritygate.hazards.files import Names
from paritygate.hazards.found import Check, Found
from paritygate.hazards.ruff import Ruff, Word
from paritygate.hazards.source import Source
from paritygate.outcomes.hazards import Hazard, HazardKind

_NOQA = re.compile(r"#\s*noqa(?:\s*:\s*(?P<codes>[A-Z][A-Z0-9, ]*))?", re.IGNORECASE)
LARGEST = 2_000_000
CHECKS: tuple[Check, ...] = (
    clocks.in_assertions,
    timings.timed,
    clocks.at_import,
    clocks.local_time,
    locales.formats,
    locales.orders,
    ordering.folder_order,
    ordering.set_order,
    fixed.ports,
    fixed.temporary_paths,
    variables.variables,
)
_OF_ONE_CLOCK = (HazardKind.CLOCK_IN_ASSERTION, HazardKind.READ_AT_IMPORT, HazardKind.NAIVE_CLOCK, HazardKind.LOCAL_TIME)
"""Of one reading of the clock the first of these is said."""


class Said(NamedTuple):
    """A hazard, its first and last line, and what it is about, where several of its kind may be about the same."""

    hazard: Hazard
    lines: tuple[int, int]
    of: str


class Suppressed(msgspec.Struct, frozen=True, kw_only=True):
    """A hazard that somebody let be, and why."""

    hazard: Hazard
    reason: str


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """What became of some files. `unread` says of those that could not be parsed why."""

    hazards: tuple[Hazard, ...]
    suppressed: tuple[Suppressed, ...]
    unread: dict[str, str]
    read: int


def check(project: Path, paths: Sequence[str], names: Names, program: Ruff | None) -> Checked:
    """Check files, given as paths from the project; without ruff only what we look for ourselves.

    Raises `NoVerdictError` where ruff is there and fails.
    """
    sources, unread = _parsed(project, paths)
    words = ruff.look(program, project, [each.path for each in sources]) if program is not None and sources else {}
    kept = _keeping_variables(project, [each.path for each in sources])
    hazards: list[Hazard] = []
    suppressed: list[Suppressed] = []
    for each in sources:
        known = suppression.read(each)
        said: list[Said] = []
        for one in _hazards(each, names, words):
            if one.hazard.kind is HazardKind.VARIABLE_WRITE and each.path in kept:
                continue
            reason = next((other.reason for other in known if other.holds(one.hazard.kind, one.lines)), None)
            if reason is None:
                said.append(one)
            else:
                suppressed.append(Suppressed(hazard=one.hazard, reason=reason))
        hazards += [*_merged(said), *(_misused(each, one) for one in known if one.problem)]
    in_order = sorted(hazards, key=lambda hazard: (hazard.file, hazard.line, hazard.column, hazard.kind))
    return Checked(hazards=tuple(in_order), suppressed=tuple(suppressed), unread=unread, read=len(sources))


def _merged(said: Sequence[Said]) -> Iterator[Hazard]:
    """Say once what is about one thing, by a sure hazard where there is one; what somebody lets be hides nothing."""
    told: set[tuple[HazardKind, str]] = set()
    for one in sorted(said, key=lambda each: (not each.hazard.sure, each.lines)):
        about = (one.hazard.kind, one.of)
        if not one.of or about not in told:
            told.add(about)
            yield one.hazard


def _parsed(project: Path, paths: Sequence[str]) -> tuple[list[Source], dict[str, str]]:
    sources: list[Source] = []
    unread: dict[str, str] = {}
    for path in paths:
        try:
            sources.append(source.parse(path, _text(project / path)))
        except SyntaxError as error:
            unread[path] = f"line {error.lineno or 1}: {error.msg}"
        except OSError as error:
            unread[path] = (error.strerror or str(error)).lower()
        except (ValueError, RecursionError, MemoryError) as error:
            unread[path] = str(error) or "it is nested too deeply"
    return sources, unread


def _keeping_variables(project: Path, paths: Sequence[str]) -> set[str]:
    """List the files below a conftest that looks after the variables of every test, by a fixture that all of them get."""
    folders = {above for path in paths for above in PurePosixPath(path).parents}
    keeping = {folder for folder in folders if _keeps_variables(project / folder / "conftest.py")}
    return {path for path in paths if not keeping.isdisjoint(PurePosixPath(path).parents)}


def _keeps_variables(conftest: Path) -> bool:
    try:
        text = _text(conftest)
    except (OSError, SyntaxError, ValueError):
        return False
    return "autouse" in text and re.search(r"environ|setenv|delenv", text) is not None


def _text(path: Path) -> str:
    """Read a file as Python would; its own line about its encoding counts."""
    with path.open("rb") as stream:
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"it has more than {LARGEST // 1_000_000} MB")
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    return content.decode(encoding)


def _hazards(of: Source, names: Names, words: Mapping[str, list[Word]]) -> Iterator[Said]:
    """Say each hazard of a file once in a line."""
    found = [each for one in CHECKS for each in one(of)]
    found += [*files.read_files(of, names), *files.imports(of, names), *encodings.paths(of, names)]
    found += [*judged.judged(words.get(of.path, ()), of, names)]
    said: set[tuple[HazardKind, int]] = set()
    told: dict[int, HazardKind] = {}
    for each in sorted(found, key=lambda one: _OF_ONE_CLOCK.index(one.kind) if one.kind in _OF_ONE_CLOCK else 0):
        if each.kind in _OF_ONE_CLOCK and told.setdefault(id(each.node), each.kind) is not each.kind:
            continue
        if each.kind in _OF_ONE_CLOCK and _waved_through(of, each.node.lineno):
            continue
        if (each.kind, each.node.lineno) not in said and not surroundings.never_tested(each.node, of):
            said.add((each.kind, each.node.lineno))
            yield Said(_hazard(of, each), (each.node.lineno, each.node.end_lineno or each.node.lineno), each.of)


def _waved_through(of: Source, line: int) -> bool:
    """Say whether a line tells linters to say nothing of its clock: ruff keeps to that itself, so our own checks do too."""
    said = _NOQA.search(ruff.lines(of)[line - 1])
    return said is not None and (said["codes"] is None or re.search(r"\b(DTZ|B008)", said["codes"]) is not None)


def _hazard(of: Source, found: Found) -> Hazard:
    advice = CATALOGUE[found.kind]
    function = of.function_of(found.node)
    return Hazard(
        kind=found.kind,
        file=of.path,
        line=found.node.lineno,
        column=_column(of, found.node),
        what=found.what,
        why=advice.why,
        instead=advice.instead,
        axes=advice.axes,
        function=function.name if function is not None else "",
        sure=found.sure,
    )


def _column(of: Source, node: ast.expr | ast.stmt) -> int:
    """Count characters, where Python counts bytes."""
    line = ruff.lines(of)[node.lineno - 1]
    return len(line.encode("utf-8", "surrogatepass")[: node.col_offset].decode("utf-8", "replace")) + 1


def _misused(of: Source, one: suppression.Suppression) -> Hazard:
    advice = CATALOGUE[HazardKind.SUPPRESSION]
    return Hazard(
        kind=HazardKind.SUPPRESSION,
        file=of.path,
        line=one.line,
        column=one.column,
        what=one.problem,
        why=advice.why,
        instead=advice.instead,
    )
