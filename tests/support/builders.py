"""Cells, probes, plans and artifacts with defaults, so that a test shows only what it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from paritygate.outcomes.artifact import SCHEMA, Artifact, EnvironmentRecord, Finding, Subject, Verdict
from paritygate.outcomes.cells import Cell, Distribution, EnvironmentName, Failure, NodeId, Probe, TestId, TestRun
from paritygate.outcomes.plans import CellPlan, Environment, Limits, Order, Selection
from paritygate.outcomes.words import Axis, CellStatus, Label, Outcome, Purpose, RunnerName, VerdictName, Worktree

SEEDS = {1: 101, 2: 202}


def a_failure(fingerprint: str = "f1", *, phase: str = "call") -> Failure:
    return Failure(phase=phase, exception="AssertionError", message="assert 1 == 2", fingerprint=fingerprint)


def a_run(nodeid: str, outcome: str = "passed", **changes: Any) -> TestRun:
    return TestRun(nodeid=NodeId(nodeid), outcome=Outcome(outcome), **changes)


def a_broken_file(nodeid: str, fingerprint: str = "import") -> TestRun:
    """Make what a cell records of a file that could not be collected."""
    return a_run(nodeid, "error", failure=a_failure(fingerprint, phase="collect"))


def a_cell(
    env: str = "a", attempt: int = 1, outcomes: Mapping[str, str] | None = None, *, runs: Sequence[TestRun] = (), **changes: Any
) -> Cell:
    """Make a finished gate cell; `outcomes` are by node id, `runs` are added to them as they are."""
    tests = (*(a_run(nodeid, outcome) for nodeid, outcome in (outcomes or {}).items()), *runs)
    cell = Cell(
        env=EnvironmentName(env),
        attempt=attempt,
        seed=SEEDS.get(attempt, 1000 + attempt),
        runner=RunnerName.DOCKER,
        purpose=Purpose.GATE,
        status=CellStatus.FINISHED,
        returncode=0,
        passed=all(run.outcome.green for run in tests),
        collected=len(tests),
        order={"": tuple(run.test for run in tests)},
        tests=tests,
    )
    return msgspec.structs.replace(cell, **changes)


def a_square(outcomes: Mapping[str, str], nodeid: str = "t") -> tuple[Cell, ...]:
    """Make the cells in which one test has these outcomes, written as `{"a": "passed failed", ...}` by attempt."""
    return tuple(
        a_cell(env, attempt, {nodeid: outcome})
        for env, words in outcomes.items()
        for attempt, outcome in enumerate(words.split(), start=1)
    )


def a_probe(**changes: Any) -> Probe:
    probe = Probe(
        python="3.11.2",
        implementation="CPython",
        platform="Linux-x86_64",
        libc="glibc 2.36",
        tzdata="2024b",
        timezone="UTC",
        utcoffset_january=0,
        utcoffset_july=0,
        local_date="2024-05-01",
        utc_date="2024-05-01",
        locale="C.UTF-8",
        encoding="utf-8",
        utf8_mode=False,
        collation=("B", "a"),
        decimal_point=".",
        case_sensitive=(True, True, True),
        cpus=2.0,
        memory=0,
        hash_of_string=1,
        hash_seed="101",
        uid=1000,
        gid=1000,
        home="/parity/home",
        umask=0o022,
        hostname="paritygate",
        capabilities="0",
        no_new_privileges=True,
        limits={"nofile": (65536, 65536)},
        filesystems={"/parity/workspace": "overlay"},
        sentinel="s",
        variables=("HOME", "LC_ALL", "TZ"),
        distributions=(Distribution("pluggy", "1.5.0"), Distribution("pytest", "8.3.4")),
    )
    return msgspec.structs.replace(probe, **changes)


def a_far_probe(**changes: Any) -> Probe:
    """Make a probe from eight hours ahead of `a_probe`."""
    return a_probe(timezone="Asia/Shanghai", utcoffset_january=28800, utcoffset_july=28800, **changes)


def an_environment(name: str = "a", **changes: Any) -> Environment:
    environment = Environment(
        name=EnvironmentName(name), timezone="UTC", locale="C.UTF-8", case_sensitive=None, workers=0, worktree=Worktree.CLEAN
    )
    return msgspec.structs.replace(environment, **changes)


def gate_plans(*environments: Environment, attempts: int = 2) -> tuple[CellPlan, ...]:
    """Plan a gate: every environment and attempt, the second in the reverse order of the first."""
    return tuple(
        CellPlan(
            environment=environment,
            attempt=attempt,
            seed=SEEDS.get(attempt, 1000 + attempt),
            order=Order(seed=7, reversed=attempt % 2 == 0),
            purpose=Purpose.GATE,
            selection=Selection(),
            limits=Limits(),
        )
        for environment in environments
        for attempt in range(1, attempts + 1)
    )


def a_record(name: str = "a", axes: Mapping[str, str] | None = None) -> EnvironmentRecord:
    return EnvironmentRecord(name=EnvironmentName(name), axes={Axis(axis): value for axis, value in (axes or {}).items()})


def a_subject(**changes: Any) -> Subject:
    subject = Subject(project="shop", commit="c0ffee", trees={"dirty": "d1", "clean": "c1"}, selection=("tests",))
    return msgspec.structs.replace(subject, **changes)


def a_finding(
    nodeid: str = "t", label: str = "consistent-green", outcomes: Mapping[str, str] | None = None, **changes: Any
) -> Finding:
    """Make a finding; outcomes are written as `{"a": "passed failed", ...}` by attempt."""
    words = {"a": "passed passed", "b": "passed passed"} if outcomes is None else outcomes
    finding = Finding(
        nodeid=NodeId(nodeid),
        label=Label(label),
        outcomes={EnvironmentName(env): tuple(Outcome(word) for word in text.split()) for env, text in words.items()},
    )
    return msgspec.structs.replace(finding, **changes)


def an_artifact(**changes: Any) -> Artifact:
    """Make the artifact of a green gate with one test."""
    artifact = Artifact(
        schema=SCHEMA,
        paritygate="0.1.0",
        created="2024-05-01T12:00:00+00:00",
        verdict=Verdict(name=VerdictName.PARITY, exit_code=0, axes=(Axis.TIMEZONE,), line="parity over timezone"),
        subject=a_subject(),
        environments=(a_record("a", {"timezone": "Asia/Shanghai"}), a_record("b", {"timezone": "UTC"})),
        axes=(),
        images={},
        cells=a_square({"a": "passed passed", "b": "passed passed"}),
        tests=(a_finding(),),
        labels={Label.CONSISTENT_GREEN: 1},
    )
    return msgspec.structs.replace(artifact, **changes)


def ids(*nodeids: str) -> tuple[TestId, ...]:
    return tuple(TestId(NodeId(nodeid)) for nodeid in nodeids)
