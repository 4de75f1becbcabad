"""A guest for each test."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.guest import Guest


@pytest.fixture
def guest(tmp_path: Path) -> Guest:
    if not sys.platform.startswith("linux"):
        pytest.skip("the launcher is tested where cells run: on Linux")
    return Guest(tmp_path)
