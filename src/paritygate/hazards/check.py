"""Reads files and lists their hazards: parse, run every check, ask ruff, leave out what is suppressed."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from paritygate.hazards import clocks, files, fixed, judged, locales, ordering, ruff, source, suppression, surroundings
from paritygate.hazards.catalogue import CATALOGUE
from paritygate.hazards.files import Names
from paritygate.hazards.found import Check, Found
from paritygate.hazards.ruff import Ruff, Word
from paritygate.hazards.source import Source
from paritygate.outcomes.hazards import Hazard, HazardKind

LARGEST = 2_000_000
CHECKS: tuple[Check, ...] = (
    clocks.in_assertions,
    clocks.timed,
    clocks.at_import,
    clocks.local_time,
    locales.formats,
    locales.orders,
    ordering.folder_order,
    ordering.set_order,
    fixed.ports,
    fixed.temporary_paths,
    fixed.variables,
)
_OF_ONE_CLOCK = (HazardKind.CLOCK_IN_ASSERTION, HazardKind.READ_AT_IMPORT, HazardKind.NAIVE_CLOCK, HazardKind.LOCAL_TIME)
"""Of one reading of the clock the first of these is said."""


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
    hazards: list[Hazard] = []
    suppressed: list[Suppressed] = []
    for each in sources:
        known = suppression.read(each)
        for hazard, lines in _hazards(each, names, words):
            reason = next((one.reason for one in known if one.holds(hazard.kind, lines)), None)
            if reason is None:
                hazards.append(hazard)
            else:
                suppressed.append(Suppressed(hazard=hazard, reason=reason))
        hazards += [_misused(each, one) for one in known if one.problem]
    in_order = sorted(hazards, key=lambda hazard: (hazard.file, hazard.line, hazard.column, hazard.kind))
    return Checked(hazards=tuple(in_order), suppressed=tuple(suppressed), unread=unread, read=len(sources))


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


def _text(path: Path) -> str:
    """Read a file as Python would; its own line about its encoding counts."""
    with path.open("rb") as stream:
        content = stream.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"it has more than {LARGEST // 1_000_000} MB")
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    return content.decode(encoding)


def _hazards(of: Source, names: Names, words: Mapping[str, list[Word]]) -> Iterator[tuple[Hazard, tuple[int, int]]]:
    """Say each hazard of a file once, with its first and last line."""
    found = [each for one in CHECKS for each in one(of)]
    found += [*files.read_files(of, names), *files.imports(of, names), *judged.judged(words.get(of.path, ()), of, names)]
    said: set[tuple[HazardKind, int]] = set()
    told: dict[int, HazardKind] = {}
    for each in sorted(found, key=lambda one: _OF_ONE_CLOCK.index(one.kind) if one.kind in _OF_ONE_CLOCK else 0):
        if each.kind in _OF_ONE_CLOCK and told.setdefault(id(each.node), each.kind) is not each.kind:
            continue
        if (each.kind, each.node.lineno) not in said and not surroundings.in_program(each.node, of):
            said.add((each.kind, each.node.lineno))
            yield _hazard(of, each), (each.node.lineno, each.node.end_lineno or each.node.lineno)


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
        first=function.lineno if function is not None else 0,
        last=(function.end_lineno or 0) if function is not None else 0,
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
