"""pytest's own output, as people copy it from a terminal or a log: with `-v` or `-rA`, coloured, distributed, cut off.

An outcome is believed where the final numbers bear all of them out, or where no line that may be missing could change it.
"""

from __future__ import annotations

from collections import Counter
from itertools import takewhile

import msgspec

from paritygate.errors import UsageError
from paritygate.ingest import measuring, progress, text
from paritygate.ingest.found import Found, broken_file, failure, worst
from paritygate.ingest.parts import START, Parts, apart
from paritygate.ingest.progress import RERUN, Word
from paritygate.ingest.summary import Named
from paritygate.outcomes.cells import NodeId, TestRun
from paritygate.outcomes.words import Outcome, ResultFormat

_COUNTED = {
    "passed": {"PASSED"},
    "failed": {"FAILED", "SUBFAILED", "SUBFAIL"},
    "errors": {"ERROR"},
    "skipped": {"SKIPPED", "SUBSKIPPED", "SUBSKIP"},
    "xfailed": {"XFAIL", "xfail", "SUBXFAIL"},
    "xpassed": {"XPASS", "xpass", "SUBXPASS"},
}
SUBTESTS_OF_ITS_OWN = 9
"""From this version on pytest itself may say PASSED of a test of which a part has failed, and tell that only at its end."""
INSTEAD = "paste all that the command prints which `paritygate command` says, or its JUnit XML"


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """All that is said of one test: while it ran, and at the end."""

    nodeid: str
    words: tuple[Word, ...]
    closing: tuple[Named, ...]

    @property
    def outcome(self) -> Outcome:
        """The worst that is said."""
        running = (word.outcome for word in self.words if word.word != RERUN)
        return worst((*running, *(progress.WORDS[each.word] for each in self.closing)))

    @property
    def message(self) -> str:
        """Why it did that, in the words of the short summary."""
        bearing = (each for each in self.closing if progress.WORDS[each.word] is self.outcome)
        return next((each.message for each in bearing if each.message), "")


def read(content: bytes) -> Found:
    """Read a run from its output; raises `UsageError` where there is nothing of pytest's in it."""
    lines = text.lines(content)
    parts = apart(lines)
    if not (parts.headed or parts.numbers is not None or parts.progress.words or parts.named):
        raise UsageError("there is nothing in it that pytest writes", INSTEAD)
    tally = _tally(parts)
    wholes = _files(parts, tally)
    tally += Counter(run.outcome for run in wholes)
    agreed = (
        parts.numbers is not None
        and (parts.headed or not parts.progress.words)
        and all(parts.numbers.get(name, 0) == tally[_OUTCOMES[name]] for name in _COUNTED)
    )
    known = _known(parts, agreed=agreed)
    tests = (*known, *wholes)
    unnamed = sum(max(0, (parts.numbers or {}).get(name, 0) - tally[_OUTCOMES[name]]) for name in _COUNTED)
    before = tuple(takewhile(lambda line: not START.fullmatch(line.strip()), lines)) if parts.headed else ()
    suite = measuring.suite_in_lines(before)
    return Found(
        format=ResultFormat.TERMINAL,
        tests=tests,
        names=tuple((run.nodeid,) for run in tests),
        lacking=_lacking(parts, len(known), unnamed, agreed=agreed),
        counts=parts.numbers or {},
        unnamed=unnamed,
        collected=parts.header.items or 0,
        workers=parts.header.workers,
        seed=measuring.seed_in_suite(suite) if parts.header.seed is None else parts.header.seed,
        suite=suite.partition(";")[0],
        measured=measuring.in_lines(before),
    )


_OUTCOMES = {
    "passed": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "errors": Outcome.ERROR,
    "skipped": Outcome.SKIPPED,
    "xfailed": Outcome.XFAILED,
    "xpassed": Outcome.XPASSED,
}


def _tally(parts: Parts) -> Counter[Outcome]:
    """Count words as pytest counts them in its last line; what it says only at its end, of parts of a test, is in there, too."""
    running = Counter(word.word for word in parts.progress.words)
    closing = Counter(
        f"SUB{each.word.removeprefix('SUB')}" if each.sub else each.word for each in parts.named if "::" in each.nodeid
    )
    counted = Counter({_OUTCOMES[name]: sum(running[word] for word in words) for name, words in _COUNTED.items()})
    named = Counter({_OUTCOMES[name]: sum(closing[word] for word in words) for name, words in _COUNTED.items()})
    if not parts.progress.words:
        return named
    counted[Outcome.FAILED] = max(counted[Outcome.FAILED], named[Outcome.FAILED])
    return counted


