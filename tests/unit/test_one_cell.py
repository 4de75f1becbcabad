"""What `paritygate cell` refuses before it looks for an engine, and that it takes what `run` takes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from paritygate.cli.cells import OF_A_WHOLE_RUN, CellOptions, cell
from paritygate.cli.commands import run
from paritygate.config.settings import Settings, default_environments
from paritygate.gate.one_cell import beside_ssh
from paritygate.gate.settled import Settled
from tests.support.command_line import call, commit
from tests.unit.test_gate_cells import a_world

NOWHERE = {"DOCKER_HOST": "tcp://127.0.0.1:1"}


def project(tmp_path: Path) -> Path:
    (tmp_path / "test_a.py").write_text("def test_1(): pass\n", encoding="utf-8")
    return commit(tmp_path, new=True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("serverlike", "1"), "there is no environment `serverlike`; did you mean `server-like`?"),
        (("server-like", "0"), "0 is not in the range"),
        (("server-like", "1", "--shard", "3/2"), "`--shard 3/2` is no shard"),
        (("server-like", "1", "--durations-from", "test_a.py"), "is for `--shard`"),
        (("server-like", "1", "--shard", "1/2", "--durations-from", "test_a.py"), "`test_a.py` is no report"),
        (("server-like", "1", "--at", "noon"), "`--at noon` is no moment"),
        (("server-like", "1", "--out", "missing/cell.json"), "there is no folder"),
        (("server-like", "1", "--env", "local-like"), "there is no environment `server-like`"),
    ],
)
def test_what_cannot_be_is_said_before_an_engine_is_looked_for(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    out = () if "--out" in arguments else ("--out", "cell.json")
    ended = call(project(tmp_path), "cell", *arguments, *out, variables=NOWHERE)
    assert ended.code == 64, ended.err
    assert said in ended.err.replace("? ", "?")
    assert not (tmp_path / "cell.json").exists()


def test_a_cell_without_an_engine_has_no_verdict(tmp_path: Path) -> None:
    ended = call(project(tmp_path), "cell", "server-like", "1", "--out", "cell.json", "--host", "tcp://127.0.0.1:1")
    assert ended.code == 4, ended.err


def test_it_takes_all_that_a_whole_run_takes_but_what_says_nothing_of_one_cell() -> None:
    of_run = {each.name for each in run.params}
    assert of_run >= OF_A_WHOLE_RUN
    assert {each.name for each in cell.params} == (of_run - OF_A_WHOLE_RUN) | set(CellOptions.__struct_fields__)


@pytest.mark.parametrize(
    ("runners", "case"),
    [(("host", "ssh"), ["any", "any"]), (("ssh", "docker"), ["any", "any"]), (("host", "docker"), [False, True])],
)
def test_case_varies_in_no_job_where_some_environments_are_over_ssh(runners: tuple[str, str], case: list[object]) -> None:
    environments = {
        name: msgspec.structs.replace(each, runner=runner)
        for (name, each), runner in zip(default_environments().items(), runners, strict=True)
    }
    settings = Settings(environments=environments)
    gate = Settled(
        project=Path("/nowhere"), settings=settings, source="", notes=(), report=Path("/nowhere/report.json"), estimate=1.0
    )
    said: list[str] = []
    settled = beside_ssh(gate, a_world(said))
    assert [each.case_sensitive for each in settled.settings.environments.values()] == case
    assert said == (["not varied: case_sensitive: no filesystem that folds case can be had over ssh"] if "any" in case else [])
