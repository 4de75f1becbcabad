"""A run as JUnit XML: one suite for each cell of the gate, so that every result is where it was, and none is made up.

What a test did elsewhere in the same environment is told as Surefire tells reruns: where it passes here and failed in another
attempt it has a `flakyFailure`, where it fails here and there a `rerunFailure`. Readers then count the environment as flaky.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

import msgspec

from paritygate.outcomes.artifact import Artifact, Finding
from paritygate.outcomes.cells import Cell, EnvironmentName, Failure, TestId, TestRun
from paritygate.outcomes.words import CellStatus, Outcome, Purpose
from paritygate.reports.causes import in_a_line
from paritygate.reports.deaths import name
from paritygate.reports.ranking import ranked, reproduction
from paritygate.reports.text import STYLING

MOST_TEXT = 10_000
"""How many characters of a traceback or an output a test has: a suite that is red as a whole has many of them."""
ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, not even escaped."""
BROKEN = frozenset({Outcome.ERROR, Outcome.CRASHED, Outcome.TIMED_OUT})
QUIET = frozenset({Outcome.SKIPPED, Outcome.XFAILED})

Elsewhere = dict[TestId, list[tuple[Cell, TestRun]]]


class Case(msgspec.Struct, frozen=True):
    """One test in one cell: how it is counted (`failure`, `error`, `skipped`, or empty) and its lines."""

    kind: str
    lines: tuple[str, ...]


class Known(msgspec.Struct, frozen=True):
    """What is known of tests beside a cell's own: findings that ask for something, and runs in each environment."""

    findings: Mapping[TestId, Finding]
    runs: Mapping[EnvironmentName, Elsewhere]
    report: str


def render(artifact: Artifact, report: str = "") -> str:
    """Write the XML. `report` is the path of the artifact as commands are to have it, empty where it lies nowhere."""
    gate = [cell for cell in artifact.cells if cell.purpose is Purpose.GATE]
    known = Known(
        {TestId(each.nodeid, each.occurrence): each for each in ranked(artifact)},
        _by_environment(gate),
        report if artifact.material is not None else "",
    )
    axes = {record.name: record.axes for record in artifact.environments}
    suites: list[str] = []
    counts = [0, 0, 0]
    for cell in gate:
        cases = [_case(cell, run, known) for run in cell.tests]
        numbers = (len(cases), *(sum(case.kind == kind for case in cases) for kind in ("failure", "error")))
        died = cell.status not in {CellStatus.FINISHED, CellStatus.NO_TESTS}
        numbers = (numbers[0] + died, numbers[1], numbers[2] + died)
        counts = [count + number for count, number in zip(counts, numbers, strict=True)]
        properties = {str(axis): value for axis, value in axes.get(cell.env, {}).items()}
        suites += _suite(artifact, cell, cases, properties)
    head = _tag("testsuites", {"name": f"paritygate {artifact.verdict.name}", **_numbers(counts)})
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', f"<{head}>", *suites, "</testsuites>", ""])


def _numbers(counts: Sequence[int]) -> dict[str, str]:
    return dict(zip(("tests", "failures", "errors"), map(str, counts), strict=True))


def _by_environment(gate: Sequence[Cell]) -> dict[EnvironmentName, Elsewhere]:
    """Gather by environment the runs that are not green: what else happened to a test there."""
    found: dict[EnvironmentName, Elsewhere] = {}
    for cell in gate:
        tests = found.setdefault(cell.env, {})
        for run in cell.tests:
            if not run.outcome.green:
                tests.setdefault(run.test, []).append((cell, run))
    return found


def _suite(artifact: Artifact, cell: Cell, cases: Sequence[Case], axes: Mapping[str, str]) -> Iterator[str]:
    died = _died(cell)
    attributes = {
        "name": name(cell),
        "tests": str(len(cases) + len(died)),
        "failures": str(sum(case.kind == "failure" for case in cases)),
        "errors": str(sum(case.kind == "error" for case in cases) + len(died)),
        "skipped": str(sum(case.kind == "skipped" for case in cases)),
        "time": f"{max(cell.seconds, 0.0):.3f}",
        "timestamp": cell.started,
        "hostname": cell.probe.hostname if cell.probe is not None else "",
    }
    yield f"  <{_tag('testsuite', {key: value for key, value in attributes.items() if value})}>"
    facts = {
        "environment": cell.env,
        "attempt": str(cell.attempt),
        "seed": str(cell.seed),
        "status": cell.status,
        "verdict": artifact.verdict.name,
        **{f"axis.{axis}": value for axis, value in axes.items()},
    }
    yield "    <properties>"
    for key, value in facts.items():
        yield f"      <{_tag('property', {'name': key, 'value': value})}/>"
    yield "    </properties>"
    for case in cases:
        yield from case.lines
    yield from died
    if cell.stderr_tail:
        yield f"    <system-err>{_text(cell.stderr_tail)}</system-err>"
    yield "  </testsuite>"


