"""Cells of an artifact made into plans and images once more."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from paritygate import environments, recorded
from paritygate.docker_engine.requests import ImageRecord
from paritygate.errors import NoVerdictError, UsageError
from paritygate.outcomes.artifact import CellImage, Material
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.plans import Filesystem
from paritygate.outcomes.words import Axis, Purpose, Worktree
from tests.support.builders import a_cell, an_artifact, an_environment, gate_plans
from tests.support.fake_engine import FakeEngine, FakeImage

REPORT = Path("parity_report.json")
LOCAL = an_environment("local", case_sensitive=False, worktree=Worktree.DIRTY, variables={"API_TOKEN": "***", "CI": "1"})
SERVER = an_environment("server", case_sensitive=True, workers=2)
MIXED = environments.hybrid(LOCAL, SERVER, [Axis.WORKTREE], "local+worktree")


def a_material(**changes: object) -> Material:
    material = Material(
        plans=gate_plans(LOCAL, SERVER),
        images={
            EnvironmentName("local"): CellImage(name="shop-tree:1", identity="sha256:1", tree="d1"),
            EnvironmentName("server"): CellImage(name="shop-tree:2", identity="sha256:2", tree="c1"),
        },
        mixed={MIXED.name: MIXED},
        shadowed={Worktree.CLEAN: ("data/A",)},
    )
    return msgspec.structs.replace(material, **changes)


def an_engine(*references: str) -> FakeEngine:
    engine = FakeEngine()
    for reference in references:
        record = ImageRecord(identity=reference, tags=(reference,), labels={}, created="", size=0)
        engine.held[reference] = FakeImage(record, {}, {})
    return engine


def test_a_cell_of_the_gate_is_planned_as_it_was() -> None:
    plan = recorded.plan_of(a_material(), a_cell("server", 2))
    expected = a_material().plans[3]
    assert (plan.environment, plan.seed, plan.order) == (expected.environment, expected.seed, expected.order)
    assert (plan.purpose, plan.filesystem) == (Purpose.REPRO, Filesystem(fold=False))


def test_a_further_attempt_has_its_own_seed() -> None:
    plan = recorded.plan_of(a_material(), a_cell("server", 5, purpose=Purpose.CONFIRM, seed=99))
    assert (plan.name, plan.seed, plan.environment) == ("server-5", 99, SERVER)


def test_a_mixed_environment_has_its_axes_and_the_image_with_its_tree() -> None:
    material = a_material()
    plan = recorded.plan_of(material, a_cell("local+worktree", 1, purpose=Purpose.HYBRID))
    assert (plan.environment, plan.filesystem) == (MIXED, Filesystem(fold=True, shadowed=("data/A",)))
    assert recorded.image_of(material, an_engine("sha256:2"), plan).sentinel == "c1"


def test_an_order_that_one_process_replayed_has_no_workers() -> None:
    plan = recorded.plan_of(a_material(), a_cell("server", 7, purpose=Purpose.HYBRID))
    assert (plan.environment.name, plan.environment.workers) == ("server", 0)


def test_the_very_image_comes_first_and_then_one_of_its_name() -> None:
    material = a_material()
    plan = material.plans[0]
    assert recorded.image_of(material, an_engine("sha256:1", "shop-tree:1"), plan).tag == "sha256:1"
    assert recorded.image_of(material, an_engine("shop-tree:1"), plan).tag == "shop-tree:1"


def test_an_image_that_is_gone_is_no_verdict_and_the_gate_makes_it_again() -> None:
    with pytest.raises(NoVerdictError, match="`shop-tree:1`, in which `local` ran, is gone") as caught:
        recorded.image_of(a_material(), an_engine(), a_material().plans[0])
    assert "run the gate again" in caught.value.hint


def test_a_report_that_does_not_know_its_cells_is_refused() -> None:
    with pytest.raises(UsageError, match="does not say what its cells were made of"):
        recorded.material_of(an_artifact(), REPORT)


def test_a_value_that_the_report_withholds_has_to_be_given() -> None:
    material = a_material(withheld=("API_TOKEN",))
    with pytest.raises(UsageError, match=r"`API_TOKEN` is not in `parity_report\.json`"):
        recorded.with_variables(material, {}, REPORT)
    with pytest.raises(UsageError, match="withholds no variable `CI`"):
        recorded.with_variables(material, {"CI": "2"}, REPORT)
    filled = recorded.with_variables(material, {"API_TOKEN": "given"}, REPORT)
    assert filled.plans[0].environment.variables == {"API_TOKEN": "given", "CI": "1"}
    assert filled.mixed[MIXED.name].variables == filled.plans[0].environment.variables
    assert filled.plans[2].environment == SERVER
