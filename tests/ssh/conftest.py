"""What all tests of another computer share: what is installed here, and what that computer keeps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make an environment that has pytest and little else, so that it is soon made once more."""
    place = tmp_path_factory.mktemp("packages") / "venv"
    subprocess.run((sys.executable, "-m", "venv", place), check=True, timeout=120)
    subprocess.run((place / "bin" / "python", "-m", "pip", "install", "--quiet", "pytest"), check=True, timeout=300)
    return place


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the cache of the other computer, which all its lives here share."""
    return tmp_path_factory.mktemp("kept")