def _died(cell: Cell) -> tuple[str, ...]:
    """Tell of a cell that did not finish as a test of its own, or readers would see nothing but tests that passed."""
    if cell.status in {CellStatus.FINISHED, CellStatus.NO_TESTS}:
        return ()
    running = ", ".join(test.nodeid for test in cell.running)
    message = f"{cell.detail or cell.status}{f', while running {running}' if running else ''}"
    error = _tag("error", {"type": cell.status, "message": message})
    head = _tag("testcase", {"classname": "paritygate", "name": f"cell {name(cell)}", "time": "0.000"})
    return (f"    <{head}>\n      <{error}/>\n    </testcase>",)


def _case(cell: Cell, run: TestRun, known: Known) -> Case:
    file, _, rest = run.nodeid.partition("::")
    path, _, test = rest.rpartition("::") if "[" not in rest else _parted(rest)
    attributes = {
        "classname": ".".join(part for part in (file.removesuffix(".py").replace("/", "."), path.replace("::", ".")) if part),
        "name": f"{test or file}{f' (number {run.occurrence + 1})' if run.occurrence else ''}",
        "time": f"{max(run.seconds, 0.0):.3f}",
    }
    kind = _kind(run.outcome)
    inside = [*_result(run, kind), *_reruns(cell, run, known), *_outputs(run, known.findings.get(run.test), known.report)]
    head = _tag("testcase", attributes)
    if not inside:
        return Case(kind, (f"    <{head}/>",))
    return Case(kind, (f"    <{head}>", *(f"      {line}" for line in inside), "    </testcase>"))


def _parted(rest: str) -> tuple[str, str, str]:
    """Part a name from its classes where its parameters may hold `::` too."""
    plain, bracket, parameters = rest.partition("[")
    path, separator, test = plain.rpartition("::")
    return path, separator, test + bracket + parameters


def _kind(outcome: Outcome) -> str:
    if outcome in QUIET:
        return "skipped"
    if outcome in BROKEN:
        return "error"
    return "" if outcome.green else "failure"


def _result(run: TestRun, kind: str) -> Iterator[str]:
    match kind:
        case "":
            return
        case "skipped":
            what = "pytest.xfail" if run.outcome is Outcome.XFAILED else "pytest.skip"
            yield f"<{_tag('skipped', {'type': what, 'message': run.reason})}/>"
        case _:
            head = _tag(kind, {"type": _type(run), "message": _message(run)})
            yield f"<{head}>{_text(run.failure.text)}</{kind}>" if run.failure is not None else f"<{head}/>"


def _reruns(cell: Cell, run: TestRun, known: Known) -> Iterator[str]:
    """Tell of the failures in the other attempts of the environment, in Surefire's words."""
    word = "flaky" if run.outcome.green else "rerun"
    for other, failed in known.runs.get(cell.env, {}).get(run.test, ()):
        if other is not cell and run.outcome not in QUIET:
            kind = f"{word}{'Error' if failed.outcome in BROKEN else 'Failure'}"
            # Its traceback stands in the other attempt's own suite.
            yield f"<{_tag(kind, {'message': f'attempt {other.attempt}: {_message(failed)}', 'type': _type(failed)})}/>"


def _outputs(run: TestRun, finding: Finding | None, report: str) -> Iterator[str]:
    said = [run.output] if run.output else []
    if finding is not None:
        said.append(f"label: {finding.label}")
        if finding.cause is not None:
            said.append(f"cause: {in_a_line(finding.cause)}")
        if command := reproduction(finding, report):
            said.append(f"to reproduce: {command}")
    if said:
        text = "\n".join(said)
        yield f"<system-out>{_text(text)}</system-out>"


def _type(run: TestRun) -> str:
    return run.failure.exception if run.failure is not None and run.failure.exception else str(run.outcome)


def _message(run: TestRun) -> str:
    failure: Failure | None = run.failure
    return failure.message if failure is not None and failure.message else str(run.outcome)


def _tag(element: str, attributes: Mapping[str, str]) -> str:
    return element + "".join(f" {key}={quoteattr(_legal(value))}" for key, value in attributes.items())


def _text(text: str) -> str:
    return escape(_legal(text))


def _legal(text: str) -> str:
    """Replace what XML cannot hold by what it is called, leave colours out, and cut what is longer than anybody reads."""
    plain = STYLING.sub("", text)
    if len(plain) > MOST_TEXT:
        plain = f"{plain[:MOST_TEXT]}\n[... {len(plain) - MOST_TEXT} characters are in the artifact ...]"
    return ILLEGAL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), plain)
