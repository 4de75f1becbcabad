"""What pytest says at its end: the final numbers, the short summary with ids, and why it stopped before all tests had run."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import msgspec

from paritygate.ingest import nodeids
from paritygate.ingest.progress import WORDS

_NUMBERS = (
    r"(?:\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|reruns?|rerun|subtests passed|subtests? \w+))"
)
_FINAL = re.compile(
    rf"(?:=+ )?(?P<numbers>{_NUMBERS}(?:, {_NUMBERS})*|no tests (?:ran|collected)[^=]*?|no tests run)"
    r"(?: in (?P<seconds>[\d.]+) ?s(?:econds)?(?: \([\d:, days]+\))?)?(?: =+)?"
)
_STOPPED = re.compile(r"!{3,} (?P<why>.+?) !{3,}")
_COLLECTED = re.compile(r"(?:collecting \.\.\. *)?collected (?P<items>\d+) items?(?P<rest>(?: / \d+ \w+)*)")
_WORKERS = re.compile(r"(?:(?P<workers>\d+) workers? \[(?P<items>\d+) items?\]|(?P<each>gw\d+ \[\d+\](?: / gw\d+ \[\d+\])*))")
_VERSION = re.compile(r"platform .* -- Python .*?pytest-(?P<version>\d+)")
_SEED = re.compile(r"Using --randomly-seed=(?P<seed>\d+)")
_FOLDED = re.compile(r"SKIPPED \[(?P<count>\d+)\] (?P<file>.+?)(?::\d+)?: (?P<reason>.*)")
_LINE = re.compile(r"(?P<word>[A-Za-z]+)(?P<sub>\[.*?\](?: \(.*?\))?)? (?P<rest>\S.*)")
_PLURAL = {"error": "errors", "rerun": "reruns", "warning": "warnings"}


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the short summary: a word about a test, or about a file that could not be collected."""

    nodeid: str
    word: str
    sub: bool = False
    message: str = ""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What pytest says before the first test; `items` is None where it does not say how many there are."""

    items: int | None = None
    broken: int = 0
    skipped: int | None = None
    workers: int = 0
    version: int = 0
    subtests: bool = False
    seed: int | None = None


class Folded(msgspec.Struct, frozen=True):
    """Skips at one place, told together: how many, the file, and why."""

    count: int
    file: str
    reason: str


def counts(line: str) -> dict[str, int] | None:
    """Read the final line, None where a line is none; the numbers go by the plural that pytest uses."""
    match = _FINAL.fullmatch(line.strip())
    if match is None or (match["seconds"] is None and "=" not in line):
        return None
    if not match["numbers"][0].isdigit():
        return {}
    numbers = (part.split(" ", 1) for part in match["numbers"].split(", "))
    return {_PLURAL.get(word, word): int(number) for number, word in numbers}


def stopped(lines: Sequence[str]) -> str:
    """Say why pytest did not run all that it was to run; empty where it did not stop."""
    return next((match["why"] for line in lines if (match := _STOPPED.fullmatch(line.strip()))), "")


def header(lines: Sequence[str]) -> Header:
    """Read what stands before the first test."""
    facts = Header()
    for line in lines:
        changes: dict[str, object] = {}
        if match := _COLLECTED.match(line.strip()):
            rest = dict(part.split(" ", 1)[::-1] for part in match["rest"].split(" / ")[1:])
            left = int(rest.get("deselected", "0"))
            changes = {"items": int(match["items"]) - left, "skipped": int(rest.get("skipped", "0"))}
            changes["broken"] = int(rest.get("error", rest.get("errors", "0")))
        elif match := _WORKERS.fullmatch(line.strip()):
            sizes = {int(match["items"])} if match["items"] else {int(size) for size in re.findall(r"\[(\d+)\]", line)}
            changes = {
                "workers": int(match["workers"] or 0) or line.count("gw"),
                "items": min(sizes) if len(sizes) == 1 else None,
            }
        elif match := _VERSION.match(line):
            changes = {"version": int(match["version"])}
        elif match := _SEED.match(line):
            changes = {"seed": int(match["seed"])}
        elif line.startswith("plugins: "):
            changes = {"subtests": " subtests-" in line or "subtests-" in line}
        facts = msgspec.structs.replace(facts, **changes)
    return facts


def named(lines: Sequence[str], known: Collection[str]) -> tuple[tuple[Named, ...], tuple[Folded, ...]]:
    """Read the lines of a short summary; ids that could be several are left out."""
    found = []
    folded = []
    for line in lines:
        if match := _FOLDED.match(line):
            folded.append(Folded(int(match["count"]), match["file"].replace("\\", "/"), match["reason"]))
        elif (match := _LINE.match(line)) and match["word"] in WORDS and (one := _named(match, known)):
            found.append(one)
    return tuple(found), tuple(folded)


def _named(match: re.Match[str], known: Collection[str]) -> Named | None:
    rest, sub = match["rest"], match["word"].startswith("SUB")
    if "::" not in rest:
        file, _, message = rest.partition(" - ")
        return (
            Named(nodeid=file.strip().replace("\\", "/"), word=match["word"], message=message)
            if match["word"] == "ERROR"
            else None
        )
    # Before pytest 8 a reason stood behind a blank alone.
    nodeid = nodeids.at_start(rest, " - ", known) or (
        nodeids.at_start(rest, " ", known) if match["word"] in {"XPASS", "XFAIL"} else ""
    )
    if not nodeid:
        return None
    return Named(nodeid=nodeid, word=match["word"], sub=sub, message=rest[len(nodeid) :].removeprefix(" - ").strip())
