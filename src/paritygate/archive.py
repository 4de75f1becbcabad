"""Artifacts and cell files on disk: written whole or not at all, read strictly, merged only where they belong together.

A cell file is the part of an artifact that `CellFile` names; so an artifact is a cell file too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from paritygate import misfits, places
from paritygate.classifier import belonging, numbering, pasted, planning, shards
from paritygate.classifier.clocks import by_file_times
from paritygate.classifier.evidence import NOT_ORDER, gate_of, judge, noted, sides, tally
from paritygate.classifier.holding import Hold, nothing_held
from paritygate.classifier.labels import counts, excluded, label
from paritygate.classifier.sides import laid_side_by_side
from paritygate.classifier.surroundings import observed, undeclared_differences, varied
from paritygate.classifier.verdicts import Facts, bounds, verdict
from paritygate.errors import UnrecordedError, UsageError
from paritygate.outcomes.artifact import SCHEMA, Artifact, EnvironmentRecord, Finding, Subject
from paritygate.outcomes.cells import Cell, EnvironmentName, TestId
from paritygate.outcomes.words import CauseKind, Label, Purpose

Read = TypeVar("Read", "CellFile", Artifact)


class CellFile(msgspec.Struct, frozen=True, kw_only=True):
    """Cells of one subject by one version of the program. `tests` are the findings of an artifact, if it is one.

    `planned` says how many attempts each environment of the gate was to have, whatever of it is here. `seeds` are those of the
    attempts, from the first, in a file of one cell of several.
    """

    schema: int
    paritygate: str
    subject: Subject
    cells: tuple[Cell, ...]
    environments: tuple[EnvironmentRecord, ...] = ()
    tests: tuple[Finding, ...] = ()
    planned: dict[EnvironmentName, int] = {}
    seeds: tuple[int, ...] = ()


class Version(msgspec.Struct, frozen=True):
    """The one field that tells what a file is, where the rest cannot be read."""

    schema: int


NAMED = {
    Artifact: ("report", "give the `parity_report.json` that `paritygate run` wrote, as it is"),
    CellFile: ("report or cell file", "give a `parity_report.json` or a cell file; `paritygate schema` says what they hold"),
}
"""What each kind of file is called, and what to give instead of another."""


def write(content: Artifact | CellFile, path: Path) -> None:
    """Write an artifact or a cell file; what was there before stays until the new one is whole. Raises `UnrecordedError`."""
    places.write(msgspec.json.encode(content) + b"\n", path)


def record(artifact: Artifact | CellFile, path: Path) -> UnrecordedError | None:
    """Write a file; an error is given back instead of raised, since a verdict that was come to is said all the same."""
    try:
        write(artifact, path)
    except UnrecordedError as error:
        return error
    return None


def read(path: Path) -> Artifact:
    """Read an artifact."""
    return _read(path, Artifact)


def read_cells(path: Path) -> CellFile:
    """Read a cell file or an artifact."""
    return _read(path, CellFile)


def _read(path: Path, kind: type[Read]) -> Read:
    """Read strictly; raises `UsageError` for what is something else, and says what would do."""
    content = places.read(path)
    try:
        whole = msgspec.json.decode(content, type=kind)
    except msgspec.DecodeError as error:
        what, give = NAMED[kind]
        _check_schema(path, _schema_of(path, content, kind))
        if kind is Artifact and _holds_cells(content):
            hint = f"{give}; of cells `paritygate classify {path} --report PATH` makes a report"
            raise UsageError(f"`{path}` holds cells alone, and is no {what}", hint) from error
        raise UsageError(f"`{path}` does not fit schema {SCHEMA}: {misfits.why(content, error)}", give) from error
    _check_schema(path, whole.schema)
    return whole


def _schema_of(path: Path, content: bytes, kind: type[Read]) -> int:
    try:
        return msgspec.json.decode(content, type=Version).schema
    except msgspec.DecodeError as error:
        what, give = NAMED[kind]
        raise UsageError(f"`{path}` is no {what} of paritygate: {misfits.why(content, error)}", give) from error


def _holds_cells(content: bytes) -> bool:
    try:
        return bool(msgspec.json.decode(content, type=CellFile).cells)
    except msgspec.DecodeError:
        return False


def _check_schema(path: Path, found: int) -> None:
    if found != SCHEMA:
        hint = "use the version of paritygate that wrote it"
        raise UsageError(f"`{path}` has schema {found}, and this version reads schema {SCHEMA}", hint)


def schema() -> dict[str, Any]:
    """Make the artifact's JSON Schema."""
    made = msgspec.json.schema(Artifact)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "parity_report.json", **made}


def schema_text() -> str:
    """Write the artifact's JSON Schema as text."""
    return json.dumps(schema(), indent=2)