def _files(parts: Parts, tally: Counter[Outcome]) -> tuple[TestRun, ...]:
    """Find files that could not be collected, and those that skip themselves as far as the numbers leave no other way."""
    broken = dict.fromkeys((*(each.nodeid for each in parts.named if "::" not in each.nodeid), *parts.broken))
    made = [TestRun(nodeid=NodeId(file.replace("\\", "/")), outcome=Outcome.ERROR, failure=broken_file("")) for file in broken]
    with_tests = {word.nodeid.partition("::")[0] for word in parts.progress.words}
    alone = [each for each in parts.folded if each.file not in with_tests]
    missing = (parts.numbers or {}).get("skipped", 0) - tally[Outcome.SKIPPED]
    itself = parts.header.skipped if parts.header.skipped is not None else len(alone)
    if parts.headed and parts.progress.words and 0 < missing == itself == len(alone) == sum(each.count for each in alone):
        made += [TestRun(nodeid=NodeId(each.file), outcome=Outcome.SKIPPED, reason=each.reason) for each in alone]
    return tuple(made)


def _known(parts: Parts, *, agreed: bool) -> tuple[TestRun, ...]:
    """Say what is certain of each test."""
    words: dict[str, list[Word]] = {}
    for word in parts.progress.words:
        words.setdefault(word.nodeid, []).append(word)
    closing: dict[str, list[Named]] = {}
    for each in parts.named:
        if "::" in each.nodeid:
            closing.setdefault(each.nodeid, []).append(each)
    ids = dict.fromkeys((*words, *closing))
    told = (Said(nodeid=each, words=tuple(words.get(each, ())), closing=tuple(closing.get(each, ()))) for each in ids)
    doubtful = set() if agreed else _open(parts)
    return tuple(_run(one, outcome) for one in told if (outcome := _certain(one, parts, doubtful, agreed=agreed)) is not None)


def _certain(told: Said, parts: Parts, doubtful: set[str], *, agreed: bool) -> Outcome | None:
    """Say what a test did where nothing that may be missing could change it, though the numbers need not bear out all of them."""
    outcome = told.outcome
    if outcome is Outcome.NOT_RUN or parts.several:
        return None
    if outcome is Outcome.FAILED and told.nodeid in parts.died:
        return Outcome.CRASHED
    if outcome is Outcome.CRASHED or (agreed and (parts.headed or outcome is not Outcome.FAILED)):
        return outcome
    if outcome is Outcome.FAILED:
        # Without header and last line it may be another plugin's summary, which may call errors failures, as pytest-sugar does.
        pytests = parts.headed or parts.numbers is not None
        sure = told.nodeid not in doubtful if told.words else pytests and told.message != ""
    else:
        plain = 0 < parts.header.version < SUBTESTS_OF_ITS_OWN and not parts.header.subtests
        sure = bool(told.words) and plain and told.nodeid not in doubtful
    return outcome if sure else None


def _open(parts: Parts) -> set[str]:
    """Name the tests whose last or first word may be missing: at the end of what a worker says, and at its beginning."""
    last: dict[str, str] = {}
    first: dict[str, str] = {}
    for word in parts.progress.words:
        first.setdefault(word.worker, word.nodeid)
        last[word.worker] = word.nodeid
    return {*last.values(), *(() if parts.headed else first.values())}


def _run(told: Said, outcome: Outcome) -> TestRun:
    reason = next((word.reason for word in told.words if word.reason), told.message)
    green = outcome in {Outcome.SKIPPED, Outcome.XFAILED, Outcome.XPASSED}
    return TestRun(
        nodeid=NodeId(told.nodeid),
        outcome=outcome,
        worker=next((word.worker for word in told.words), ""),
        reason=reason if green else "",
        failure=failure(outcome, told.message),
    )


def _lacking(parts: Parts, known: int, unnamed: int, *, agreed: bool) -> str:
    """Say why a text does not tell the whole run; empty where it does."""
    items = parts.header.items
    reasons = {
        "there is more than one run of pytest in it: paste one alone": parts.several,
        "pytest-sugar wrote it, and not pytest: run it with `-p no:sugar`": parts.sugared,
        "it ends before pytest's last line, which has the numbers": parts.numbers is None,
        f"pytest stopped before all tests had run: {parts.stopped}": bool(parts.stopped),
        f"the ids of {unnamed} tests are not in it: pytest says them with `-v`": unnamed and not parts.progress.words,
        "its beginning is missing: pytest's header says how many tests there are": parts.progress.words and not parts.headed,
        "what it says of single tests does not come to the numbers in pytest's last line: a part is missing, or told twice": (
            not agreed
        ),
        f"{items} tests were selected, and it tells of {known}": items is not None and items != known,
        f"the ids of {unnamed} tests are not in it": unnamed,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")
