"""Artifacts of sweeps over three zones."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from paritygate.outcomes.artifact import Artifact, Cause, Finding, Side
from paritygate.outcomes.cells import EnvironmentName
from paritygate.outcomes.sweeps import Clause, Rule, Sweep, SweptValue
from paritygate.outcomes.words import Axis, CauseKind, Outcome
from tests.support.builders import a_finding, an_artifact

ZONES = ("UTC", "Asia/Kolkata", "America/New_York")


def a_value(value: str, **changes: str) -> SweptValue:
    return SweptValue(value=value, env=EnvironmentName(value), why="since it is there", **changes)


def a_coupled_test(name: str, failing: str) -> Finding:
    outcomes = {zone: "failed failed" if zone == failing else "passed passed" for zone in ZONES}
    cause = Cause(kind=CauseKind.AXIS, axes=(Axis.TIMEZONE,), detail=f"fails in `{failing}`, passes elsewhere (2)")
    quiet = [Side(env=EnvironmentName(zone), attempts=(1, 2), outcome=Outcome.PASSED) for zone in ZONES if zone != failing]
    red = Side(
        env=EnvironmentName(failing),
        attempts=(1, 2),
        outcome=Outcome.FAILED,
        file="test_z.py",
        line=3,
        exception="E",
        message=name,
    )
    return msgspec.structs.replace(a_finding(f"test_z.py::{name}", "coupling", outcomes), cause=cause, sides=(red, *quiet))


def of_rules(*tests: tuple[str, str], more: Sequence[Finding] = (), values: Sequence[SweptValue] = ()) -> Artifact:
    """Make a sweep over zones in which each test fails under one of them."""
    findings = tuple(a_coupled_test(name, zone) for name, zone in tests)
    rules = tuple(
        Rule(
            nodeid=each.nodeid,
            clauses=(Clause(outcome=Outcome.FAILED, values=(zone,)),),
            elsewhere=Outcome.PASSED,
            others=2,
            text=each.cause.detail if each.cause is not None else "",
        )
        for each, (_, zone) in zip(findings, tests, strict=True)
    )
    sweep = Sweep(axis=Axis.TIMEZONE, values=(*(a_value(zone) for zone in ZONES), *values), rules=rules)
    return an_artifact(tests=(*findings, *more), sweeps=(sweep,))
