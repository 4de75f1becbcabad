"""The planted suite: what is in it, what the gate has to say of it, and how that is told."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

import paritygate
from paritygate.config import file as config_file
from paritygate.outcomes.artifact import Artifact, Cause, Finding, Varied
from paritygate.outcomes.cells import NodeId
from paritygate.outcomes.words import Axis, CauseKind, CellStatus, ExitCode, Label
from paritygate.selfcheck import flow, planted
from paritygate.selfcheck.flow import Wanted
from paritygate.selfcheck.judging import Shown, exit_code, judge
from paritygate.selfcheck.planted import CONTROL, Plant
from paritygate.selfcheck.telling import Page, summary, told
from tests.support.builders import a_cell, a_finding, an_artifact
from tests.support.command_line import call

PLANTS = planted.read()
SUITE = Path(paritygate.__file__).parent / "selfcheck" / "suite"


def cause_of(plant: Plant) -> Cause:
    """Make the cause that the gate has to name."""
    if plant.axis is not None:
        return Cause(kind=CauseKind.AXIS, axes=(plant.axis,), ways=((plant.axis,),))
    return Cause(kind=CauseKind(plant.cause), polluters=tuple(map(NodeId, plant.polluters)))


def found_as_planted() -> tuple[Finding, ...]:
    """Say of every plant what is right."""
    return tuple(
        msgspec.structs.replace(a_finding(plant.test, plant.label), cause=cause_of(plant))
        if plant.cause
        else a_finding(f"{plant.test}::test_sound", Label.CONSISTENT_GREEN)
        for plant in PLANTS.values()
    )


def an_artifact_of(findings: Sequence[Finding], **changes: object) -> Artifact:
    varied = tuple(Varied(axis=plant.axis, varied=True) for plant in PLANTS.values() if plant.axis)
    return an_artifact(tests=tuple(findings), axes=changes.pop("axes", varied), **changes)


def changed(name: str, **changes: object) -> list[Finding]:
    return [msgspec.structs.replace(each, **changes) if each.nodeid == PLANTS[name].test else each for each in found_as_planted()]


def test_every_axis_that_a_default_pair_varies_has_a_fault_and_there_is_a_control() -> None:
    axes = {plant.axis for plant in PLANTS.values()}
    assert {Axis.TIMEZONE, Axis.LOCALE, Axis.CASE_SENSITIVE, Axis.WORKERS, Axis.WORKTREE, Axis.DIRECTORY_ORDER} <= axes
    assert {plant.cause for plant in PLANTS.values()} >= {CauseKind.HASH_SEED, CauseKind.ORDER}
    assert PLANTS[CONTROL].label is Label.CONSISTENT_GREEN


def test_every_planted_test_is_in_the_suite_and_every_file_of_the_suite_has_a_plant() -> None:
    for plant in PLANTS.values():
        name = plant.test.partition("::")[2]
        assert f"def {name}(" in (SUITE / plant.file).read_text(encoding="utf-8") if name else (SUITE / plant.file).is_file()
    assert {plant.file for plant in PLANTS.values()} == {f"tests/{path.name}" for path in SUITE.glob("tests/test_*.py")}


def test_the_suite_is_laid_out_the_same_each_time_with_one_file_that_no_clone_has(tmp_path: Path) -> None:
    commits = []
    for name in ("one", "two"):
        planted.lay_out(tmp_path / name, dict(os.environ))
        asked = subprocess.run(
            ("git", "-C", tmp_path / name, "rev-parse", "HEAD"), capture_output=True, text=True, check=True, timeout=60
        )
        commits.append(asked.stdout)
        status = subprocess.run(
            ("git", "-C", tmp_path / name, "status", "--porcelain", "--ignored"),
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert status.stdout == f"!! {planted.IGNORED}\n"
    assert commits[0] == commits[1]
    assert config_file.load(tmp_path / "one").settings.environments.keys() == {"local-like", "server-like"}


def test_without_git_the_suite_is_laid_out_all_the_same(tmp_path: Path) -> None:
    planted.lay_out(tmp_path / "suite", {"PATH": str(tmp_path)})
    assert not (tmp_path / "suite" / ".git").exists()
    assert (tmp_path / "suite" / planted.IGNORED).is_file()


def test_a_gate_that_is_right_is_told_to_be() -> None:
    judged = judge(an_artifact_of(found_as_planted()), PLANTS, (), {})
    assert {each.shown for each in judged} == {Shown.AS_PLANTED}
    assert exit_code(judged) == ExitCode.PARITY
    lines = list(summary(judged, 12.0, "docker"))
    assert lines == ["8 of 8 planted faults found, each with its cause, and nothing else: in 12 s on docker"]


@pytest.mark.parametrize(
    "findings",
    [
        changed("timezone", cause=cause_of(PLANTS["locale"])),
        changed("timezone", cause=None),
        changed("timezone", label=Label.CONSISTENT_GREEN, cause=None),
        changed("timezone", label=Label.NONDETERMINISM),
        changed("order", cause=Cause(kind=CauseKind.ORDER)),
        [*found_as_planted(), a_finding("tests/test_order.py::test_the_currency_can_be_changed", Label.COUPLING)],
        [*found_as_planted(), a_finding("tests/test_control.py::test_a_day_is_a_day", Label.COUPLING)],
        [each for each in found_as_planted() if each.nodeid != PLANTS["workers"].test],
    ],
    ids=["another cause", "no cause", "not found", "another label", "no polluter", "too much", "a false alarm", "nothing"],
)
def test_a_gate_that_is_wrong_is_told_to_be(findings: list[Finding]) -> None:
    judged = judge(an_artifact_of(findings), PLANTS, (), {})
    assert [each.shown for each in judged].count(Shown.OTHERWISE) == 1
    assert exit_code(judged) == ExitCode.CONSISTENT_RED
    text = "\n".join(told(judged, Page(width=200)))
    assert "planted: " in text
    assert "please report it" in "\n".join(summary(judged, 1.0, "docker"))


def test_what_cannot_vary_here_is_no_mistake_of_the_gate_and_no_success() -> None:
    axes = (Varied(axis=Axis.LOCALE, varied=False, why="this computer has no locale `en_US.UTF-8`"),)
    judged = judge(an_artifact_of(changed("locale", label=Label.CONSISTENT_RED, cause=None), axes=axes), PLANTS, (), {})
    assert exit_code(judged) == ExitCode.NO_VERDICT
    assert "not provable here: this computer has no locale `en_US.UTF-8`" in "\n".join(told(judged, Page(width=200)))
    assert "`paritygate selfcheck --without-axis locale`" in "\n".join(summary(judged, 1.0, "host"))


def test_what_was_left_out_is_not_missed() -> None:
    judged = judge(an_artifact_of([each for each in found_as_planted() if "locale" not in each.nodeid]), PLANTS, ("locale",), {})
    assert exit_code(judged) == ExitCode.PARITY
    assert next(summary(judged, 1.0, "host")).startswith("7 of 7 planted faults")


def test_where_cells_can_have_no_filesystem_all_else_is_tried_without() -> None:
    runs: list[tuple[tuple[str, ...], tuple[Axis, ...]]] = []

    def run(project: Path, files: tuple[str, ...], left_out: tuple[Axis, ...]) -> Artifact:
        assert (project / "tests" / "test_case.py").is_file()
        runs.append((files, left_out))
        if len(runs) > 1:
            return an_artifact_of(found_as_planted())
        said = "`/dev/fuse` is not there on the engine's computer (the daemon: ENOENT device: /dev/fuse)"
        dead = msgspec.structs.replace(a_cell("local-like"), status=CellStatus.ENVIRONMENT_MISMATCH, detail=said)
        return an_artifact_of((), cells=(dead,))

    done = flow.check(Wanted(variables=dict(os.environ)), run)
    assert [set(left_out) for _, left_out in runs] == [set(), {Axis.CASE_SENSITIVE, Axis.DIRECTORY_ORDER}]
    assert "tests/test_case.py" not in runs[1][0]
    assert {each.name for each in done.judged if each.shown is Shown.NOT_HERE} == {"case_sensitive", "directory_order"}
    assert exit_code(done.judged) == ExitCode.NO_VERDICT


def test_of_some_faults_only_their_files_run_and_only_their_axes_vary() -> None:
    asked: list[tuple[tuple[str, ...], tuple[Axis, ...]]] = []

    def run(_project: Path, files: tuple[str, ...], left_out: tuple[Axis, ...]) -> Artifact:
        asked.append((files, left_out))
        return an_artifact_of(found_as_planted())

    done = flow.check(Wanted(plants=("worktree",), variables=dict(os.environ)), run)
    assert [each.name for each in done.judged] == ["worktree", CONTROL]
    ((files, left_out),) = asked
    assert files == ("tests/test_worktree.py", "tests/test_control.py")
    assert Axis.WORKTREE not in left_out
    assert Axis.TIMEZONE in left_out


def test_a_screen_without_unicode_or_room_is_served() -> None:
    judged = judge(an_artifact_of(found_as_planted()), PLANTS, (), {})
    lines = list(told(judged, Page(width=50, unicode=False)))
    assert all(line.isascii() for line in lines)
    assert max(map(len, lines)) <= 50


def test_a_fault_that_is_not_planted_is_refused_with_a_guess(tmp_path: Path) -> None:
    said = call(tmp_path, "selfcheck", "timezon")
    assert said.code == ExitCode.USAGE
    assert "nothing is planted for `timezon`; did you mean `timezone`?" in said.err
    assert list(tmp_path.iterdir()) == []


def test_a_wheel_carries_the_suite(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=root, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        carried = {name.removeprefix("paritygate/selfcheck/") for name in archive.namelist() if "/selfcheck/" in name}
    here = {path.relative_to(SUITE.parent).as_posix() for path in SUITE.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert here | {"planted.toml"} <= carried


@pytest.mark.skipif(not os.environ.get("PARITYGATE_SELFCHECK"), reason="takes minutes: `PARITYGATE_SELFCHECK=1` runs it")
@pytest.mark.parametrize("runner", ["docker", "host"])
def test_the_gate_finds_what_is_planted(tmp_path: Path, runner: str) -> None:
    said = call(tmp_path, "selfcheck", "--runner", runner)
    assert "✗" not in said.out, said.out
    assert said.code in {ExitCode.PARITY, ExitCode.NO_VERDICT}, said.out
    assert list(tmp_path.iterdir()) == []
