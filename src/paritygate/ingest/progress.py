"""The lines that pytest writes while tests run, with `-v`: which test did what, by which worker."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from types import MappingProxyType

import msgspec

from paritygate.ingest import nodeids
from paritygate.outcomes.words import Outcome

RERUN = "RERUN"
WORDS = MappingProxyType(
    {
        "PASSED": Outcome.PASSED,
        "FAILED": Outcome.FAILED,
        "ERROR": Outcome.ERROR,
        "SKIPPED": Outcome.SKIPPED,
        "XFAIL": Outcome.XFAILED,
        "xfail": Outcome.XFAILED,
        "XPASS": Outcome.XPASSED,
        "xpass": Outcome.XPASSED,
        "SUBPASSED": Outcome.PASSED,
        "SUBPASS": Outcome.PASSED,
        "SUBFAILED": Outcome.FAILED,
        "SUBFAIL": Outcome.FAILED,
        "SUBSKIPPED": Outcome.SKIPPED,
        "SUBSKIP": Outcome.SKIPPED,
        "SUBXFAIL": Outcome.XFAILED,
        "SUBXPASS": Outcome.XPASSED,
        RERUN: Outcome.NOT_RUN,
    }
)
GIVES_REASON = frozenset({"SKIPPED", "XFAIL", "XPASS", "xfail", "xpass"})
_WORD = "|".join(sorted(WORDS, key=len, reverse=True))
_AMOUNT = r"\[ *\d+%\]|\[ *\d+/\d+\]|\d+(?:\.\d+)?(?:us|ms|s|m|h)?(?: \d+\.?\d*s)?"
_END = re.compile(rf" *(?P<amount>{_AMOUNT})? *")
_SPLIT = re.compile(rf" (?P<word>{_WORD})(?P<sub>\[.*?\](?: \(.*?\))?)?(?P<reason> \(.*\))?(?P<end> +(?:{_AMOUNT})| *)$")
_BARE = re.compile(rf"(?P<word>{_WORD})(?P<reason> \(.*\))?(?P<end> +(?:{_AMOUNT})| *)$")
_WORKER = re.compile(
    rf"\[(?P<worker>gw\d+)\] (?:(?P<amount>{_AMOUNT}) )?(?P<word>{_WORD})(?P<sub>\[.*?\](?: \(.*?\))?)? (?P<test>\S.*)$"
)
_DOWN = re.compile(r"\[(?P<worker>gw\d+)\] node down: ")


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """One word about one test, in the order in which they came; `amount` says whether its line says how far the run is."""

    nodeid: str
    word: str
    worker: str = ""
    reason: str = ""
    amount: bool = False
    died: bool = False

    @property
    def outcome(self) -> Outcome:
        """What the word means."""
        return Outcome.CRASHED if self.died else WORDS[self.word]


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """All words about tests; `unclear` counts lines whose test or word could be several things."""

    words: tuple[Word, ...]
    unclear: int = 0


def read(lines: Sequence[str]) -> Progress:
    """Read the lines between the header and the first section. Lines that lack what all others have are not pytest's."""
    words: list[Word] = []
    unclear = 0
    pending = ""
    down: set[str] = set()
    for line in lines:
        if match := _DOWN.match(line):
            down.add(match["worker"])
            continue
        if (bare := _BARE.fullmatch(line)) and pending:  # what the test printed stands between its id and the word
            words.append(_word(pending, bare))
            pending = ""
            continue
        found = _of_worker(line, down) or _of_line(line)
        unclear += found is None and _looks_like_one(line)
        unclear += bare is not None
        words += [found] if found is not None else []
        pending = _begun(line, pending) if found is None else ""
    return _as_all_others(words, unclear)


def _as_all_others(words: Iterable[Word], unclear: int) -> Progress:
    """Leave out lines that do not say how far the run is where others do: a test has printed them."""
    listed = tuple(words)
    said = sum(each.amount for each in listed)
    if said * 2 <= len(listed):
        return Progress(words=listed, unclear=unclear + said)
    return Progress(words=tuple(each for each in listed if each.amount), unclear=unclear)


def _of_worker(line: str, down: set[str]) -> Word | None:
    match = _WORKER.match(line)
    if match is None or not nodeids.is_one(nodeids.plain(match["test"])):
        return None
    worker = match["worker"]
    died = worker in down and match["word"] == "FAILED"
    down.discard(worker)
    return Word(
        nodeid=nodeids.plain(match["test"]), word=match["word"], worker=worker, amount=match["amount"] is not None, died=died
    )


def _of_line(line: str) -> Word | None:
    """Find the one way in which a line is an id, a word and what pytest says behind it; None where there are none or several."""
    found = {}
    for match in _ways(line):
        nodeid = nodeids.plain(line[: match.start()])
        if nodeids.is_one(nodeid) and (match["reason"] is None or match["word"] in GIVES_REASON):
            found[nodeid] = match
    if len(found) != 1:
        return None
    nodeid, match = found.popitem()
    return _word(nodeid, match)


def _ways(line: str) -> Iterator[re.Match[str]]:
    for start in (each.start() for each in re.finditer(rf" (?:{_WORD})", line)):
        if match := _SPLIT.match(line, start):
            yield match


def _word(nodeid: str, match: re.Match[str]) -> Word:
    reason = (match["reason"] or "").strip()[1:-1]
    return Word(nodeid=nodeid, word=match["word"], reason=reason, amount=bool(match["end"].strip()))


def _looks_like_one(line: str) -> bool:
    return "::" in line and any(True for _ in _ways(line))


def _begun(line: str, before: str) -> str:
    """Say which test a line begins, if it ends before the word; else the one that was begun before goes on."""
    begun = line.rstrip(" ")
    if nodeids.is_one(begun) and line.endswith(" "):
        return nodeids.plain(begun)
    first = line.split(" ", 1)[0]
    return first if nodeids.is_one(first) else before
