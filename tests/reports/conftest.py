"""The artifacts that reports are tried on, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from paritygate import archive
from paritygate.outcomes.artifact import Artifact
from tests.support.rich_artifact import large_artifact, rich_artifact


@pytest.fixture(scope="session")
def rich(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    """Make an artifact with something of everything."""
    return rich_artifact(tmp_path_factory.mktemp("rich"))


@pytest.fixture(scope="session")
def large() -> Artifact:
    """Make an artifact of 4 cells with 20,000 tests each."""
    return large_artifact(20_000)


@pytest.fixture
def written(rich: Artifact, tmp_path: Path) -> Path:
    """Write the artifact into a folder of its own."""
    path = tmp_path / "parity_report.json"
    archive.write(rich, path)
    return path
