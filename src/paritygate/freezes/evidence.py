"""A ledger entry from a report that proves it: of a test that disagrees with itself inside one environment, and of no other."""

from __future__ import annotations

import hashlib
from collections import Counter
from datetime import date

import msgspec

from paritygate.axes import near_miss
from paritygate.errors import RefusedError
from paritygate.freezes.ledger import Entry, made
from paritygate.freezes.ways import runs_of, way_of
from paritygate.outcomes.artifact import Artifact, Finding
from paritygate.outcomes.cells import TestId
from paritygate.outcomes.words import Label, Purpose

WHY_NOT = {
    Label.COUPLING: "a coupling is a fact about the environment: fix the patch, or narrow it",
    Label.NONDETERMINISM_EVERYWHERE: "a test that disagrees with itself everywhere hides a bug: fix the test, or what it shows",
    Label.CONSISTENT_RED: "a test that always fails is not flaky: fix the patch",
    Label.CONSISTENT_GREEN: "it was green in every cell of that report: there is nothing to freeze",
    Label.UNDECIDED: "that report could not decide about it: run the gate again",
    Label.EXCLUDED: "it is excluded from the gate, so nothing is known of it",
}

ENOUGH = 6
"""How often a coin has to fall alike before that is thought to be no coin: it does once in 32 times."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody vouches for: the test, the last day, the owner and why."""

    nodeid: str
    owner: str
    expires: date
    reason: str
    issue: str = ""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A report, the name it was given by, and its bytes."""

    name: str
    artifact: Artifact
    content: bytes


def entry(asked: Asked, report: Report, today: date) -> Entry:
    """Make the entry; raises `RefusedError` where the report does not label exactly this test `nondeterminism`."""
    finding = _proven(asked.nodeid, report)
    subject = report.artifact.subject
    runs = tuple(runs_of(TestId(finding.nodeid, finding.occurrence), report.artifact.cells))
    seen: dict[str, Counter[str]] = {}
    for cell, run in runs:
        seen.setdefault(cell.env, Counter())[run.outcome.value] += 1
    for env, attempts in finding.outcomes.items():
        seen.setdefault(env, Counter(outcome.value for outcome in attempts))
    fields: dict[str, object] = {
        "owner": asked.owner,
        "expires": asked.expires.isoformat(),
        "evidence": f"{report.name} sha256:{hashlib.sha256(report.content).hexdigest()}",
        "reason": asked.reason,
        "since": today.isoformat(),
        "label": Label.NONDETERMINISM.value,
        "cells": {env: dict(sorted(counted.items())) for env, counted in seen.items()},
        "fingerprint": sorted({way for _, run in runs if (way := way_of(run))}),
        "created": report.artifact.created,
    }
    if subject.commit:
        fields["commit"] = subject.commit
    if finding.cause is not None:
        fields["cause"] = finding.cause.kind.value
    if asked.issue:
        fields["issue"] = asked.issue
    return made(fields)


def doubt(entry: Entry) -> str:
    """Say of an entry how little its stable side was seen; empty where that is enough to tell it from a coin."""
    cells = entry.fields.get("cells")
    counts = [dict(each) for each in cells.values() if isinstance(each, dict)] if isinstance(cells, dict) else []
    runs = min((sum(each.values()) for each in counts if len(each) == 1), default=ENOUGH)
    if runs >= ENOUGH:
        return ""
    return (
        f"where it is stable it ran {runs} times; a test that is unstable everywhere looks stable on one side in about one of "
        f"{2 ** max(0, runs - 1)} such reports (`paritygate run --attempts {ENOUGH}` tells more)"
    )


def _proven(nodeid: str, report: Report) -> Finding:
    """Find the test, and make sure that it is what may be frozen."""
    name, artifact = report.name, report.artifact
    found = [each for each in artifact.tests if each.nodeid == nodeid]
    if nodeid in artifact.excluded:
        raise RefusedError(f"`{nodeid}` cannot be frozen on `{name}`: it is `excluded`", WHY_NOT[Label.EXCLUDED])
    if not found:
        known = frozenset(str(each.nodeid) for each in artifact.tests)
        raise RefusedError(
            f"`{name}` says nothing of `{nodeid}`{near_miss(nodeid, known)}",
            "freeze one test at a time, by the whole id that the report has for it",
        )
    for each in found:
        if each.label is not Label.NONDETERMINISM and not (len(found) > 1 and each.label is Label.CONSISTENT_GREEN):
            raise RefusedError(f"`{nodeid}` cannot be frozen on `{name}`: it is `{each.label}` there", WHY_NOT[each.label])
    proven = [each for each in found if each.label is Label.NONDETERMINISM]
    if len(proven) != 1:
        why = "several tests have that id" if proven else "it is green"
        raise RefusedError(f"`{nodeid}` cannot be frozen on `{name}`: {why}", "give each test an id of its own")
    if _is_unstable_everywhere(proven[0], artifact):
        message = (
            f"`{nodeid}` cannot be frozen on `{name}`: with its confirming cells it disagrees with itself in every environment"
        )
        raise RefusedError(message, WHY_NOT[Label.NONDETERMINISM_EVERYWHERE])
    return proven[0]


def _is_unstable_everywhere(finding: Finding, artifact: Artifact) -> bool:
    """Say whether a report's cells show a test both green and not in each environment.

    The label is of the gate's few cells; cells that confirmed whatever else was found may have seen more.
    """
    seen: dict[str, set[bool]] = {env: {outcome.green for outcome in attempts} for env, attempts in finding.outcomes.items()}
    for cell, run in runs_of(TestId(finding.nodeid, finding.occurrence), artifact.cells):
        if cell.env in seen and cell.purpose in {Purpose.GATE, Purpose.CONFIRM}:
            seen[cell.env].add(run.outcome.green)
    return len(seen) > 1 and all(len(kinds) > 1 for kinds in seen.values())
