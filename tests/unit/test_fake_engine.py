"""The fake engine keeps the contract that Docker keeps."""

from __future__ import annotations

import pytest

from tests.support.engine_contract import EngineContract
from tests.support.fake_engine import FakeEngine


class TestFakeEngine(EngineContract):
    @pytest.fixture
    def engine(self) -> FakeEngine:
        engine = FakeEngine()
        engine.keep("base:1", {}, {}, {})
        return engine

    @pytest.fixture
    def base(self) -> str:
        return "base:1"

    @pytest.fixture
    def tag(self) -> str:
        return "made:1"
