"""Cells whose files lie on the filesystem that ignores case, or on the same one where it does not: real engine, real pytest."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from paritygate.docker_engine.engine import DockerEngine
from paritygate.outcomes.cells import Cell, FilesystemFacts, Spelling
from paritygate.outcomes.plans import CellPlan, Filesystem, Progress, Selection
from paritygate.outcomes.words import CellStatus, Outcome
from paritygate.runners.docker import CellImage, DockerRunner
from tests.support import cell_images
from tests.support.plans import a_plan, an_environment

pytestmark = pytest.mark.docker

RunnerOf = Callable[[dict[str, str]], DockerRunner]
CASEFS = FilesystemFacts(way="casefs", unicode="14.0.0")


@pytest.fixture(scope="session")
def daemon_image(engine: DockerEngine, base: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Make an image with the guest's files, pytest and the daemon, once for each session."""
    plain, tag = (f"paritygate-test-{kind}:{uuid.uuid4().hex[:12]}" for kind in ("plain", "casefs"))
    cell_images.make(engine, base, plain)
    cell_images.add_daemon(engine, plain, tag, tmp_path_factory.mktemp("casefs"))
    yield tag
    engine.remove_image(tag)
    engine.remove_image(plain)


@pytest.fixture
def runner_of(engine: DockerEngine, daemon_image: str) -> Iterator[RunnerOf]:
    """Make a runner whose cells hold a tree."""
    with ExitStack() as stack:

        def make(files: dict[str, str]) -> DockerRunner:
            tag = f"paritygate-test-tree:{uuid.uuid4().hex[:12]}"
            stack.enter_context(cell_images.with_tree(engine, daemon_image, tag, files))
            return DockerRunner(engine, lambda _plan: CellImage(tag, cell_images.SENTINEL))

        yield make


def ignore(progress: Progress) -> None:
    return


def the_plan(*, fold: bool = True, workers: int = 0, leave_out: tuple[str, ...] = (), **values: Any) -> CellPlan:
    environment = an_environment(case_sensitive=not fold, workers=workers)
    filesystem = Filesystem(fold=fold, leave_out=leave_out)
    return a_plan(**{"environment": environment, "selection": Selection(), "filesystem": filesystem, **values})


def red(cell: Cell) -> dict[str, str]:
    return {run.nodeid: run.failure.text if run.failure else run.outcome for run in cell.tests if not run.outcome.green}


def spellings(cell: Cell) -> dict[str, tuple[Spelling, ...]]:
    return {run.nodeid.rpartition("::")[2]: run.spellings for run in cell.tests if run.spellings}


def assert_green(cell: Cell) -> None:
    assert (cell.detail, cell.status, red(cell)) == ("", CellStatus.FINISHED, {})


FOLDING = """
import os, pathlib, subprocess, tempfile
import pytest

def places():
    return [os.getcwd(), tempfile.gettempdir(), os.path.expanduser("~"), "/tmp"]

@pytest.mark.parametrize("number", range(4))
def test_one_file_has_two_spellings(number):
    place = pathlib.Path(places()[number])
    (place / f"Made-{number}").write_text("x")
    assert (place / f"MADE-{number}").read_text() == "x"
    assert os.path.samefile(place / f"Made-{number}", place / f"mADE-{number}")
    assert f"Made-{number}" in os.listdir(place)

def test_places():
    assert places() == ["/parity/workspace", "/parity/tmp", "/parity/home", "/tmp"]
    assert os.environ["TMPDIR"] == "/parity/tmp"

def test_a_rename_leads_from_the_temporary_folder_into_the_tree():
    handle, path = tempfile.mkstemp()
    os.close(handle)
    os.rename(path, "moved")
    os.rename("moved", os.path.expanduser("~/moved"))

def test_what_is_temporary_is_one_folder_by_both_names():
    pathlib.Path("/tmp/here").write_text("1")
    assert pathlib.Path("/parity/tmp/HERE").read_text() == "1"

def test_case_alone_is_renamed():
    pathlib.Path("old").write_text("1")
    os.rename("old", "OLD")
    assert "OLD" in os.listdir(".") and "old" not in os.listdir(".")
    subprocess.run(["mv", "OLD", "Old"], check=True)
    assert "Old" in os.listdir(".")
"""


def test_a_folding_cell_sees_one_file_by_all_its_spellings(runner_of: RunnerOf) -> None:
    cell = runner_of({"test_here.py": FOLDING}).run(the_plan(), ignore)
    assert_green(cell)
    assert cell.filesystem == CASEFS
    assert cell.probe is not None
    habits = {"folds": True, "keeps": True, "fresh": True, "renames_case": True}
    assert cell.probe.case == {"workspace": habits, "tmp": habits, "home": habits}
    assert cell.probe.case_sensitive == (False, False, False)
    assert set(cell.probe.filesystems.values()) == {"fuse.casefs"}
