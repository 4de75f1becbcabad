"""Cells on this computer through the runner itself, where a whole run could not show it."""

from __future__ import annotations

import io
import sys
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from paritygate.errors import RunnerError
from paritygate.guest import lodging
from paritygate.host import interpreters
from paritygate.host.quarters import Quarters
from paritygate.images import resources
from paritygate.outcomes.cells import Cell
from paritygate.outcomes.plans import Selection
from paritygate.outcomes.words import CellStatus, Outcome, Worktree
from paritygate.runners.host import HostRunner, Interpreter
from tests.support.plans import a_plan, an_environment

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="cells on the computer itself take Linux")

WHERE = b"import os\n\ndef test_where():\n    assert os.getcwd().endswith('/fs/workspace')\n"
STATE = Worktree.CLEAN
INTERPRETER = Interpreter(python=sys.executable, kept=interpreters.kept((), Path("/nowhere")))


def packed(name: str, content: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        info = tarfile.TarInfo(f"parity/workspace/{name}")
        info.size = len(content)
        tar.addfile(info, io.BytesIO(content))
    return stream.getvalue()


@pytest.fixture
def quarters(tmp_path: Path) -> Iterator[Quarters]:
    with Quarters(str(tmp_path), resources.guest()) as made:
        made.keep(STATE, "5e47", [packed("test_where.py", WHERE)])
        yield made
    assert not made.folder.exists()


def test_cells_that_cannot_be_kept_apart_have_the_one_place_one_by_one(quarters: Quarters) -> None:
    quarters.obstacle = "a kernel that allows no namespaces"
    runner = HostRunner(quarters.berth, INTERPRETER)
    plan = a_plan(an_environment(worktree=STATE), selection=Selection())
    cells: list[Cell] = []
    threads = [threading.Thread(target=lambda: cells.append(runner.run(plan, lambda _progress: None))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(cell.status, [run.outcome for run in cell.tests]) for cell in cells] == [(CellStatus.FINISHED, [Outcome.PASSED])] * 3
    assert not Path(quarters.top, lodging.SHOWN).exists()


def test_a_tree_that_is_not_the_one_it_should_be_is_a_mismatch(quarters: Quarters) -> None:
    with quarters.berth(a_plan(an_environment(worktree=STATE))) as berth:
        assert (berth.folder / "sentinel").read_text() == berth.sentinel == "5e47"
        assert sorted(path.name for path in berth.folder.iterdir()) == ["casefs", "fs", "guest", "sentinel", "stacks"]
    assert not berth.folder.exists()


def test_a_folder_that_others_can_enter_is_refused(tmp_path: Path) -> None:
    top = Path(lodging.top_of(str(tmp_path)))
    top.chmod(0o755)
    with pytest.raises(RunnerError, match="is not a folder that only you can enter"):
        Quarters(str(tmp_path), {})


def test_what_a_living_run_has_is_not_swept(quarters: Quarters, tmp_path: Path) -> None:
    with Quarters(str(tmp_path), {}) as other:
        assert other.swept == ()
        assert quarters.folder.exists()
        (Path(other.top) / "0badc0de").mkdir()
        assert list(lodging.sweep(other.top)) == [f"{other.top}/0badc0de"]


def test_what_has_no_right_to_be_removed_is_removed_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "run" / "closed" / "deep").mkdir(parents=True)
    (tmp_path / "run" / "closed" / "deep" / "file").touch()
    (tmp_path / "run" / "link").symlink_to(tmp_path)
    (tmp_path / "run" / "closed").chmod(0o000)
    lodging.remove(str(tmp_path / "run"))
    assert list(tmp_path.iterdir()) == []


def test_processors_are_bounded_for_all_that_a_cell_starts(quarters: Quarters) -> None:
    runner = HostRunner(quarters.berth, INTERPRETER)
    plan = a_plan(an_environment(worktree=STATE, cpus=1.0), selection=Selection())
    cell = runner.run(plan, lambda _progress: None)
    assert cell.probe is not None
    assert cell.probe.cpus == 1.0
