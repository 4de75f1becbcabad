"""The line for a conftest, `pytest_plugins = ["paritygate.pytest_locks"]`: as if `--parity-locks` were always given."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Ask for what `paritygate.pytest_plugin` offers."""
    config.option.parity_locks = True
