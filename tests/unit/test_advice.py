"""What reports ask of their reader, held against the words that say it elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from paritygate.outcomes.artifact import Verdict
from paritygate.outcomes.words import Axis, CellStatus, Label, VerdictName
from paritygate.reports.advice import AFTER_LABEL, AFTER_STATUS, PROCEED, after

README = Path(__file__).parents[2] / "README.md"


def what_the_readme_asks_for() -> dict[str, str]:
    """Read the table of verdicts: what to do, by the verdict's name."""
    rows = re.findall(r"^\| \d+ \| `([a-z-]+)` \|.*\| ([^|]*) \|$", README.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: said.strip() for name, said in rows}


def a_verdict(name: VerdictName, *axes: Axis) -> Verdict:
    return Verdict(name=name, exit_code=0, axes=axes, line=name.value)


def test_every_label_and_every_end_has_its_advice() -> None:
    assert set(AFTER_LABEL) == set(Label)
    assert set(AFTER_STATUS) == set(CellStatus)


@pytest.mark.parametrize("label", [Label.CONSISTENT_RED, Label.NONDETERMINISM, Label.COUPLING])
def test_a_label_asks_for_what_the_readme_says_of_the_verdict_of_that_name(label: Label) -> None:
    asked = what_the_readme_asks_for()[label.value]
    assert asked
    assert AFTER_LABEL[label].startswith(asked)


def test_only_parity_says_proceed_as_the_readme_does() -> None:
    assert what_the_readme_asks_for()["parity"].startswith(PROCEED)
    assert after(Label.CONSISTENT_GREEN, a_verdict(VerdictName.PARITY, Axis.TIMEZONE)) == PROCEED


@pytest.mark.parametrize("name", [name for name in VerdictName if name is not VerdictName.PARITY])
@pytest.mark.parametrize("label", Label)
def test_no_label_invites_a_merge_under_another_verdict(name: VerdictName, label: Label) -> None:
    said = after(label, a_verdict(name, Axis.TIMEZONE))
    assert PROCEED not in said


def test_green_in_one_environment_invites_no_merge() -> None:
    assert after(Label.CONSISTENT_GREEN, a_verdict(VerdictName.PARITY)) != PROCEED


def test_freezing_is_advised_for_what_may_be_frozen_and_for_nothing_else() -> None:
    assert [label for label, said in AFTER_LABEL.items() if "freez" in said] == [Label.NONDETERMINISM]
    assert "freez" not in " ".join(AFTER_STATUS.values())
