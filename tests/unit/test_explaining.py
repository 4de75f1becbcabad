"""What a gate gives the search for causes: time, and cells of environments that no configuration has."""

from __future__ import annotations

from itertools import count

import pytest

from paritygate import environments
from paritygate.classifier.labels import label
from paritygate.cli.main import invoke
from paritygate.cli.options import SECONDS
from paritygate.confirm.flow import Confirmation
from paritygate.environments import Resolution
from paritygate.errors import UsageError
from paritygate.gate.explaining import Budget, Known, explain
from paritygate.gate.grounds.stock import Images
from paritygate.gate.material import Planned
from paritygate.outcomes.cells import Cell, EnvironmentName
from paritygate.outcomes.plans import CellPlan, Filesystem
from paritygate.outcomes.words import Axis, Worktree
from paritygate.runners.docker import CellImage
from tests.support.builders import a_cell, a_run, an_environment, gate_plans
from tests.support.plans import a_plan

LOCAL = an_environment("local", case_sensitive=False, worktree=Worktree.DIRTY)
SERVER = an_environment("server", case_sensitive=True)


@pytest.mark.parametrize(
    ("asked", "cells", "seconds"), [(None, 5.0, 60.0), (None, 90.0, 90.0), (7.0, 90.0, 7.0), (0.0, 90.0, 0.0)]
)
def test_causes_are_looked_for_as_long_as_the_cells_took_or_as_asked(asked: float | None, cells: float, seconds: float) -> None:
    assert Budget.of(asked, cells, [a_cell(seconds=1.0)], lambda: 0.0).seconds == seconds


def test_on_a_slow_engine_there_is_time_for_as_many_cells_as_may_be_needed() -> None:
    runs = [a_run("t", seconds=20.0), a_run("u", seconds=10.0)]
    cells = [a_cell(runs=runs, seconds=35.0), a_cell(runs=runs, seconds=22.0, workers=2)]
    assert Budget.of(None, 40.0, cells, lambda: 0.0).seconds == 2 * 16 * (5.0 + 7.0) / 2


def test_the_time_begins_with_the_search() -> None:
    clock = map(float, count(100))
    over = Budget(seconds=2.0, monotonic=lambda: next(clock)).began()(1.0)
    assert [over() for _ in range(3)] == [False, True, True]


@pytest.mark.parametrize("given", ["-1", "-0.5", "nan", "inf", "-inf", "soon"])
@pytest.mark.parametrize("words", [("run",), ("explain", __file__)])
def test_a_time_that_is_no_number_of_seconds_is_a_usage_error(words: tuple[str, ...], given: str) -> None:
    with pytest.raises(UsageError, match="`--explain-budget`"):
        invoke([*words, f"--explain-budget={given}"])


def test_no_seconds_are_none() -> None:
    assert SECONDS.convert("0", None, None) == 0.0


def test_a_mixed_environment_starts_from_an_image_with_its_tree() -> None:
    dirty, clean = CellImage("dirty-image", "d"), CellImage("clean-image", "c")
    images = Images(
        project="shop",
        by_environment={EnvironmentName("local"): dirty, EnvironmentName("server"): clean},
        by_tree={Worktree.DIRTY: dirty, Worktree.CLEAN: clean},
        trees={},
    )
    mixed = environments.hybrid(LOCAL, SERVER, [Axis.WORKTREE], "local+worktree")
    other = environments.hybrid(LOCAL, SERVER, [Axis.CASE_SENSITIVE], "local+case_sensitive")
    assert (images.of(a_plan(mixed)), images.of(a_plan(other))) == (clean, dirty)


def test_a_mixed_environment_has_the_filesystem_of_its_axes_and_what_its_own_tree_shadows() -> None:
    shadowed: dict[Worktree, tuple[str, ...]] = {Worktree.DIRTY: ("a",), Worktree.CLEAN: ("b",)}
    planned = Planned(
        plans=gate_plans(LOCAL, SERVER),
        resolution=Resolution(environments=(LOCAL, SERVER)),
        lacking={},
        nothing={},
        shadowed=shadowed,
    )
    tree = environments.hybrid(LOCAL, SERVER, [Axis.WORKTREE], "local+worktree")
    case = environments.hybrid(LOCAL, SERVER, [Axis.CASE_SENSITIVE], "local+case_sensitive")
    assert planned.filesystem_of(tree) == Filesystem(fold=True, shadowed=("b",))
    assert planned.filesystem_of(case) == Filesystem(fold=False)


def a_divided_world(plan: CellPlan) -> Cell:
    """Act a test that two axes spoil together, and one that a seed spoils."""
    axes = {axis for axis in (Axis.TIMEZONE, Axis.LOCALE) if plan.environment.value(axis) == THERE.value(axis)}
    outcomes = {"coupled": "failed" if len(axes) > 1 else "passed", "unstable": "failed" if plan.seed == 101 else "passed"}
    return a_cell(plan.environment.name, plan.attempt, outcomes, seed=plan.seed, purpose=plan.purpose)


HERE = an_environment("here", timezone="Asia/Tokyo", locale="en_US.UTF-8", umask=0o077)
THERE = an_environment("there")


@pytest.mark.parametrize(("seconds", "explained"), [(5.0, set()), (60.0, {"unstable"}), (300.0, {"coupled", "unstable"})])
def test_what_is_unstable_has_half_of_the_time_where_something_is_coupled(seconds: float, explained: set[str]) -> None:
    now = 0.0

    def run(plans: tuple[CellPlan, ...]) -> tuple[Cell, ...]:
        nonlocal now
        now += sum(8.0 if "+" in plan.environment.name else 1.0 for plan in plans)
        return tuple(a_divided_world(plan) for plan in plans)

    plans = gate_plans(HERE, THERE)
    cells = tuple(a_divided_world(plan) for plan in plans)
    planned = Planned(plans=plans, resolution=Resolution(environments=(HERE, THERE)), lacking={}, nothing={})
    known = Known(
        planned=planned,
        varied=frozenset({Axis.TIMEZONE, Axis.LOCALE, Axis.UMASK}),
        gate=cells,
        confirmation=Confirmation(findings=label(cells), cells=()),
    )
    told = explain(known, run, Budget(seconds=seconds, monotonic=lambda: now))
    assert {each.nodeid for each in told.findings if each.cause is not None} == explained
