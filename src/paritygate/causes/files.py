"""Which files are behind a coupling: those that the test touches, and that its environments do not have alike.

Pure. A file is named only where a cell has seen the test touch it; that the tree, or case, flips the test was shown by others.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from paritygate.causes.differences import Differences
from paritygate.outcomes.artifact import Cause, FileFact, Finding
from paritygate.outcomes.cells import TestRun
from paritygate.outcomes.products import Product, product_of
from paritygate.outcomes.trees import Difference
from paritygate.outcomes.words import Axis, FileState, Touching

MOST_FILES = 20
MOST_OF_A_FOLDER = 5
BY_WEIGHT = ((Touching.OPENED, Touching.LOOKED_FOR, Touching.GIVEN), (Touching.LISTED,), (Touching.WRITTEN,))
"""What a test does with a file, by how likely it depends on it: only the first of these that there is is told of."""

RulesOf = Callable[[Sequence[str]], Mapping[str, str]]


def with_files(finding: Finding, runs: Sequence[TestRun], different: Differences) -> Finding:
    """Name the files behind an axis cause, as far as cells have told of any; `runs` are what they told of the test."""
    cause = finding.cause
    if cause is None:
        return finding
    facts = _ranked(_touched(runs, different), runs) if Axis.WORKTREE in cause.axes else {}
    if Axis.CASE_SENSITIVE in cause.axes:
        # What git and the disk name differently is said already, by the disk's name.
        known = {path for path, each in different.items() if each.name in facts}
        facts |= {path: fact for path, fact in _spelled(runs).items() if path not in known}
    if not facts:
        return finding
    named = dict(tuple(facts.items())[:MOST_FILES])
    return msgspec.structs.replace(finding, cause=msgspec.structs.replace(cause, files=tuple(named), file_facts=named))


def _touched(runs: Iterable[TestRun], different: Differences) -> dict[str, FileFact]:
    found: dict[Difference, dict[Touching, None]] = {}
    for run in runs:
        for touch in run.touched:
            for each in _named(touch.path, touch.how, different):
                found.setdefault(each, {})[touch.how] = None
        for pair in run.spellings:
            if pair.kept in different:
                found.setdefault(different[pair.kept], {})[Touching.OPENED] = None
    # What installing the project makes is there in both trees once it is installed: it is no cause where there is another.
    own = {each: how for each, how in found.items() if product_of(each.name, each.state) is not Product.INSTALLED} or found
    for hows in BY_WEIGHT:
        some = {each: tuple(touched) for each, touched in own.items() if touched.keys() & set(hows)}
        if some:
            return {each.name: FileFact(state=each.state, other=each.other, touched=how) for each, how in some.items()}
    return {}


def _ranked(facts: Mapping[str, FileFact], runs: Iterable[TestRun]) -> dict[str, FileFact]:
    """Put first what the test says that it misses, then what somebody may have written, then what a build makes."""
    said = "\n".join(_said(run) for run in runs)

    def place(path: str) -> tuple[bool, bool, str]:
        name = re.escape(posixpath.basename(path.rstrip("/")))
        is_said = re.search(rf"(?<![\w.-]){name}(?![\w.-])", said) is not None
        return not is_said, product_of(path, facts[path].state) is not None, path

    return {path: facts[path] for path in sorted(facts, key=place)}


def _said(run: TestRun) -> str:
    return f"{run.reason}\n{run.failure.message if run.failure is not None else ''}"


def _named(path: str, how: Touching, different: Differences) -> Iterator[Difference]:
    """Say which of the paths that differ are behind a touch: of a folder that is listed those in it."""
    inside = [other for other in different if posixpath.dirname(other) == path] if how is Touching.LISTED else []
    for each in inside[:MOST_OF_A_FOLDER] or ([path] if path in different else []):
        yield different[each]


def _spelled(runs: Iterable[TestRun]) -> dict[str, FileFact]:
    """Take the names that were found by another spelling than their own."""
    pairs = dict.fromkeys(pair for run in runs for pair in run.spellings)
    return {pair.kept: FileFact(state=FileState.SPELLED, other=pair.asked) for pair in pairs}


def with_rules(findings: Sequence[Finding], rules_of: RulesOf) -> tuple[Finding, ...]:
    """Say of the files that git ignores by which rule it does; all are asked for at once."""
    causes = [finding.cause for finding in findings if finding.cause is not None]
    ignored = {path: None for cause in causes for path, fact in cause.file_facts.items() if fact.state is FileState.IGNORED}
    rules = rules_of(tuple(ignored)) if ignored else {}
    return tuple(_with_rules(finding, finding.cause, rules) if finding.cause is not None else finding for finding in findings)


def rules_in(findings: Iterable[Finding]) -> dict[str, str]:
    """Take the rules that findings tell already."""
    causes = (finding.cause for finding in findings if finding.cause is not None)
    return {path: fact.rule for cause in causes for path, fact in cause.file_facts.items() if fact.rule}


def _with_rules(finding: Finding, cause: Cause, rules: Mapping[str, str]) -> Finding:
    facts = {
        path: msgspec.structs.replace(fact, rule=rules[path]) if fact.state is FileState.IGNORED and path in rules else fact
        for path, fact in cause.file_facts.items()
    }
    return msgspec.structs.replace(finding, cause=msgspec.structs.replace(cause, file_facts=facts))
