"""`paritygate run --plan` through the real command line: what would run, and that nothing does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from paritygate import archive
from paritygate.cli import user
from paritygate.config.settings import EnvironmentSettings, ImageSettings
from paritygate.docker_engine.requests import Endpoint, EngineInfo
from paritygate.images import foreseeing
from paritygate.images.access import Access
from paritygate.images.layers import PrepareRequest
from tests.support.builders import a_cell, a_subject, an_artifact
from tests.support.command_line import call, commit
from tests.support.fake_engine import FakeEngine
from tests.support.patches import write

HOST = ("--runner", "host")
SETTINGS = 'seeds = [7, 8]\n[environments.here]\nworkers = 0\n[environments.there]\ntimezone = "Asia/Tokyo"\nworkers = 2\n'


class At(FakeEngine):
    """An engine at an address of its own, with some processors."""

    def __init__(self, url: str, cpus: int) -> None:
        super().__init__()
        self.url, self.cpus = url, cpus

    @property
    def info(self) -> EngineInfo:
        """Say what it is."""
        return msgspec.structs.replace(super().info, endpoint=Endpoint(self.url, "a test"), cpus=self.cpus)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    write(tmp_path, "paritygate.toml", SETTINGS)
    write(tmp_path, "tests/test_shop.py", "raise SystemExit('this was run')\n")
    return commit(tmp_path, new=True)


def plan(project: Path, *words: str) -> dict[str, Any]:
    said = call(project, "run", *HOST, "--plan", "--json", *words)
    assert (said.code, said.err) == (0, "")
    found: dict[str, Any] = json.loads(said.out)
    return found


def test_the_cells_are_those_that_a_run_has(shop: Path) -> None:
    cells = plan(shop)["cells"]
    assert [(each["name"], each["seed"], each["reversed"], each["workers"]) for each in cells] == [
        ("here-1", 7, False, 0),
        ("here-2", 8, True, 0),
        ("there-1", 7, False, 2),
        ("there-2", 8, True, 2),
    ]
    assert {each["runner"] for each in cells} == {"host"}


def test_axes_say_whether_they_are_to_vary_and_why_not(shop: Path) -> None:
    axes = {each["axis"]: (each["varied"], each["why"]) for each in plan(shop, "--without-axis", "workers")["axes"]}
    assert axes["timezone"] == (True, "")
    assert axes["workers"] == (False, "left out by `--without-axis workers`")
    assert axes["locale"] == (False, "every environment has the same value")


def test_case_and_clocks_do_not_vary_beside_another_computer(shop: Path) -> None:
    ssh = '[environments.there]\nrunner = "ssh"\ntarget = "far"\nclock = "2028-02-29T12:00:00"\n'
    write(shop, "paritygate.toml", f'runner = "host"\n[environments.here]\ncase_sensitive = false\n{ssh}')
    said = call(shop, "run", "--plan", "--json")
    assert (said.code, said.err) == (0, "")
    axes = {each["axis"]: each for each in json.loads(said.out)["axes"]}
    assert (axes["case_sensitive"]["varied"], axes["clock"]["varied"]) == (False, False)
    assert axes["case_sensitive"]["why"] == "no filesystem that folds case can be had on `far` over ssh"


def test_a_working_tree_that_is_a_clean_clone_is_said_not_to_vary(shop: Path) -> None:
    write(shop, "paritygate.toml", '[environments.here]\nworktree = "dirty"\n[environments.there]\n')
    commit(shop)
    axes = {each["axis"]: each["why"] for each in plan(shop)["axes"]}
    assert axes["worktree"] == "the working tree is what a fresh clone would hold"
    write(shop, "untracked.txt", "x")
    assert {"axis": "worktree", "varied": True, "why": ""} in plan(shop)["axes"]


def test_the_engines_of_a_pool_are_all_told_of(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"near": At("tcp://10.0.0.0:2375", 4), "far": At("tcp://10.0.0.1:2375", 3)}
    monkeypatch.setattr(user, "engine_at", lambda _host, name: known[name])
    write(shop, "paritygate.toml", f'engines = ["near", "far"]\n{SETTINGS}')
    said = call(shop, "run", "--runner", "docker", "--plan", "--json")
    (place,) = json.loads(said.out)["places"]
    assert "at tcp://10.0.0.0:2375, 4 processors; " in place
    assert place.endswith("at tcp://10.0.0.1:2375, 3 processors")


def test_nothing_is_written_and_nothing_of_the_project_runs(shop: Path) -> None:
    before = sorted(shop.rglob("*"))
    said = call(shop, "run", *HOST, "--plan")
    assert said.code == 0
    assert sorted(shop.rglob("*")) == before
    assert "cell       here-1   on host, one process, seed 7\n" in said.out
    assert "cell       there-2  on host, 2 workers, seed 8, order reversed\n" in said.out
    assert "to vary    timezone" in said.out
    assert "time       unknown: `parity_report.json` is of no run of this selection\n" in said.out


def test_the_last_report_says_how_long_unless_it_was_of_something_else(shop: Path) -> None:
    cells = tuple(
        msgspec.structs.replace(a_cell(env, attempt), runner="host", seconds=float(attempt))
        for env in ("here", "there")
        for attempt in (1, 2)
    )
    timings = {"cells": 3.0, "total": 5.5}
    report = an_artifact(cells=cells, subject=a_subject(selection=("tests",)), timings=timings)
    archive.write(report, shop / "parity_report.json")
    assert plan(shop, "tests")["seconds"] == timings
    assert [each["seconds"] for each in plan(shop, "tests")["cells"]] == [1.0, 2.0, 1.0, 2.0]
    assert "time       6 s the last time (cells 3 s)" in call(shop, "run", *HOST, "--plan", "tests").out
    assert plan(shop, "tests/test_shop.py")["seconds"] == {}


def test_what_a_run_would_refuse_is_refused(shop: Path) -> None:
    said = call(shop, "run", *HOST, "--plan", "tests/test_shap.py")
    assert said.code == 64
    assert "did you mean `tests/test_shop.py`?" in said.err
    assert call(shop, "run", *HOST, "--plan", "--format", "markdown").code == 64


def test_images_that_are_not_there_are_named_as_far_as_they_can_be(tmp_path: Path) -> None:
    engine = FakeEngine()
    request = PrepareRequest(
        root=tmp_path,
        directory="",
        settings=ImageSettings(base="own:1"),
        environments={"here": EnvironmentSettings()},
        access=Access(),
        logs=tmp_path / "logs",
    )
    (only,) = foreseeing.layers(engine, request)
    assert (only.what, only.name, only.there) == ("base", "own:1", False)
