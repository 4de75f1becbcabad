"""Commands of the documents that take an engine and that no other test gives, as a newcomer types them."""

from __future__ import annotations

from pathlib import Path

import pytest

from paritygate import archive
from tests.documents.prepared import prepare
from tests.support.command_line import call

pytestmark = pytest.mark.docker


def test_the_commands_about_the_machine(tmp_path: Path, base: str) -> None:
    engine = call(tmp_path, "engine")
    assert engine.code == 0, engine.err
    assert base in engine.out
    doctor = call(tmp_path, "doctor")
    assert doctor.code == 0, doctor.out
    assert "engine" in doctor.out


def test_a_patch_is_judged_by_the_tests_that_can_see_it(tmp_path: Path) -> None:
    project = prepare(tmp_path)
    fewer = ("--runner", "docker", "--explain-budget", "0", "--without-axis", "case_sensitive", "--without-axis", "workers")
    said = call(project, "run", "--changed=origin/main", "tests/unit", "-k", "ledger", *fewer)
    assert said.code == 0, said.err
    artifact = archive.read(project / "parity_report.json")
    assert [each.nodeid for each in artifact.tests] == ["tests/unit/test_ledger.py::test_the_ledger_is_balanced"]
    assert artifact.changed is not None
    assert artifact.changed.tests == ("tests/unit/test_ledger.py",)
    assert said.out.startswith("parity over timezone, locale")
