"""Looking for causes afterwards: what is asked of a report before anything runs, and what it says without its causes."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from paritygate import archive
from paritygate.docker_engine.connect import nobody_named
from paritygate.errors import NoVerdictError, UsageError
from paritygate.gate import regained
from paritygate.gate.afterwards import Afterwards, is_open, run
from paritygate.gate.request import World
from paritygate.gate.result import that_count
from paritygate.outcomes.artifact import Artifact, Cause, CellImage, EngineRecord, Finding, Material
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.words import Axis, CauseKind, Purpose
from tests.support.builders import a_cell, a_finding, an_artifact, an_environment, gate_plans
from tests.support.fake_engine import FakeEngine
from tests.unit.test_gate_cells import a_world

OUTCOMES = {"a": "passed passed", "b": "failed failed"}
COUPLED = a_finding("t", "coupling", OUTCOMES, confirmed=10)
TIMEZONE = Cause(kind=CauseKind.AXIS, axes=(Axis.TIMEZONE,), ways=((Axis.TIMEZONE,),))
MATERIAL = Material(
    plans=gate_plans(an_environment("a"), an_environment("b")),
    images={EnvironmentName(name): CellImage(name=f"{name}:1", identity=f"sha256:{name}") for name in "ab"},
)
MATERIAL_NAMES = tuple(map(EnvironmentName, "ab"))


def a_report(*findings: Finding, **changes: object) -> Artifact:
    cells = [a_cell(env, attempt, {"t": word}) for env, word in (("a", "passed"), ("b", "failed")) for attempt in (1, 2)]
    for attempt in range(3, 8):
        cells += [a_cell(env, attempt, {"t": word}, purpose=Purpose.CONFIRM) for env, word in (("a", "passed"), ("b", "failed"))]
    report = an_artifact(cells=tuple(cells), tests=findings or (COUPLED,), material=MATERIAL)
    return msgspec.structs.replace(report, **changes)


def asked(tmp_path: Path, artifact: Artifact, **changes: object) -> Afterwards:
    archive.write(artifact, tmp_path / "r.json")
    return msgspec.structs.replace(Afterwards(report=tmp_path / "r.json", project=tmp_path), **changes)


def a_world_with(engine: FakeEngine | None, lines: list[str]) -> World:
    world = a_world(lines)
    return world if engine is None else msgspec.structs.replace(world, connect=lambda: engine)


def test_a_report_whose_causes_are_all_known_starts_nothing_and_is_shown_as_it_is(tmp_path: Path) -> None:
    known = a_report(msgspec.structs.replace(COUPLED, cause=TIMEZONE))
    lines: list[str] = []
    assert run(asked(tmp_path, known), a_world_with(None, lines)).artifact == known
    assert lines == ["nothing that diverges is without its cause"]
    assert (is_open(known), is_open(a_report())) == (False, True)


def test_names_that_collide_count_where_an_environment_folds_case_and_not_elsewhere() -> None:
    folding = msgspec.structs.replace(an_environment("a"), case_sensitive=False)
    assert that_count(("`A` and `a`",), (an_environment("a"), an_environment("b"))) == ()
    assert that_count(("`A` and `a`",), (an_environment("b"), folding)) == ("`A` and `a`",)


def test_without_time_nothing_starts_and_the_report_goes_where_it_is_wanted(tmp_path: Path) -> None:
    found = run(asked(tmp_path, a_report(), seconds=0.0, place=tmp_path / "other.json"), a_world_with(None, []))
    assert (found.path, found.unrecorded) == (tmp_path / "other.json", None)
    assert archive.read(tmp_path / "other.json") == a_report()


def test_a_report_that_does_not_know_its_cells_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not say what its cells were made of"):
        run(asked(tmp_path, a_report(material=None)), a_world_with(None, []))


def test_a_report_of_another_schema_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has schema 9") as caught:
        run(asked(tmp_path, a_report(schema=9)), a_world_with(None, []))
    assert caught.value.hint == "use the version of paritygate that wrote it"


def test_images_that_are_gone_are_no_verdict_and_nothing_starts(tmp_path: Path) -> None:
    engine = FakeEngine()
    with pytest.raises(NoVerdictError, match="`a:1`, in which `a` ran, is gone"):
        run(asked(tmp_path, a_report()), a_world_with(engine, []))
    assert engine.requests == []


def test_a_coupling_is_taken_without_its_cause_and_without_what_was_said_of_it_but_not_of_order() -> None:
    order = "the order is not what makes the difference: run by one process in `a`, in the order of `b`, it is `passed`"
    note = f"{order}; none of the axes that were varied explains it"
    (found,) = archive.before_causes(a_report(msgspec.structs.replace(COUPLED, cause=TIMEZONE, note=note)))
    assert (found.cause, found.confirmed) == (None, 10)
    assert found.note == order


def test_what_a_check_of_the_order_has_overturned_stands_as_it_is() -> None:
    overturned = a_finding("t", "nondeterminism", OUTCOMES, cause=Cause(kind=CauseKind.ORDER, detail="twice of two times"))
    assert archive.before_causes(a_report(overturned)) == (overturned,)


def test_a_report_of_several_engines_finds_them_again_and_leaves_out_those_without_its_images() -> None:
    engines = tuple(
        EngineRecord(name=name, url=f"memory://{name}", version="1", platform="linux/amd64", cpus=4, environments=MATERIAL_NAMES)
        for name in ("one", "two", "gone")
    )
    known: dict[str, FakeEngine] = {"one": FakeEngine(), "two": FakeEngine()}
    for name in "ab":
        known["two"].keep(f"{name}:1", {}, {}, {})
    lines: list[str] = []
    world = msgspec.structs.replace(a_world(lines), connect_to=lambda name: known.get(name) or nobody_named(name))
    found = regained.pool(a_report(engines=engines), MATERIAL, world)
    assert [(member.name, member.environments) for member in found.members] == [("two", frozenset(MATERIAL_NAMES))]
    assert lines[:2] == [
        "warning: the engine `one` was left out: the image `a:1`, in which `a` ran, is gone from the engine",
        "warning: the engine `gone` was left out: nothing is known of an engine `gone`",
    ]
    known["two"].remove_image("a:1")
    with pytest.raises(NoVerdictError, match="no engine of the report is left for `a`, `b`"):
        regained.pool(a_report(engines=engines), MATERIAL, world)
