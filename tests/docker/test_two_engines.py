"""Two engines: cells on both, one that dies under its cells, and whole gates over them.

The second is a daemon with its own data, network and processes. Bringing it the images of a whole gate takes long, so that part
runs with `PARITYGATE_TWO_ENGINES=1` alone; what it is made of is tested on engines in memory, too.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from paritygate.docker_engine.engine import DockerEngine
from paritygate.images import carrying
from paritygate.images.carrying import Route
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.plans import Progress, Selection
from paritygate.outcomes.words import CellStatus, Label
from paritygate.runners.docker import CellImage, DockerRunner
from paritygate.runners.pool import Member, Pool, run_side_by_side
from tests.support import cell_images, gate_runs, small_image
from tests.support.gate_runs import Gate, lay_out, run
from tests.support.plans import a_plan, an_environment
from tests.support.second_engine import SecondEngine, obstacle

pytestmark = [
    pytest.mark.docker,
    pytest.mark.skipif(bool(obstacle()), reason=obstacle()),
    # The SDK forgets to close a socket on which nobody answers any more.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
whole = pytest.mark.skipif(not os.environ.get("PARITYGATE_TWO_ENGINES"), reason="takes minutes: set PARITYGATE_TWO_ENGINES")

SLOW = "import time\n\ndef test_it():\n    time.sleep(2)\n"


@pytest.fixture
def folder() -> Iterator[Path]:
    """Make a folder whose path is short: that of a socket has a limit."""
    folder = Path(tempfile.mkdtemp(prefix="paritygate-", dir="/var/tmp"))
    yield folder
    gc.collect()
    shutil.rmtree(folder)


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a gate as long as it may take to bring another engine its images."""
    monkeypatch.setattr(gate_runs, "PATIENCE_SECONDS", 900.0)


@pytest.fixture
def second(folder: Path) -> Iterator[SecondEngine]:
    with SecondEngine(folder / "engine") as second:
        yield second


def test_the_cells_of_an_engine_that_dies_end_on_the_other(engine: DockerEngine, second: SecondEngine) -> None:
    tag = f"paritygate-test-small:{uuid.uuid4().hex[:12]}"
    other = second.connect()
    try:
        image = small_image.make(engine, tag, {"test_slow.py": SLOW})
        (there,) = carrying.carry(Route(engine, other, "second"), [image], lambda _line: None)
        assert carrying.is_same(image, there)
        members = []
        for name, each in (("first", engine), ("second", other)):
            runner = DockerRunner(each, lambda _plan: CellImage(tag, cell_images.SENTINEL))
            members.append(Member(runner=runner, processors=1, name=name, answers=runner.answers))
        pool = Pool(members)

        def watch(progress: Progress) -> None:
            if progress.cell == "two-1" and progress.collected:
                second.kill()

        plans = [a_plan(an_environment(name=EnvironmentName(name)), selection=Selection()) for name in ("one", "two")]
        cells = run_side_by_side(plans, pool, watch)
    finally:
        engine.remove_image(tag)
        other.close()
    assert [(cell.env, cell.status, cell.engine) for cell in cells] == [
        ("one", CellStatus.FINISHED, "first"),
        ("two", CellStatus.FINISHED, "first"),
    ]
    assert {name: loss.cells for name, loss in pool.lost.items()} == {"second": ("two-1",)}


PROJECT = {
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\ndependencies = ["pytest", "pytest-xdist"]\n',
    "tests/test_slow.py": "import time\n\ndef test_slow():\n    time.sleep(6)\n",
    "tests/test_zone.py": "import time\n\ndef test_zone():\n    assert time.tzname[0] == 'UTC'\n",
}
OPTIONS = ("--without-axis", "case_sensitive")


@whole
@pytest.mark.usefixtures("patience")
def test_a_gate_over_two_engines_goes_on_where_one_dies(second: SecondEngine, tmp_path: Path) -> None:
    project = lay_out(tmp_path / "shop", PROJECT)
    pool = {"PARITY_ENGINES": f"default {second.url}"}
    whole_run = run(project, *OPTIONS, variables=pool)
    assert whole_run.artifact is not None, whole_run.stderr
    assert {cell.engine for cell in whole_run.artifact.cells} == {"default", second.url}
    labels = {str(each.nodeid): each.label for each in whole_run.artifact.tests}
    assert labels["tests/test_zone.py::test_zone"] is Label.COUPLING
    # What is there already is not brought again.
    with Gate(project, *OPTIONS, variables=pool) as gate:
        gate.wait_for_line("local-like-2: collected")
        second.kill()
        ended = gate.ended()
    assert "carrying" not in ended.stderr
    assert ended.artifact is not None, ended.stderr
    assert {str(each.nodeid): each.label for each in ended.artifact.tests} == labels
    lost = [each for each in ended.artifact.engines if each.lost]
    assert [(each.name, "local-like-2" in each.moved) for each in lost] == [(second.url, True)]
    assert any(f"the engine `{second.url}` was lost at" in note for note in ended.artifact.notes)
    assert not [line for line in ended.stderr.splitlines() if line.startswith("paritygate.")]


@whole
@pytest.mark.usefixtures("patience")
def test_an_environment_with_an_engine_of_its_own_runs_there(second: SecondEngine, tmp_path: Path) -> None:
    own = f'[environments.server-like]\nengine = "{second.url}"\n'
    project = lay_out(tmp_path / "shop", PROJECT | {"paritygate.toml": own})
    ended = run(project, *OPTIONS)
    assert ended.artifact is not None, ended.stderr
    usual = ended.artifact.engines[0].name
    where = {(cell.env.partition("+")[0], cell.engine) for cell in ended.artifact.cells}
    assert where == {("local-like", usual), ("server-like", second.url)}
    assert any("what differs between these engines is no axis" in note for note in ended.artifact.notes)
    cause = next(each.cause for each in ended.artifact.tests if each.label is Label.COUPLING)
    assert cause is not None
    assert cause.axes == ("timezone",)
