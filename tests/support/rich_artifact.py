"""An artifact that has something of everything that a report can tell, and one of as many tests as are asked for.

Labels and verdict are not written down: they follow from the cells, as in a gate.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from paritygate import archive
from paritygate.archive import CellFile
from paritygate.classifier.labels import counts, excluded, label
from paritygate.classifier.sides import laid_side_by_side
from paritygate.classifier.verdicts import Facts, verdict
from paritygate.outcomes.artifact import (
    SCHEMA,
    Artifact,
    Cause,
    CellImage,
    Changed,
    EnvironmentRecord,
    FileFact,
    Finding,
    Freeze,
    Material,
    Subject,
    TouchedFile,
    Varied,
)
from paritygate.outcomes.cells import (
    Cell,
    Dates,
    Distribution,
    EnvironmentName,
    Failure,
    NodeId,
    Probe,
    Rewritten,
    Spelling,
    TestId,
    TestRun,
)
from paritygate.outcomes.hazards import Hazard, HazardKind
from paritygate.outcomes.plans import Selection
from paritygate.outcomes.words import Axis, CauseKind, FileState, FreezeState, Label, Outcome, Purpose, Touching, Worktree
from tests.support.builders import a_cell, a_probe, an_environment, gate_plans

LOCAL = EnvironmentName("local-like")
SERVER = EnvironmentName("server-like")
TODAY = NodeId("tests/test_invoices.py::test_an_invoice_is_dated_today")
HEADER = NodeId("tests/test_invoices.py::test_an_invoice_has_a_header")
RATES = NodeId("tests/test_rates.py::test_the_rates_are_known")
SORTED = NodeId("tests/test_words.py::test_words_are_sorted[de]")
CURRENCY = NodeId("tests/test_settings.py::test_the_default_currency_is_euro")
POLLUTER = NodeId("tests/test_settings.py::test_the_currency_can_be_changed")
RETRY = NodeId("tests/test_clock.py::test_a_retry_waits_long_enough")
TOTAL = NodeId("tests/test_total.py::TestTotal::test_of_two")
FLAKY = NodeId("tests/test_api.py::test_retries")
SKIPPED = NodeId("tests/test_total.py::test_on_windows")
GPU = NodeId("tests/test_model.py::test_on_a_gpu")
GREEN = tuple(NodeId(f"tests/test_prices.py::test_a_price_is_rounded[{number}]") for number in range(1, 13))

RECORDS = (
    EnvironmentRecord(
        name=LOCAL,
        axes={
            Axis.TIMEZONE: "America/Los_Angeles",
            Axis.LOCALE: "en_US.UTF-8",
            Axis.CASE_SENSITIVE: "false",
            Axis.WORKERS: "0",
            Axis.WORKTREE: "dirty",
            Axis.UMASK: "022",
        },
        image="paritygate/shop-tree:64fb25d4e01328d4e11b",
    ),
    EnvironmentRecord(
        name=SERVER,
        axes={
            Axis.TIMEZONE: "UTC",
            Axis.LOCALE: "C.UTF-8",
            Axis.CASE_SENSITIVE: "true",
            Axis.WORKERS: "2",
            Axis.WORKTREE: "clean",
            Axis.UMASK: "022",
        },
        image="paritygate/shop-tree:2c8b5fdddeb8f97c436d",
    ),
)
AXES = (
    *(Varied(axis=axis, varied=True) for axis in (Axis.TIMEZONE, Axis.LOCALE, Axis.CASE_SENSITIVE, Axis.WORKERS, Axis.WORKTREE)),
    Varied(axis=Axis.UMASK, varied=False, why="`022` everywhere"),
)
SUBJECT = Subject(
    project="shop",
    commit="ca7feddd2205b5fe4080b6c31e6c8b3da5ae37cf",
    trees={"dirty": "d12ad9c3f61c4329" * 4, "clean": "5be1d0ffb1c0a6a9" * 4},
    selection=("tests", "-m", "not slow"),
    withheld=(".env",),
    mismatched_names=("`shop/models.py` in git is `shop/Models.py` on disk (case)",),
)


def a_failure(exception: str, message: str, place: tuple[str, int, str], way: str = "f1", phase: str = "call") -> Failure:
    file, line, source = place
    text = f"    def {source.split('(')[0].strip()}():\n>       {source}\nE       {message}\n\n{file}:{line}: {exception}"
    return Failure(
        phase=phase, exception=exception, message=message, fingerprint=way, file=file, line=line, source=source, text=text
    )


DATED = a_failure(
    "AssertionError",
    "AssertionError: assert datetime.date(2026, 11, 29) == datetime.date(2026, 11, 30)",
    ("tests/test_invoices.py", 8, 'assert invoice(1)["date"] == datetime.now(timezone.utc).date()'),
)
UNREAD = a_failure(
    "FileNotFoundError",
    "FileNotFoundError: [Errno 2] No such file or directory: '/parity/workspace/tests/data/Header.txt'",
    ("tests/test_invoices.py", 12, '(DATA / "Header.txt").read_text()'),
)
NO_RATES = a_failure(
    "FileNotFoundError",
    "FileNotFoundError: [Errno 2] No such file or directory: 'data/rates.json'",
    ("shop/rates.py", 5, 'json.loads(Path("data/rates.json").read_text())'),
)
UNSORTED = a_failure(
    "AssertionError",
    "AssertionError: assert ['Zebra', 'apfel', 'Äpfel'] == ['apfel', 'Äpfel', 'Zebra']\n\n  At index 0 diff: 'Zebra' != 'apfel'",
    ("tests/test_words.py", 21, "assert sorted(words, key=strxfrm) == expected"),
)
NO_LOCALE = a_failure(
    "locale.Error",
    "locale.Error: unsupported locale setting",
    ("tests/conftest.py", 7, 'locale.setlocale(locale.LC_COLLATE, "de_DE.UTF-8")'),
    phase="setup",
)
DOLLAR = a_failure(
    "AssertionError",
    "AssertionError: assert 'USD' == 'EUR'\n  - EUR\n  + USD",
    ("tests/test_settings.py", 14, 'assert settings.currency == "EUR"'),
)
EARLY = a_failure("AssertionError", "AssertionError: assert 0.0098 >= 0.01", ("tests/test_clock.py", 9, "assert waited >= 0.01"))
THREE = a_failure("AssertionError", "AssertionError: assert 3 == 4", ("tests/test_total.py", 6, "assert total(2, 2) == 4"), "f3")
FIVE = a_failure("AssertionError", "AssertionError: assert 5 == 4", ("tests/test_total.py", 6, "assert total(2, 2) == 4"), "f5")
REFUSED = a_failure("ConnectionError", "ConnectionError: refused", ("tests/test_api.py", 30, "client.get(url)"), "0f" * 8)

Did = Mapping[NodeId, Outcome | tuple[Outcome, Failure]]
P, F, E = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR


def did(env: str, attempt: int) -> dict[NodeId, Outcome | tuple[Outcome, Failure]]:
    """Say what every test does in a cell of the gate."""
    local, first = env == LOCAL, attempt % 2 == 1
    return {
        TODAY: (F, DATED) if local else P,
        HEADER: P if local else (F, UNREAD),
        RATES: P if local else (F, NO_RATES),
        SORTED: (F, UNSORTED) if local else (E, NO_LOCALE),
        POLLUTER: P,
        CURRENCY: (F, DOLLAR) if local and not first else P,
        RETRY: (F, EARLY) if first else P,
        TOTAL: (F, THREE if local else FIVE),
        FLAKY: (F, REFUSED) if not local and first else P,
        SKIPPED: Outcome.SKIPPED,
        **dict.fromkeys(GREEN, P),
    }


def a_rich_cell(env: EnvironmentName, attempt: int, purpose: Purpose = Purpose.GATE, start: int = 0, **changes: object) -> Cell:
    """Make a cell in which the tests run one after the other, on two workers in the server-like environment."""
    workers = ("",) if env == LOCAL else ("gw0", "gw1")
    clock = dict.fromkeys(workers, 0.4)
    runs = []
    for number, (nodeid, done) in enumerate(did(env, attempt).items()):
        outcome, failure = (done, None) if isinstance(done, Outcome) else done
        worker, seconds = workers[number % len(workers)], 0.12 + 0.04 * (number % 5)
        runs.append(
            TestRun(
                nodeid=nodeid,
                outcome=outcome,
                worker=worker,
                began=round(clock[worker], 3),
                seconds=round(seconds, 3),
                failure=failure,
                reason="needs Windows" if outcome is Outcome.SKIPPED else "",
                output="connecting to 127.0.0.1:8099\n" if nodeid == FLAKY else "",
                spellings=(Spelling("tests/data/Header.txt", "tests/data/header.txt"),)
                if nodeid == HEADER and env == LOCAL
                else (),
            )
        )
        clock[worker] += seconds + 0.02
    cell = a_cell(
        env,
        attempt,
        runs=runs,
        purpose=purpose,
        started=f"2026-11-30T04:09:{start:02}+00:00",
        seconds=round(max(clock.values()) + 0.6, 3),
        workers=0 if env == LOCAL else 2,
        excluded={GPU: "needs a GPU"},
        neutralised=("--cov",),
        probe=a_rich_probe(env, attempt),
        dates=(Dates("2026-11-29" if env == LOCAL else "2026-11-30", "2026-11-30"),),
        order={worker: tuple(run.test for run in runs if run.worker == worker) for worker in workers},
    )
    return msgspec.structs.replace(cell, **changes)


def a_rich_probe(env: EnvironmentName, attempt: int) -> Probe:
    probe = a_probe(
        sentinel=SUBJECT.trees["dirty" if env == LOCAL else "clean"],
        hash_seed=str(attempt * 101),
        distributions=(Distribution("pluggy", "1.5.0"), Distribution("pytest", "8.3.4"), Distribution("pytest-xdist", "3.6.1")),
    )
    if env == SERVER:
        return msgspec.structs.replace(probe, local_date="2026-11-30", utc_date="2026-11-30")
    return msgspec.structs.replace(
        probe,
        timezone="America/Los_Angeles",
        utcoffset_january=-28800,
        utcoffset_july=-25200,
        local_date="2026-11-29",
        utc_date="2026-11-30",
        locale="en_US.UTF-8",
        collation=("a", "B"),
        case_sensitive=(False, False, False),
        filesystems={"/parity/workspace": "fuse"},
    )


def only(cell: Cell, *nodeids: NodeId, **changes: object) -> Cell:
    """Cut a cell down to some tests."""
    runs = tuple(run for run in cell.tests if run.nodeid in nodeids)
    return msgspec.structs.replace(cell, tests=runs, about=tuple(run.test for run in runs), **changes)


MIXED = (
    (TODAY, "server-like+timezone", LOCAL),
    (HEADER, "local-like+case_sensitive", SERVER),
    (RATES, "local-like+worktree", SERVER),
)
"""Which coupling was run in which mixed environment, and in which of the two it did the same."""


def rich_cells() -> tuple[Cell, ...]:
    gate = (
        a_rich_cell(LOCAL, 1, start=10),
        a_rich_cell(LOCAL, 2, start=10),
        a_rich_cell(SERVER, 1, start=13),
        a_rich_cell(
            SERVER, 2, start=14, rewritten=(Rewritten(path="tests/data/prices.json", what="changed", tests=(TestId(GREEN[0]),)),)
        ),
    )
    further = tuple(
        only(a_rich_cell(env, attempt, Purpose.CONFIRM, start=16 + attempt), TODAY, HEADER, RATES, SORTED)
        for attempt in range(3, 8)
        for env in (LOCAL, SERVER)
    )
    hybrids = tuple(
        only(a_rich_cell(like, attempt, Purpose.HYBRID, start=24 + attempt), nodeid, env=EnvironmentName(mixed))
        for nodeid, mixed, like in MIXED
        for attempt in (1, 2)
    )
    return (*gate, *further, *hybrids)


CAUSES: dict[NodeId, Cause] = {
    TODAY: Cause(
        kind=CauseKind.AXIS,
        axes=(Axis.TIMEZONE,),
        ways=((Axis.TIMEZONE,),),
        detail="server-like with local-like's timezone fails, 2 of 2; local-like with server-like's passes, 2 of 2",
    ),
    HEADER: Cause(
        kind=CauseKind.AXIS,
        axes=(Axis.CASE_SENSITIVE,),
        ways=((Axis.CASE_SENSITIVE,),),
        files=("tests/data/header.txt",),
        file_facts={"tests/data/header.txt": FileFact(state=FileState.SPELLED, other="tests/data/Header.txt")},
        detail="local-like with server-like's case_sensitive fails, 2 of 2; server-like with local-like's passes, 2 of 2",
    ),
    RATES: Cause(
        kind=CauseKind.AXIS,
        axes=(Axis.WORKTREE,),
        ways=((Axis.WORKTREE,),),
        files=("data/rates.json",),
        file_facts={"data/rates.json": FileFact(state=FileState.IGNORED, rule=".gitignore:3", touched=(Touching.OPENED,))},
        detail="local-like with server-like's worktree fails, 2 of 2; server-like with local-like's passes, 2 of 2",
    ),
    CURRENCY: Cause(
        kind=CauseKind.ORDER,
        polluters=(POLLUTER,),
        rate=(6, 6),
        detail=f"fails after `{POLLUTER}` (6 of 6), passes without (6 of 6)",
    ),
    RETRY: Cause(
        kind=CauseKind.CHANCE,
        rate=(3, 6),
        detail="changes though nothing else does: attempt 1 of local-like, run again as it was, fails 3 of 6 times",
    ),
}
HAZARD = Hazard(
    kind=HazardKind.NAIVE_CLOCK,
    file="shop/invoices.py",
    line=4,
    column=12,
    what="`date.today()` is the date where the process runs",
    why="a day begins at another moment in each zone",
    instead="hand in the moment, or `datetime.now(UTC).date()`",
    axes=(Axis.TIMEZONE,),
    function="invoice",
)


def explained(finding: Finding) -> Finding:
    """Say of a finding what a gate finds out afterwards."""
    return msgspec.structs.replace(
        finding, cause=CAUSES.get(finding.nodeid), hazards=(HAZARD,) if finding.nodeid == TODAY else ()
    )


def rich_artifact(folder: Path) -> Artifact:
    """Make the artifact: its cells are classified from a file in this folder, as those of any machine would be."""
    path = folder / "cells.json"
    file = CellFile(schema=SCHEMA, paritygate="0.1.0", subject=SUBJECT, cells=rich_cells(), environments=RECORDS)
    file = msgspec.structs.replace(file, planned={LOCAL: 2, SERVER: 2})
    archive.write(file, path)
    artifact = archive.classify([path], "0.1.0")
    findings = tuple(explained(finding) for finding in artifact.tests)
    gate = tuple(cell for cell in artifact.cells if cell.purpose is Purpose.GATE)
    facts = Facts(cells=gate, varied=AXES, excluded=1, frozen=frozenset({TestId(FLAKY)}))
    local = an_environment(
        LOCAL, timezone="America/Los_Angeles", locale="en_US.UTF-8", case_sensitive=False, worktree=Worktree.DIRTY
    )
    plans = tuple(
        msgspec.structs.replace(plan, selection=Selection(paths=("tests",), marker="not slow"))
        for plan in gate_plans(local, an_environment(SERVER, case_sensitive=True, workers=2))
    )
    return msgspec.structs.replace(
        artifact,
        created="2026-11-30T04:12:00+00:00",
        axes=AXES,
        tests=findings,
        verdict=verdict(findings, facts),
        freezes={
            FLAKY: Freeze(
                owner="@team/api", expires="2027-01-31", reason="the service drops calls, see 42", state=FreezeState.LET_THROUGH
            )
        },
        engine={"name": "Docker Engine", "version": "20.10.24", "platform": "linux/amd64"},
        timings={"snapshot": 0.7, "images": 12.5, "cells": 8.2, "confirm": 14.1, "causes": 75.0, "total": 110.5},
        material=Material(plans=plans, images={LOCAL: CellImage(name="paritygate/shop-tree:64fb", identity="sha256:aa")}),
        changed=Changed(
            base="ca7feddd2205b5fe4080b6c31e6c8b3da5ae37cf",
            files={
                "shop/invoices.py": TouchedFile(tests=("tests/test_invoices.py",)),
                "README.md": TouchedFile(why="nothing reads it"),
            },
            tests=("tests/test_invoices.py",),
            known=9,
        ),
    )


def large_artifact(tests: int) -> Artifact:
    """Make an artifact of 4 cells with so many tests: every 500th is coupled, every 700th unstable, every 900th red."""
    cells = tuple(_large_cell(env, attempt, tests) for env in (LOCAL, SERVER) for attempt in (1, 2))
    findings = laid_side_by_side(label(cells), cells)
    left_out = excluded(cells)
    return Artifact(
        schema=SCHEMA,
        paritygate="0.1.0",
        created="2026-11-30T04:12:00+00:00",
        verdict=verdict(findings, Facts(cells=cells, varied=AXES)),
        subject=SUBJECT,
        environments=RECORDS,
        axes=AXES,
        images={},
        cells=cells,
        tests=findings,
        labels=counts(findings, left_out),
    )


def _large_cell(env: EnvironmentName, attempt: int, tests: int) -> Cell:
    workers = ("",) if env == LOCAL else ("gw0", "gw1")
    runs = []
    for number in range(tests):
        red = number % 900 == 0 or (number % 500 == 0 and env == LOCAL) or (number % 700 == 0 and attempt == 1)
        runs.append(
            TestRun(
                nodeid=NodeId(f"tests/part_{number // 1000}/test_module_{number // 50}.py::TestThing::test_case[{number}]"),
                outcome=F if red else P,
                worker=workers[number % len(workers)],
                began=0.5 + 0.01 * (number // len(workers)),
                seconds=0.009,
                failure=THREE if red else None,
            )
        )
    return a_cell(
        env,
        attempt,
        runs=runs,
        started=f"2026-11-30T04:1{attempt}:00+00:00",
        seconds=0.01 * tests,
        probe=a_rich_probe(env, attempt),
    )


def labelled(artifact: Artifact, wanted: Label) -> list[NodeId]:
    """List the tests with a label."""
    return [finding.nodeid for finding in artifact.tests if finding.label is wanted]
