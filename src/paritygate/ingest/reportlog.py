"""A file of pytest-reportlog: one JSON object a line, every report of every phase, the end of the session last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from paritygate.errors import UsageError
from paritygate.ingest.found import Found, broken_file, failure, worst
from paritygate.outcomes.cells import NodeId, TestRun
from paritygate.outcomes.words import Outcome, ResultFormat

SUBTESTS = frozenset({"SubTestReport", "SubtestReport"})
WHOLE = frozenset({0, 1, 5})
"""Exit statuses of pytest after which nothing was left to run, unless it was told to stop early."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The part of any line that counts here."""

    kind: str = msgspec.field(name="$report_type", default="")
    subtype: str = msgspec.field(name="_report_type", default="")
    nodeid: str = ""
    outcome: str = ""
    when: str | None = None
    wasxfail: str | None = None
    longrepr: Any = None
    duration: float = 0.0
    exitstatus: int | None = None
    result: tuple[dict[str, Any], ...] | None = None
    worker_id: str = ""


def read(content: bytes) -> Found:
    """Read a report log, the last line of which may be cut off; raises `UsageError` for what is none."""
    reports = _reports(content.replace(b"\x00", b"").splitlines())
    tests: dict[str, list[Report]] = {}
    for each in reports:
        if each.when is not None:
            tests.setdefault(each.nodeid, []).append(each)
    if not _begins(reports) and tests:
        tests.pop(next(iter(tests)))  # parts of it may have been told before
    known = [run for nodeid, phases in tests.items() if (run := _run(nodeid, phases)) is not None]
    wholes = [run for each in reports if each.kind == "CollectReport" and (run := _file(each)) is not None]
    status = next((each.exitstatus for each in reports if each.exitstatus is not None), None)
    runs = (*known, *{run.nodeid: run for run in wholes}.values())
    listed = {item["nodeid"] for each in reports for item in each.result or () if "nodeid" in item and "::" in item["nodeid"]}
    return Found(
        format=ResultFormat.REPORTLOG,
        tests=runs,
        names=tuple((run.nodeid,) for run in runs),
        lacking=_lacking(status, len(tests) - len(known), _left(listed, tests))
        if _begins(reports)
        else "its beginning is missing",
        collected=len(tests),
        returncode=status,
        workers=len({each.worker_id for each in reports if each.worker_id}),
    )


def _reports(lines: Sequence[bytes]) -> list[Report]:
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            found.append(msgspec.json.decode(line, type=Report))
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            if line.strip() and number < len(lines):
                raise UsageError(
                    f"line {number} is no line of a report log: {error}", "give the file as pytest wrote it"
                ) from error
    if not any(each.kind for each in found):
        raise UsageError("it has no line of a report log", "give the file that `--report-log` names")
    return found


def _begins(reports: Sequence[Report]) -> bool:
    return reports[0].kind == "SessionStart"


def _left(listed: set[str], tests: dict[str, list[Report]]) -> int:
    """Count what was collected and never ran; of classes and packages nothing runs itself."""
    above = {nodeid.rpartition("::")[0] for nodeid in listed}
    return len(listed - tests.keys() - above)


def _lacking(status: int | None, unfinished: int, left: int) -> str:
    if status is None:
        return "it ends before the session's end"
    if status not in WHOLE:
        return f"pytest ended with status {status} before all tests had run"
    if unfinished:
        return f"{unfinished} tests began and did not end"
    if status == 1 and left:
        return f"{left} tests were collected and did not run, and it does not say whether they were left out or pytest stopped"
    return ""


def _run(nodeid: str, phases: Sequence[Report]) -> TestRun | None:
    """Fold the phases of a test; None where it is not known how it ended. Of tests that ran again the last run counts."""
    last = max((number for number, each in enumerate(phases) if each.outcome == "rerun"), default=-1)
    counted = [each for each in phases[last + 1 :] if each.outcome != "rerun"]
    outcome = worst(map(_outcome, counted))
    if not _is_over(counted) and outcome is not Outcome.FAILED:
        return None
    red = next((each for each in counted if _outcome(each) is outcome), counted[-1])
    green = outcome in {Outcome.SKIPPED, Outcome.XFAILED, Outcome.XPASSED}
    return TestRun(
        nodeid=NodeId(nodeid),
        outcome=outcome,
        worker=red.worker_id,
        seconds=sum(each.duration for each in counted),
        reason=(red.wasxfail or _message(red.longrepr)) if green else "",
        failure=failure(outcome, _message(red.longrepr)),
    )


def _is_over(phases: Sequence[Report]) -> bool:
    """Say whether all phases of a test are there, so that none that is missing could have gone otherwise."""
    by_phase = {each.when: each.outcome for each in phases if each.kind == "TestReport"}
    if "???" in by_phase:
        return True
    return "teardown" in by_phase and ("call" in by_phase or by_phase.get("setup", "passed") != "passed")


def _outcome(report: Report) -> Outcome:
    if report.outcome == "failed":
        return {"call": Outcome.FAILED, "???": Outcome.CRASHED}.get(report.when or "", Outcome.ERROR)
    if report.wasxfail is not None:
        return Outcome.XFAILED if report.outcome == "skipped" else Outcome.XPASSED
    return {"passed": Outcome.PASSED, "skipped": Outcome.SKIPPED}.get(report.outcome, Outcome.NOT_RUN)


def _file(report: Report) -> TestRun | None:
    if report.outcome == "failed":
        return TestRun(nodeid=NodeId(report.nodeid), outcome=Outcome.ERROR, failure=broken_file(_message(report.longrepr)))
    if report.outcome == "skipped":
        return TestRun(nodeid=NodeId(report.nodeid), outcome=Outcome.SKIPPED, reason=_message(report.longrepr))
    return None


def _message(longrepr: Any) -> str:
    """Find the sentence in what pytest wrote of a failure or a skip."""
    match longrepr:
        case {"reprcrash": {"message": str(message)}}:
            return message.splitlines()[0] if message else ""
        case [_, _, str(reason)]:
            return reason.removeprefix("Skipped: ")
        case str(text):
            return text.strip().splitlines()[-1] if text.strip() else ""
        case _:
            return ""
