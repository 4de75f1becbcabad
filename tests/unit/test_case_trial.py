"""What a trial of the case-folding filesystem says, by how its cell ended."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from paritygate.case_folding import WITHOUT
from paritygate.case_trial import Shown, shown_by
from paritygate.docker_engine.requests import EngineInfo
from paritygate.outcomes.cells import Cell, FilesystemFacts
from paritygate.outcomes.words import CellStatus
from tests.support.builders import a_cell, a_probe
from tests.support.fake_engine import FakeEngine

INFO = FakeEngine().info
ALL = {"folds": True, "keeps": True, "fresh": True, "renames_case": True}
DAEMON = FilesystemFacts(way="casefs", unicode="14.0.0")
KERNEL = FilesystemFacts(way="kernel", unicode="12.1.0", case_rename=False, instead_of="the daemon: ENOENT device: /dev/fuse")


def a_trial(habits: dict[str, bool], **changes: Any) -> Cell:
    probe = a_probe(case=dict.fromkeys(("workspace", "tmp", "home"), habits))
    return a_cell("trial", **{"status": CellStatus.NO_TESTS, "probe": probe, **changes})


def test_the_daemons_filesystem_is_said_with_its_unicode_and_its_habits() -> None:
    assert shown_by(a_trial(ALL, filesystem=DAEMON), INFO) == Shown(
        ("can vary, by the daemon casefs (Unicode 14.0.0; probe: folds, keeps, fresh, renames case)",), varies=True
    )


def test_the_kernels_is_said_with_what_it_cannot_do_and_why_it_is_not_the_daemons() -> None:
    shown = shown_by(a_trial({**ALL, "renames_case": False}, filesystem=KERNEL), INFO)
    assert shown.varies
    first, lacking, hint = shown.lines
    assert first == "can vary, by the kernel itself (Unicode 12.1.0; probe: folds, keeps, fresh)"
    assert lacking.startswith("a rename that changes case alone does nothing there; ")
    assert lacking.endswith(" cannot run: `/dev/fuse` is not there on the engine's computer")
    assert hint == "hint: run `modprobe fuse` there, as root"


@pytest.mark.parametrize("info", [INFO, msgspec.structs.replace(INFO, rootless=True)])
def test_a_cell_without_the_filesystem_says_what_is_in_the_way_and_what_to_do(info: EngineInfo) -> None:
    detail = "the cell's filesystem cannot be made: the daemon: EPERM mount: /parity; the kernel: mount tmpfs: EPERM"
    shown = shown_by(a_cell("trial", status=CellStatus.UNUSABLE, detail=detail), info)
    first, said, hint = shown.lines
    assert not shown.varies
    assert first.startswith("cannot vary: nothing may be mounted in containers of this engine (EPERM)")
    assert first.endswith("runs without root") == info.rootless
    assert said == f"it said: {detail}"
    assert hint.startswith("hint: use an engine that ")
    assert hint.endswith(WITHOUT)


def test_a_filesystem_that_is_not_as_it_should_be_is_none() -> None:
    detail = "case_sensitive = false: tmp `/parity/tmp` is not so"
    cell = a_trial({**ALL, "folds": False}, filesystem=DAEMON, status=CellStatus.ENVIRONMENT_MISMATCH, detail=detail)
    shown = shown_by(cell, INFO)
    assert not shown.varies
    assert f"it said: {detail}" in shown.lines
