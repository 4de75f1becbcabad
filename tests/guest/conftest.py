"""A guest for each test, and what moves its clock."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from paritygate.images import resources
from tests.support.guest import Guest


@pytest.fixture
def guest(tmp_path: Path) -> Guest:
    if not sys.platform.startswith("linux"):
        pytest.skip("the launcher is tested where cells run: on Linux")
    return Guest(tmp_path)


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile what moves the clock of programs."""
    folder = tmp_path_factory.mktemp("clock")
    for name, content in resources.sources("clock").items():
        (folder / name).write_bytes(content)
    subprocess.run(("make", "--silent", "-C", str(folder)), check=True)
    return folder / "clock.so"
