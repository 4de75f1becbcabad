"""The tests of a run as compact data for the page's script: words are numbered, and every word stands there once."""

from __future__ import annotations

import json
from collections.abc import Mapping

from paritygate.outcomes.artifact import Artifact, Finding
from paritygate.outcomes.cells import Cell, TestId
from paritygate.outcomes.words import Label, Outcome, Purpose
from paritygate.reports.causes import kind
from paritygate.reports.html.letters import BLANK, LETTERS, Columns, letters
from paritygate.reports.ranking import WORST_FIRST, ranked
from paritygate.reports.text import spell_out

UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


class Words:
    """Numbers words in the order in which they come."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, word: str) -> int:
        """Give a word's number."""
        return self.numbers.setdefault(word, len(self.numbers))

    @property
    def all(self) -> list[str]:
        """List the words by their numbers."""
        return list(self.numbers)


def grid(artifact: Artifact, wanted: Columns, cards: Mapping[TestId, int]) -> str:
    """Write the data of the grid as JSON that may stand in a script element; `cards` numbers the tests that are told apart."""
    files, causes, notes = Words(), Words(), Words()
    causes.number("")
    notes.number("")
    reasons = _reasons(artifact)
    labels = list(Label)
    rows = []
    for finding in _worst_first(artifact):
        test = TestId(finding.nodeid, finding.occurrence)
        file, separator, name = finding.nodeid.partition("::")
        rows.append(
            (
                files.number(spell_out(file)),
                spell_out(separator + name) + (f" (number {finding.occurrence + 1})" if finding.occurrence else ""),
                labels.index(finding.label),
                causes.number(kind(finding.cause)),
                letters(finding, wanted),
                cards.get(test, 0),
                notes.number(_note(finding, reasons.get(test, ""))),
            )
        )
    blank = BLANK * sum(wanted.values())
    for nodeid, reason in artifact.excluded.items():
        file, separator, name = nodeid.partition("::")
        place = labels.index(Label.EXCLUDED)
        rows.append(
            (files.number(spell_out(file)), spell_out(separator + name), place, 0, blank, 0, notes.number(spell_out(reason)))
        )
    return in_a_script(
        {
            "letters": {letter: str(outcome) for outcome, letter in LETTERS.items()} | {BLANK: "excluded"},
            "cells": [f"{spell_out(env)}, attempt {attempt}" for env, count in wanted.items() for attempt in range(1, count + 1)],
            "labels": [str(label) for label in labels],
            "files": files.all,
            "causes": causes.all,
            "notes": notes.all,
            "rows": rows,
        }
    )


def _worst_first(artifact: Artifact) -> list[Finding]:
    return [*ranked(artifact), *(each for each in artifact.tests if each.label not in WORST_FIRST)]


def in_a_script(value: object) -> str:
    """Write JSON that no text in it can end early: neither by a tag, nor by a character that ends a line."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    for character, escaped in UNSAFE.items():
        text = text.replace(character, escaped)
    return text


def _note(finding: Finding, reason: str) -> str:
    return spell_out("; ".join(part for part in (finding.note, reason) if part))


def _reasons(artifact: Artifact) -> dict[TestId, str]:
    """Say why tests were skipped or failed as expected, as far as the first cell that knows says it."""
    return {
        run.test: run.reason
        for cell in reversed(_gate(artifact))
        for run in cell.tests
        if run.reason and run.outcome in {Outcome.SKIPPED, Outcome.XFAILED}
    }


def _gate(artifact: Artifact) -> list[Cell]:
    return [cell for cell in artifact.cells if cell.purpose is Purpose.GATE]
