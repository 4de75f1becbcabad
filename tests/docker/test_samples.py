"""Every sample project gets exactly the labels that are written down beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import samples

pytestmark = pytest.mark.docker


@pytest.mark.parametrize("name", samples.names())
def test_the_gate_says_of_a_sample_what_is_written_beside_it(name: str, tmp_path: Path) -> None:
    expected = samples.lay_out(name, tmp_path / "project")
    judged = samples.judge(tmp_path / "project", tmp_path / "report.json", *expected.selection)
    assert samples.complaints(expected, judged) == [], judged.output
