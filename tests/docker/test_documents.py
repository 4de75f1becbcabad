"""Commands of the documents that take an engine and that no other test gives, as a newcomer types them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command_line import call

pytestmark = pytest.mark.docker


def test_the_commands_about_the_machine(tmp_path: Path, base: str) -> None:
    engine = call(tmp_path, "engine")
    assert engine.code == 0, engine.err
    assert base in engine.out
    doctor = call(tmp_path, "doctor")
    assert doctor.code == 0, doctor.out
    assert "engine" in doctor.out
