"""Sample projects get on this computer itself the labels that they get on an engine, for the axes that it has."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from paritygate.guest import lodging
from tests.support import samples

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="cells on the computer itself take Linux")
QUICK = ("polluter_and_victim", "case_of_a_data_file")
OF_LOCALES = frozenset({"collation", "encoding_control", "mixed_axes"})
"""Samples that need a locale, which a computer need not have."""
INSTALLED = frozenset({"plain_package", "requirements_files", "src_layout_hatchling", "src_layout_setuptools"})
"""Samples that have to be installed with what they require: a computer's own environment holds that, or not."""
CONTAINED = frozenset({"control_green"})
"""Samples that look at what only a container has, such as a user who is not root."""


def chosen() -> list[str]:
    """List the samples to judge: some in every run of the suite, all that can be with `PARITYGATE_ALL_ON_HOST=1`."""
    if not os.environ.get("PARITYGATE_ALL_ON_HOST"):
        return [*QUICK]
    return [name for name in samples.names() if name not in OF_LOCALES | INSTALLED | CONTAINED | samples.CLOCKED]


def can_fold() -> bool:
    """Say whether this computer lets cells have a filesystem of their own; the report of a run says why not."""
    return (
        shutil.which("cc") is not None
        and os.access("/dev/fuse", os.R_OK | os.W_OK)
        and not lodging.obstacle_to_namespaces(str(Path(lodging.__file__).parent))
    )


@pytest.mark.parametrize("name", chosen())
def test_host_says_of_a_sample_what_an_engine_says(name: str, tmp_path: Path) -> None:
    if "case" in name and not can_fold():
        pytest.skip("this computer does not let cells have filesystems of their own")
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
