"""A cell whose clock is moved: real engine, real pytest."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from paritygate.docker_engine.engine import DockerEngine
from paritygate.outcomes.cells import ClockFacts
from paritygate.outcomes.plans import Selection
from paritygate.outcomes.words import CellStatus, Outcome
from paritygate.runners.docker import CellImage, DockerRunner
from tests.support import cell_images
from tests.support.plans import a_plan, an_environment

pytestmark = pytest.mark.docker

TESTS = """
import datetime, os, subprocess, time

def test_the_date():
    assert datetime.datetime.now().isoformat()[:13] == "2028-02-29T12"

def test_programs_without_variables_and_without_a_parent_of_ours():
    said = subprocess.run(["/bin/sh", "-c", "date +%F; exec env -i date +%F"], env={}, stdout=subprocess.PIPE, text=True)
    assert said.stdout == "2028-02-29\\n" * 2

def test_nothing_shows_it():
    assert os.getuid() == 1000
    assert [name for name in os.environ if name.startswith(("LD_", "PARITYGATE", "FAKE"))] == []

def test_files_have_true_times(tmp_path):
    (tmp_path / "new").touch()
    assert time.time() - (tmp_path / "new").stat().st_mtime > 24 * 3600
"""


def test_all_programs_of_a_cell_are_told_another_time(engine: DockerEngine, plain_image: str, tmp_path: Path) -> None:
    image, tree = (f"paritygate-test-{kind}:{uuid.uuid4().hex[:12]}" for kind in ("clock", "tree"))
    cell_images.add_compiled(engine, plain_image, image, ("clock", "clock.so", tmp_path))
    try:
        with cell_images.with_tree(engine, image, tree, {"test_time.py": TESTS}):
            runner = DockerRunner(engine, lambda _plan: CellImage(tree, cell_images.SENTINEL))
            environment = an_environment(timezone="Asia/Shanghai", clock="2028-02-29T12:00:00")
            cell = runner.run(a_plan(environment, selection=Selection(), clocks=True), lambda _progress: None)
    finally:
        engine.remove_image(image)
    assert (cell.status, cell.detail) == (CellStatus.FINISHED, "")
    assert {run.outcome for run in cell.tests} == {Outcome.PASSED}, [run.failure for run in cell.tests]
    assert cell.probe is not None
    assert cell.probe.clock is not None
    assert cell.probe.clock == ClockFacts(moved=cell.probe.clock.moved)
    assert cell.dates[0].local == "2028-02-29"
