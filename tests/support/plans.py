"""A cell's plan with defaults, so that a test shows only what it is about."""

from __future__ import annotations

from typing import Any

from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.plans import CellPlan, Environment, Limits, Order, Selection
from paritygate.outcomes.words import Purpose, Worktree


def an_environment(**values: Any) -> Environment:
    settings: dict[str, Any] = {
        "name": EnvironmentName("here"),
        "timezone": "UTC",
        "locale": "C.UTF-8",
        "case_sensitive": None,
        "workers": 0,
        "worktree": Worktree.CLEAN,
        **values,
    }
    return Environment(**settings)


def a_plan(environment: Environment | None = None, **values: Any) -> CellPlan:
    settings: dict[str, Any] = {
        "environment": environment or an_environment(),
        "attempt": 1,
        "seed": 7,
        "order": Order(seed=3),
        "purpose": Purpose.GATE,
        "selection": Selection(paths=("tests",)),
        "limits": Limits(cell_seconds=120.0, test_seconds=30.0, idle_seconds=60.0),
        **values,
    }
    return CellPlan(**settings)
