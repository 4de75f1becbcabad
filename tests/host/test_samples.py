"""Sample projects get on this computer itself the labels that they get on an engine, for the axes that it has."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.support import samples

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="cells on the computer itself take Linux")
QUICK = ("control_green", "always_red", "polluter_and_victim", "src_layout_setuptools", "ignored_fixture_file")
OF_LOCALES = frozenset({"collation", "encoding_control", "mixed_axes"})
"""Samples that need a locale, which a computer need not have."""


def chosen() -> list[str]:
    """List the samples to judge: some in every run of the suite, all with `PARITYGATE_ALL_ON_HOST=1`."""
    return [name for name in samples.names() if name not in OF_LOCALES] if os.environ.get("PARITYGATE_ALL_ON_HOST") else [*QUICK]


@pytest.mark.parametrize("name", chosen())
def test_host_says_of_a_sample_what_an_engine_says(name: str, tmp_path: Path) -> None:
    expected = samples.lay_out(name, tmp_path / "project")
    options = ("--runner", "host", "--explain-budget", "0", *expected.selection)
    options = (
        options if "case" in name or os.environ.get("PARITYGATE_ALL_ON_HOST") else ("--without-axis", "case_sensitive", *options)
    )
    judged = samples.judge(tmp_path / "project", tmp_path / "report.json", *options)
    assert samples.complaints(expected, judged, causes=False) == [], judged.output
    assert judged.artifact is not None
    assert {cell.runner for cell in judged.artifact.cells} == {"host"}
    assert "on host)" in judged.artifact.verdict.line