def merge(files: Sequence[tuple[Path, CellFile]]) -> CellFile:
    """Put the cells of several files together; raises `UsageError` where they do not belong together.

    A cell that is in two files counts once, and shards become the cell that was split. Different cells of one environment and
    attempt are further attempts of it, and numbered on.
    """
    first_path, first = files[0]
    subject, planned = first.subject, dict(first.planned)
    environments = {each.name: each for each in first.environments}
    parts = [(path, cell) for path, file in files for cell in file.cells if shards.is_part(cell)]
    groups = [[cell for cell in first.cells if not shards.is_part(cell)]]
    for path, other in files[1:]:
        belonging.same(first_path, path, "the version of paritygate", first.paritygate, other.paritygate)
        subject = belonging.joined_subjects(first_path, path, subject, other.subject)
        for record in other.environments:
            known = environments.setdefault(record.name, record)
            environments[record.name] = belonging.joined_records(first_path, path, known, record)
        known_cells = [cell for group in groups for cell in group]
        groups.append([cell for cell in other.cells if cell not in known_cells and not shards.is_part(cell)])
        planned |= {env: max(number, planned.get(env, 0)) for env, number in other.planned.items()}
    belonging.check_packages((path, file.cells) for path, file in files)
    belonging.check_seeds((path, file.seeds) for path, file in files)
    groups.append(list(shards.joined(parts)))
    return CellFile(
        schema=first.schema,
        paritygate=first.paritygate,
        subject=subject,
        cells=tuple(numbering.numbered_on(groups, planned)),
        environments=tuple(environments.values()),
        tests=first.tests if len(files) == 1 else (),
        planned=planned,
    )


def classify(paths: Sequence[Path], version: str, hold: Hold = nothing_held) -> Artifact:
    """Label and weigh the cells of files from anywhere, as the gate would, and hold a ledger against them; nothing is run."""
    merged = merge([(path, read_cells(path)) for path in paths])
    merged = msgspec.structs.replace(merged, cells=pasted.reconciled(merged.cells))
    gate = [cell for cell in merged.cells if cell.purpose is Purpose.GATE]
    environments = merged.environments or observed(gate)
    axes = varied(environments, gate, merged.subject.trees)
    differences = undeclared_differences(gate, frozenset(each.axis for each in axes if each.varied))
    findings = laid_side_by_side(_settled(label(gate), merged), gate)
    left_out = excluded(gate)
    moved = belonging.dates_apart(findings, gate)
    held = hold(merged.subject, findings, merged.cells)
    facts = Facts(
        cells=tuple(gate),
        varied=axes,
        excluded=len(left_out),
        blocking=(*planning.obstacles(merged.planned, gate), *differences.blocking, *moved),
        frozen=held.let_through,
        refused=held.refused,
    )
    return Artifact(
        schema=SCHEMA,
        paritygate=version,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        verdict=verdict(findings, facts),
        subject=merged.subject,
        environments=environments,
        axes=axes,
        images={each.name: each.image for each in environments if each.image},
        cells=merged.cells,
        tests=findings,
        labels=counts(findings, left_out),
        excluded=left_out,
        freezes=held.freezes,
        notes=(
            *held.notes,
            *differences.notes,
            *planning.remarks(merged.planned),
            *pasted.remarks(gate),
            *shards.remarks(gate),
            *bounds(findings, gate),
        ),
        planned=merged.planned,
    )


def from_cells(artifact: Artifact) -> tuple[Finding, ...]:
    """Label the tests of a gate by its cells and by what confirmed them, believing nothing that the artifact says of them."""
    gate = [cell for cell in artifact.cells if cell.purpose is Purpose.GATE]
    file = CellFile(schema=SCHEMA, paritygate="", subject=artifact.subject, cells=artifact.cells, planned=artifact.planned)
    return _settled(label(gate), file)


def before_causes(artifact: Artifact) -> tuple[Finding, ...]:
    """Say what a gate's confirmation said, before anybody looked for causes.

    What further attempts do not bear out by themselves, as what a check of the order has overturned, stands as it is.
    """
    fresh = {(each.nodeid, each.occurrence): each for each in from_cells(artifact)}
    return tuple(_fresh(each, fresh.get((each.nodeid, each.occurrence), each)) for each in artifact.tests)


def _fresh(before: Finding, fresh: Finding) -> Finding:
    """Take a finding without its cause, and keep what was said of order, which no further attempt can say."""
    if before.label is not fresh.label or (before.cause is not None and before.cause.kind is CauseKind.ORDER):
        return before
    kept = "; ".join(part for part in before.note.split("; ") if part.startswith(NOT_ORDER))
    return msgspec.structs.replace(fresh, note=noted(fresh, kept))


def _settled(findings: Sequence[Finding], merged: CellFile) -> tuple[Finding, ...]:
    """Apply what further attempts in the files say of couplings; what order checks and hybrids have shown stays."""
    findings = planning.held_back(findings, merged.planned)
    gate = gate_of(findings, merged.cells, ())
    tallies = tally(gate, [cell for cell in merged.cells if cell.purpose is Purpose.CONFIRM])
    judged = {test: judge(gate.flagged[test], tallies[test], envs) for test, envs in sides(gate.flagged.values()).items()}
    judged |= {test: _unconfirmed(gate.flagged[test]) for test in judged if not tallies[test]}
    judged = {test: by_file_times(finding, merged.cells) for test, finding in judged.items()}
    for each in merged.tests:
        test = TestId(each.nodeid, each.occurrence)
        if test in judged and _stands(each, judged[test]):
            judged[test] = each
    return tuple(judged.get(TestId(each.nodeid, each.occurrence), each) for each in findings)


def _stands(before: Finding, now: Finding) -> bool:
    """Say whether a finding of a file says more than can be said now: by an order check, or of a coupling that is the same."""
    if before.cause is not None and before.cause.kind is CauseKind.ORDER:
        return True
    same = (before.outcomes, before.confirmed) == (now.outcomes, now.confirmed)
    return before.label is now.label is Label.COUPLING and before.confirmed > 0 and same


def _unconfirmed(finding: Finding) -> Finding:
    return msgspec.structs.replace(finding, note=noted(finding, "not confirmed: the files hold no further attempts"))
