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
from paritygate.outcomes.plans import Filesystem, Order
from paritygate.outcomes.words import Axis, Purpose, Worktree
from tests.support.builders import a_cell, an_artifact, an_environment, gate_plans, ids
from tests.support.fake_engine import FakeEngine, FakeImage
from tests.support.plans import a_plan

REPORT = Path("parity_report.json")
LOCAL = an_environment("local", case_sensitive=False, worktree=Worktree.DIRTY, variables={"API_TOKEN": "***", "CI": "1"})
SERVER = an_environment("server", case_sensitive=True, workers=2)
MIXED = environments.hybrid(LOCAL, SERVER, [Axis.WORKTREE], "local+worktree")
FURTHER = a_plan(
    MIXED, purpose=Purpose.HYBRID, seed=99, filesystem=Filesystem(fold=True, shadowed=("data/A",)), order=Order(seed=7)
)


def a_material(**changes: object) -> Material:
    material = Material(
        plans=(*gate_plans(LOCAL, SERVER), FURTHER),
        images={
            EnvironmentName("local"): CellImage(name="shop-tree:1", identity="sha256:1", tree="d1"),
            EnvironmentName("server"): CellImage(name="shop-tree:2", identity="sha256:2", tree="c1"),
        },
        shadowed={Worktree.CLEAN: ("data/A",)},
    )
    return msgspec.structs.replace(material, **changes)


def an_engine(*references: str) -> FakeEngine:
    engine = FakeEngine()
    for reference in references:
        record = ImageRecord(identity=reference, tags=(reference,), labels={}, created="", size=0)
        engine.held[reference] = FakeImage(record, {}, {})
    return engine


def test_a_cell_of_the_gate_and_a_further_one_are_planned_as_they_were() -> None:
    for plan, cell in ((a_material().plans[3], a_cell("server", 2)), (FURTHER, a_cell("local+worktree", 1))):
        assert recorded.plan_of(a_material(), cell) == msgspec.structs.replace(plan, purpose=Purpose.REPRO)


def test_a_cell_from_elsewhere_cannot_be_made_again() -> None:
    with pytest.raises(UsageError, match="does not say how its cell `server-9` was made"):
        recorded.plan_of(a_material(), a_cell("server", 9))


def test_a_mixed_environment_starts_from_an_image_with_its_tree() -> None:
    plan = recorded.plan_of(a_material(), a_cell("local+worktree", 1))
    assert recorded.image_of(a_material(), an_engine("sha256:2"), plan).sentinel == "c1"


def test_the_record_of_plans_has_no_secrets_and_no_lists_of_tests() -> None:
    secret = an_environment("local", variables={"API_TOKEN": "told", "CI": "1"})
    order = Order(seed=3, reversed=True, exactly=ids("t"), only=ids("u"), shares=(("gw0", ids("v")),))
    (plan,) = recorded.plans_for_the_record([a_plan(secret, order=order)])
    assert plan.environment.variables == {"API_TOKEN": "***", "CI": "1"}
    assert plan.order == Order(seed=3, reversed=True)


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
    assert filled.plans[4].environment.variables == filled.plans[0].environment.variables
    assert filled.plans[2].environment == SERVER
