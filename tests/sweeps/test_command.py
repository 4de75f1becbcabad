"""`paritygate sweep` as a user has it: what it refuses, what it will cost, and a whole sweep on this computer itself."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from paritygate import archive
from paritygate.cli.commands import run
from paritygate.cli.sweeps import OF_A_GATE, OWN, sweep
from paritygate.config.settings import EnvironmentSettings
from paritygate.docker_engine.requests import EngineInfo
from paritygate.gate.request import Request, World
from paritygate.gate.sweeping import costs, flow
from paritygate.gate.sweeping.request import Wanted
from paritygate.host import lacking
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.sweeps import Sweep, SweptValue
from paritygate.outcomes.words import Axis, Label
from paritygate.sweeps.conclusions import conclude
from tests.support.builders import a_cell, a_finding, a_probe, an_artifact
from tests.support.command_line import call, commit
from tests.support.fake_engine import FakeEngine
from tests.support.gate_runs import lay_out

NOWHERE = {"DOCKER_HOST": "tcp://127.0.0.1:1"}
ON_HOST = '[environments.home]\nlocale = "C.UTF-8"\ncase_sensitive = "any"\n'
TESTS = """\
import time
from datetime import datetime


def test_holds_everywhere():
    assert time.gmtime(0).tm_year == 1970


def test_is_late_enough():
    assert datetime.fromtimestamp(1704110400).hour >= 12
