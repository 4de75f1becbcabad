"""A JUnit XML as pytest writes it: which test did what, by a dotted name that need not say in which file it is.

It is parsed without any declaration of its own: an XML that defines entities is refused before any of them is put in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from xml.parsers import expat

import msgspec

from paritygate.errors import UsageError
from paritygate.ingest import measuring
from paritygate.ingest.found import Found, broken_file, failure, worst
from paritygate.outcomes.cells import NodeId, TestRun
from paritygate.outcomes.words import Outcome, ResultFormat

MOST_TEXT = 2000
"""How many characters of a message are kept."""
COLLECTION = frozenset({"collection failure", "collection skipped"})


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One `testcase`: what it is called, and what is said in it."""

    classname: str
    name: str
    file: str = ""
    seconds: float = 0.0
    outcome: Outcome = Outcome.PASSED
    message: str = ""

    @property
    def is_collection(self) -> bool:
        """Whether it stands for a whole file."""
        return self.message in COLLECTION


class _Reader:
    """Takes what expat finds; only cases that are closed count."""

    def __init__(self) -> None:
        self.cases: list[Case] = []
        self.suites: list[Mapping[str, str]] = []
        self._case: Case | None = None

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        match name:
            case "testsuite":
                self.suites.append(attributes)
            case "testcase":
                self._case = Case(
                    classname=attributes.get("classname", ""),
                    name=attributes.get("name", ""),
                    file=attributes.get("file", "").replace("\\", "/"),
                    seconds=_seconds(attributes.get("time", "")),
                )
            case "failure" | "error" | "skipped" if self._case is not None:
                self._case = _with(self._case, name, attributes)

    def end(self, name: str) -> None:
        """End an element."""
        if name == "testcase" and self._case is not None:
            self.cases.append(self._case)
            self._case = None


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        return 0.0
    return seconds if 0 <= seconds < float("inf") else 0.0


def _with(case: Case, name: str, attributes: Mapping[str, str]) -> Case:
    message = attributes.get("message", "")[:MOST_TEXT]
    outcome = {"failure": Outcome.FAILED, "error": Outcome.ERROR, "skipped": Outcome.SKIPPED}[name]
    if name == "skipped" and attributes.get("type") == "pytest.xfail":
        outcome = Outcome.XFAILED
    graver = worst((case.outcome, outcome))
    return msgspec.structs.replace(case, outcome=graver, message=message if graver is outcome else case.message)


def read(content: bytes) -> Found:
    """Read a JUnit XML, which may be cut off; raises `UsageError` for what is none, or declares entities."""
    reader = _Reader()
    cut = _parse(content, reader)
    if not reader.suites:
        raise UsageError("it has no `testsuite`, so it is no JUnit XML", "give the file that `--junitxml` names")
    runs: list[TestRun] = []
    names: list[tuple[str, ...]] = []
    for case in _folded(reader.cases):
        runs.append(_run(case))
        names.append(tuple(possible(case)))
    suite = reader.suites[0].get("name", "")
    return Found(
        format=ResultFormat.JUNIT,
        tests=tuple(runs),
        names=tuple(names),
        lacking="it is cut off before its end" if cut else "",
        collected=len(runs),
        seed=measuring.seed_in_suite(suite),
        suite=suite.partition(";")[0],
        measured=measuring.in_suite(suite),
    )


def _parse(content: bytes, reader: _Reader) -> bool:
    """Parse an XML, and say whether it is cut off."""
    parser = expat.ParserCreate()
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.StartDoctypeDeclHandler = _refuse
    parser.EntityDeclHandler = _refuse
    try:
        parser.Parse(content.lstrip(), True)  # noqa: FBT003 - expat takes it so
    except expat.ExpatError as error:
        if not reader.suites:
            raise UsageError(f"it is no XML: {error}", "give the file that `--junitxml` names") from error
        return True
    return False


def _refuse(*_declaration: object) -> None:
    raise UsageError(
        "it declares a document type or entities, which no JUnit XML of pytest's does", "give the file as pytest wrote it"
    )


def _folded(cases: list[Case]) -> Iterator[Case]:
    """Put together what pytest writes apart of one test: its failure, and what went wrong in its teardown."""
    before: Case | None = None
    for case in cases:
        if (
            before is not None
            and _name(before) == _name(case)
            and before.outcome is Outcome.FAILED
            and case.outcome is Outcome.ERROR
        ):
            continue
        if before is not None:
            yield before
        before = case
    if before is not None:
        yield before


def _name(case: Case) -> tuple[str, str, str]:
    return case.classname, case.name, case.file


def _run(case: Case) -> TestRun:
    whole = case.is_collection and case.outcome is Outcome.ERROR
    green = case.outcome in {Outcome.SKIPPED, Outcome.XFAILED}
    return TestRun(
        nodeid=NodeId(""),
        outcome=case.outcome,
        seconds=case.seconds,
        reason=case.message if green else "",
        failure=broken_file(case.message) if whole else failure(case.outcome, case.message),
    )


def possible(case: Case) -> Iterator[str]:
    """Yield every id that a case may stand for: by its file where that is said, else by each way to part the dotted name."""
    parts = case.classname.split(".") if case.classname else []
    if case.is_collection:
        dotted = case.name.replace(".", "/")
        yield from (case.file,) if case.file else (f"{dotted}.py", f"{dotted}/__init__.py", dotted)
        return
    if case.file:
        module = re.sub(r"\.py$", "", case.file).replace("/", ".")
        # A test that is inherited from another file has that one's path and its own class.
        if case.classname == module or case.classname.startswith(f"{module}."):
            classes = case.classname[len(module) + 1 :]
            yield "::".join((case.file, *(classes.split(".") if classes else ()), case.name))
            return
    for end in range(len(parts), 0, -1):
        yield "::".join(("/".join(parts[:end]) + ".py", *parts[end:], case.name))
