"""The engine over Docker: the contract, and what only a real engine shows."""

from __future__ import annotations

import pytest

from tests.support.engine_contract import EngineContract

pytestmark = pytest.mark.docker


class TestDockerEngine(EngineContract):
    """The contract; its fixtures come from the folder's conftest."""