"""


def project(tmp_path: Path, settings: str = "") -> Path:
    (tmp_path / "test_a.py").write_text("def test_1(): pass\n", encoding="utf-8")
    (tmp_path / "paritygate.toml").write_text(settings, encoding="utf-8")
    return commit(tmp_path, new=True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "no axis is named"),
        (("timezon",), "`timezon` is no axis that can be swept; did you mean `timezone`?"),
        (("worktree",), "`worktree` is no axis that can be swept"),
        (("timezone", "--values", "Mars"), "timezone: `Mars` is not a zone"),
        (("timezone", "umask", "--values", "022"), "`--values` goes with one axis"),
        (("timezone", "--values", ","), "`--values` names no value"),
        (("umask", "--values", "022"), "umask: `022` alone is nothing to compare"),
        (("workers", "--values", "0", "--values", "0", "--plan"), "workers: `0` alone is nothing to compare"),
        (("timezone", "test_b.py"), "`test_b.py` is in no tree"),
        (("timezone", "--attempts", "3"), "there is no option `--attempts`"),
        (("timezone", "--budget", "soon"), "`soon` is no number of seconds: write 0 or more"),
        (("timezone", "--budget", "-5"), "`-5` is no number of seconds: write 0 or more"),
        (("timezone", "--plan", "test_b.py"), "`test_b.py` is in no tree"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_written(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    ended = call(project(tmp_path, ON_HOST), "sweep", *arguments, "--runner", "host", variables=NOWHERE)
    assert ended.code == 64, ended.err
    assert said in ended.err
    assert not (tmp_path / "parity_sweep.json").exists()


def test_values_of_a_projects_own_are_checked_with_all_other_settings(tmp_path: Path) -> None:
    settings = '[sweeps]\ntimezone = ["Asia/Kolkatta"]\nworkers = ["few"]\numask = ["077", "077"]\n'
    ended = call(project(tmp_path, settings), "sweep", "umask", variables=NOWHERE)
    assert ended.code == 64
    assert "`sweeps.timezone`: `Asia/Kolkatta` is not a zone of the tz database; did you mean `Asia/Kolkata`?" in ended.err
    assert "`sweeps.workers`: `few` is not a number of workers" in ended.err
    assert "`sweeps.umask`: `077` alone is nothing to compare: name two values or more" in ended.err
    assert ended.err.count("sweeps.") == 3


def test_a_sweep_without_an_engine_has_no_verdict(tmp_path: Path) -> None:
    ended = call(project(tmp_path), "sweep", "timezone", "--host", "tcp://127.0.0.1:1")
    assert ended.code == 4, ended.err


def test_an_axis_of_run_that_cannot_be_swept_is_refused_before_the_gate(tmp_path: Path) -> None:
    ended = call(project(tmp_path), "run", "--sweep", "timezon", variables=NOWHERE)
    assert ended.code == 64
    assert "did you mean `timezone`?" in ended.err


def test_it_takes_all_that_a_gate_takes_but_what_says_nothing_of_a_sweep() -> None:
    of_run = {each.name for each in run.params}
    assert of_run >= OF_A_GATE
    assert {each.name for each in sweep.params} == (of_run - OF_A_GATE) | {"words", *OWN}


def cost_of(project: Path, axes: dict[Axis, tuple[str, ...]]) -> list[str]:
    request = Request(project=project)
    return list(costs.told(costs.estimate(request, Wanted(axes=axes), a_world(FakeEngine()))))


class Processors(FakeEngine):
    """An engine with so many processors."""

    def __init__(self, cpus: int) -> None:
        super().__init__()
        self.cpus = cpus

    @property
    def info(self) -> EngineInfo:
        """Say what it is."""
        return msgspec.structs.replace(super().info, cpus=self.cpus)


def a_world(engine: FakeEngine) -> World:
    def unwanted(*_arguments: object) -> None:
        raise AssertionError

    return World(
        connect=lambda: engine,
        variables={},
        version="0",
        now=lambda: datetime(2026, 1, 1, tzinfo=UTC),
        monotonic=lambda: 0.0,
        sleep=unwanted,
        say=unwanted,
        watch=unwanted,
    )


def test_the_cost_is_said_by_what_cells_took_before_and_nothing_is_run(tmp_path: Path) -> None:
    place = project(tmp_path, '[environments.home]\n[sweeps]\numask = ["022", "077"]\n')
    lines = cost_of(place, {Axis.UMASK: (), Axis.WORKERS: ("0", "4")})
    assert lines[:3] == ["umask: 2 values", "  022  what most systems have: others may read", "  077  nobody else may anything"]
    assert lines[-3].startswith("3 cells, side by side as far as ")
    assert "how long a cell takes is in no report yet" in lines[-1]
    cells = (a_cell(seconds=2.0), a_cell(attempt=2, seconds=4.0))
    archive.write(an_artifact(cells=cells), place / "parity_report.json")
    cpus = FakeEngine().info.cpus
    least = 3.0 * (2 / cpus + 1)
    assert cost_of(place, {Axis.UMASK: (), Axis.WORKERS: ("0", "4")})[-1] == (
        f"about {least:.0f} s where nothing parts, {least / 3 * 15:.0f} s at most where tests part in two, by the 3.0 s that a "
        "cell took in `parity_report.json`"
    )


@pytest.mark.parametrize(
    ("seconds", "took", "said"),
    [
        (0.0, 0.0, "after 0 s no further value is begun, so 1 of 5 is; what is found by then is confirmed all the same"),
        (7.0, 0.0, "after 7 s no further value is begun, and how many are by then nobody knows; what is found"),
        (7.0, 4.0, "after 7 s no further value is begun, so about 4 of 5 are; what is found by then is"),
        (9.0, 4.0, "after 9 s no further value is begun, so about 5 of 5 are; what is found by then is"),
    ],
)
def test_a_plan_says_how_many_values_are_begun_in_time(seconds: float, took: float, said: str, tmp_path: Path) -> None:
    place = project(tmp_path, "[environments.home]\n")
    if took:
        archive.write(an_artifact(cells=(a_cell(seconds=took),)), place / "parity_report.json")
    engine = Processors(2)
    cost = costs.estimate(Request(project=place), Wanted(axes={Axis.UMASK: ()}, seconds=seconds), a_world(engine))
    assert [*costs.told(cost)][-1].startswith(said)
    assert cost.record.budget_seconds == seconds


def test_the_plan_of_a_run_has_that_of_the_sweep_after_it(tmp_path: Path) -> None:
    place = project(tmp_path, ON_HOST)
    words = ("run", "--runner", "host", "--plan", "--sweep", "umask")
    ended = call(place, *words, variables=NOWHERE)
    assert ended.code == 0, ended.err
    lines = ended.out.splitlines()
    start = lines.index("sweep      after a gate that comes to a verdict")
    assert lines[start + 1] == "  umask: 5 values"
    assert lines[start + 2].split() == ["022", *["what", "most", "systems", "have:", "others", "may", "read"]]
    assert lines[-1] == "  no further value is begun after as long as the gate took, at least 60 s"
    told = json.loads(call(place, *words, "--sweep-budget", "0", "--json", variables=NOWHERE).out)["sweep"]
    assert [each["value"] for each in told["axes"]["umask"]] == ["022", "002", "027", "077", "000"]
    assert (told["cells"], told["again"], told["budget_seconds"], told["begun"]) == (5, 4, 0, 1)
    assert json.loads(call(place, *words[:-2], "--json", variables=NOWHERE).out)["sweep"] is None
    refused = call(place, *words[:-1], "foo", variables=NOWHERE)
    assert (refused.code, refused.out) == (64, "")
    assert "`foo` is no axis that can be swept" in refused.err


def test_a_plan_needs_no_engine_where_cells_run_on_this_computer(tmp_path: Path) -> None:
    ended = call(project(tmp_path, ON_HOST), "sweep", "umask", "--plan", "--runner", "host", variables=NOWHERE)
    assert (ended.code, ended.out.splitlines()[0]) == (0, "umask: 5 values")


def test_the_cost_of_moments_counts_those_that_run_again_with_files_of_their_time(tmp_path: Path) -> None:
    place = project(tmp_path, "[environments.home]\n")
    lines = cost_of(place, {Axis.CLOCK: ("true", "2028-02-29T12:00", "short-day")})
    assert lines[0] == "clock: 2 values"
    assert lines[3].startswith("not tried: `short-day`: clocks never change in the zone of the first environment")
    assert lines[-2].startswith("and by 1 at most whose files have the time of the moved clock")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="cells on the computer itself take Linux")
def test_where_the_locale_of_the_first_environment_is_missing_all_cells_have_another_and_that_is_noted(tmp_path: Path) -> None:
    missing = '[environments.home]\nlocale = "tlh_QO.UTF-8"\ncase_sensitive = "any"\n'
    place = lay_out(tmp_path / "project", {"test_hours.py": TESTS, "paritygate.toml": missing})
    (tmp_path / "t").mkdir()
    around = {"TMPDIR": str(tmp_path / "t"), "VIRTUAL_ENV": ""}
    ended = call(place, "sweep", "umask", "--values", "022,077", "--runner", "host", variables=around)
    assert ended.code == 0, ended.err
    said = "locale is `C.UTF-8` in all cells: this computer has no locale `tlh_QO.UTF-8`"
    assert said in ended.err
    artifact = archive.read(place / "parity_sweep.json")
    assert [note for note in artifact.notes if note.startswith(said)]
    assert {cell.probe.locale for cell in artifact.cells if cell.probe is not None} == {"C.UTF-8"}


def test_what_the_first_environment_lacks_is_taken_of_the_next_and_else_of_servers() -> None:
    first = EnvironmentSettings(locale="en_US.UTF-8", timezone="auto", case_sensitive=False, workers=3)
    others = {"b": EnvironmentSettings(locale="de_DE.UTF-8"), "c": EnvironmentSettings(locale="fr_FR.UTF-8", workers=7)}
    spare = flow.spare({"a": first, **others})
    assert [each.locale for each in spare.values()] == ["C.UTF-8", "fr_FR.UTF-8", "de_DE.UTF-8"]
    assert {(each.case_sensitive, each.workers) for each in spare.values()} == {(False, 3)}
    every = {"a": first, **spare}
    for known, taken in (
        (("de_DE.UTF-8", "fr_FR.UTF-8"), "de_DE.UTF-8"),
        (("C.UTF-8", "fr_FR.UTF-8"), "fr_FR.UTF-8"),
        (("C.UTF-8",), "C.UTF-8"),
    ):
        assert lacking.locale({"a": first}, every, known)[Axis.LOCALE].value == taken
    assert lacking.locale({"a": first}, every, ("en_US.UTF-8", "C.UTF-8")) == {}


def test_nothing_moves_the_clock_without_an_engine_and_that_is_said_before_any_cell(tmp_path: Path) -> None:
    place = project(tmp_path, ON_HOST)
    ended = call(place, "sweep", "clock", "--runner", "host", variables=NOWHERE | {"VIRTUAL_ENV": ""})
    assert ended.code == 4
    assert "the clock cannot be swept over in `home`: what moves the clock of programs is in images alone" in ended.err


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="cells on the computer itself take Linux")
def test_a_whole_sweep_says_by_which_rule_a_test_parts_and_can_be_verified(tmp_path: Path) -> None:
    place = lay_out(tmp_path / "project", {"test_hours.py": TESTS, "paritygate.toml": ON_HOST})
    (tmp_path / "t").mkdir()
    zones = "UTC,Pacific/Honolulu"
    around = {"TMPDIR": str(tmp_path / "t"), "VIRTUAL_ENV": ""}
    ended = call(place, "sweep", "timezone", "--values", zones, "--runner", "host", variables=around)
    assert ended.code == 3, ended.err
    assert "fails in `Pacific/Honolulu`, passes elsewhere (1)" in ended.out
    artifact = archive.read(place / "parity_sweep.json")
    (swept,) = artifact.sweeps
    assert [(rule.nodeid, [clause.values for clause in rule.clauses]) for rule in swept.rules] == [
        ("test_hours.py::test_is_late_enough", [("Pacific/Honolulu",)])
    ]
    found = {str(each.nodeid): each for each in artifact.tests}
    assert found["test_hours.py::test_is_late_enough"].confirmed == 10
    assert found["test_hours.py::test_holds_everywhere"].label is Label.CONSISTENT_GREEN
    assert {cell.env: cell.probe.timezone for cell in artifact.cells if cell.probe is not None} == {
        "timezone-UTC": "UTC",
        "timezone-Pacific-Honolulu": "Pacific/Honolulu",
    }
    verified = call(place, "verify", "parity_sweep.json")
    assert (verified.code, "sweep         timezone: 1 rule over 2 values" in verified.out) == (0, True), verified.out


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="cells on the computer itself take Linux")
def test_a_sweep_after_a_gate_has_a_report_of_its_own_and_where_one_value_alone_is_proven_there_is_no_verdict(
    tmp_path: Path,
) -> None:
    place = lay_out(
        tmp_path / "project", {"test_hours.py": TESTS, "paritygate.toml": ON_HOST + '[sweeps]\ncpus = ["all", "0.5"]\n'}
    )
    (tmp_path / "t").mkdir()
    around = {"TMPDIR": str(tmp_path / "t"), "VIRTUAL_ENV": ""}
    ended = call(place, "run", "--attempts", "1", "--sweep", "cpus", "--runner", "host", variables=around)
    assert ended.code == 4, ended.err
    assert "no-verdict: nothing was compared over cpus: `all` alone was observed (not `0.5`: the cell has " in ended.out
    assert "not provable here: `0.5`: the cell has " in ended.out
    assert archive.read(place / "parity_report.json").sweeps == ()
    assert [each.observed for each in archive.read(place / "parity_sweep.json").sweeps[0].values] == [True, False]
    assert "matches      verdict" in call(place, "verify", "parity_sweep.json").out


def test_a_rule_that_does_not_follow_from_the_cells_is_found_out(tmp_path: Path) -> None:
    place = project(tmp_path)
    cells = tuple(a_cell(env, 1, {"t": word}, probe=a_probe()) for env, word in (("a", "failed"), ("b", "passed")))
    values = tuple(SweptValue(value=env, env=EnvironmentName(env)) for env in ("a", "b"))
    finding = a_finding("t", "coupling", {"a": "failed", "b": "passed"})
    told = conclude(Sweep(axis=Axis.UMASK, values=values), (finding,), cells)
    assert told.rules[0].text == "fails under umask `a`, passes elsewhere (1)"
    wrong = msgspec.structs.replace(told, rules=(msgspec.structs.replace(told.rules[0], text="fails in winter"),))
    for sweep_told, said in (
        (told, ""),
        (wrong, "`fails in winter` does not follow"),
        (Sweep(axis=Axis.UMASK, values=values), "no rule"),
    ):
        archive.write(an_artifact(cells=cells, tests=(finding,), sweeps=(sweep_told,)), place / "r.json")
        ended = call(place, "verify", "r.json")
        assert said in ended.out
        assert ("matches      sweep" in ended.out) is (not said)


@pytest.mark.parametrize(("label", "said"), [("undecided", "matches"), ("coupling", "matches"), ("nondeterminism", "differs")])
def test_what_nothing_has_confirmed_may_be_left_undecided_and_is_nothing_else(tmp_path: Path, label: str, said: str) -> None:
    place = project(tmp_path)
    cells = tuple(a_cell(env, 1, {"t": word}, probe=a_probe()) for env, word in (("a", "failed"), ("b", "passed")))
    artifact = an_artifact(cells=cells, tests=(a_finding("t", label, {"a": "failed", "b": "passed"}),))
    archive.write(artifact, place / "r.json")
    lines = call(place, "verify", "r.json").out.splitlines()
    assert [line.split()[0] for line in lines if line.split()[1:2] == ["labels"]] == [said]
