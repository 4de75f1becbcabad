"""How a cell ended: one status, and one sentence that says why, from the launcher's last word and the runner's knowledge.

A test's own failure is none of its business.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from paritygate.events.wire import End, MemoryUse, Mismatch
from paritygate.outcomes.cells import NodeId
from paritygate.outcomes.words import CellStatus, RunnerName

SHOWN_LINES = 8
SHOWN_IDS = 3
USAGE_ERROR = 4  # pytest's exit status for what it was asked for and cannot do
SENTENCE = re.compile(r"^(?:ERROR: (?!usage: )|.+: error: )(.+)$", flags=re.MULTILINE)
KILLED = 137  # 128 + SIGKILL: what shells and engines say of a process that was killed
REFUSED_SPECIFICATION = 64  # the launcher's exit status for a specification that it cannot use
LIMITS = {
    "cell-timeout": "the cell was over its limit",
    "idle": "nothing happened for longer than the idle limit",
    "too-many-timeouts": "a fourth test was over its limit",
}


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """What the runner knows of an end.

    `exit_code` is that of the container or the launcher, None where there is none (the connection was lost, a start that
    failed). `started` is ISO 8601, `seconds` wall time. `detail` is the runner's own word, such as an engine's error.
    """

    runner: RunnerName
    exit_code: int | None
    out_of_memory: bool = False
    detail: str = ""
    started: str = ""
    seconds: float = 0.0


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What the events say, as far as the status depends on it.

    `known` counts collected tests, `decided` those of them with an outcome, and `files` what was decided as a whole during
    collection; `was_collected` says that collection came to its end, `killed_tests` that `SIGKILL` took a test's process.
    `missing` lists what was asked for and not found, `last` is the test decided last, `why` what ended pytest's session early.
    """

    mismatch: Mismatch | None
    end: End | None
    started: bool
    was_collected: bool
    known: int
    decided: int
    files: int
    killed_tests: bool
    missing: tuple[NodeId, ...]
    last: str
    why: str
    faults: tuple[str, ...]
    stderr: str


class Status(msgspec.Struct, frozen=True):
    """The status and why."""

    word: CellStatus
    detail: str = ""


def status(facts: Facts, ending: Ending) -> Status:
    """Say how a cell ended."""
    if facts.mismatch is not None:
        return Status(CellStatus.ENVIRONMENT_MISMATCH, "; ".join(facts.mismatch.problems))
    if facts.end is None:
        return without_end(facts, ending)
    lack = lack_of_memory(facts.end.memory, ending)
    if lack and (facts.killed_tests or facts.end.why in ("crashed", "filesystem")):
        return Status(CellStatus.OUT_OF_MEMORY, lack)
    if facts.end.why == "clock":
        return Status(CellStatus.ENVIRONMENT_MISMATCH, facts.end.detail)
    if could_not_start(facts, facts.end):
        return Status(CellStatus.UNUSABLE, refusal(facts, facts.end))
    return finished(facts, facts.end, lack) if facts.end.why == "finished" else cut_short(facts, facts.end, ending)


def cut_short(facts: Facts, end: End, ending: Ending) -> Status:
    """Tell apart what ends a cell before pytest does."""
    if end.why in LIMITS:
        return Status(CellStatus.TIMED_OUT, LIMITS[end.why] + progress(facts))
    if end.why == "gone":
        return Status(CellStatus.CRASHED, joined("the launcher lost its runner" + progress(facts), ending.detail))
    return Status(CellStatus.CRASHED, death(end) + progress(facts))


def finished(facts: Facts, end: End, lack: str) -> Status:
    """Tell apart what may follow from a pytest that came to its own end."""
    if facts.faults:
        return Status(CellStatus.CRASHED, "the record is not whole: " + "; ".join(facts.faults))
    if facts.decided < facts.known:
        return Status(CellStatus.CRASHED, stopped(facts, end) + progress(facts))
    if facts.known == 0 and facts.files == 0:
        return Status(CellStatus.NO_TESTS, f"not found: {listed(facts.missing)}" if facts.missing else "no test was selected")
    return Status(CellStatus.FINISHED, "; ".join(filter(None, (end.detail, lack and f"all tests ran, though {lack}"))))


def without_end(facts: Facts, ending: Ending) -> Status:
    """Say what became of a launcher that could not say it: only the runner knows, or nobody."""
    if ending.out_of_memory:
        return Status(CellStatus.OUT_OF_MEMORY, "certain: the engine says that the cell was ended for lack of memory")
    if not facts.started and ending.exit_code not in (None, KILLED):
        said = f"the launcher did not start pytest (exit status {ending.exit_code})"
        return Status(CellStatus.UNUSABLE, joined(said, ending.detail or last_lines(facts.stderr)))
    said = (
        "the connection to the cell was lost"
        if ending.exit_code is None
        else f"the cell died with exit status {ending.exit_code}"
    )
    if ending.exit_code == KILLED:
        said = "the cell was killed, by whom is not known; lack of memory is possible, and nothing proves it"
    return Status(CellStatus.CRASHED, joined(said + progress(facts), ending.detail))


def lack_of_memory(memory: MemoryUse, ending: Ending) -> str:
    """Say how sure it is that the cell lacked memory, empty where nothing speaks for it."""
    limit = f"; the limit is {memory.limit >> 20} MiB" if memory.limit else ""
    if ending.out_of_memory:
        return f"certain: the engine says that memory ran out{limit}"
    if memory.oom_kills:
        return f"likely: the kernel killed {memory.oom_kills} of the cell's processes for lack of memory{limit}"
    return ""


def could_not_start(facts: Facts, end: End) -> bool:
    """Say whether pytest refused before there were any tests; exit status 1 is also that of a broken interpreter."""
    refused = end.why in ("finished", "crashed") and end.returncode in (1, 2, 3, 4)
    return end.why == "unusable" or (refused and not facts.was_collected)


def refusal(facts: Facts, end: End) -> str:
    """Say why pytest did not get as far as tests: in its own words, where it was asked for what it cannot do."""
    if end.returncode == USAGE_ERROR:
        said = [facts.why] if facts.why else list(dict.fromkeys(SENTENCE.findall(facts.stderr)))
        if said:
            return "\n".join(f"ERROR: {line}" for line in said[-SHOWN_LINES:])
    if facts.why:
        return joined(f"pytest ended before there were tests (exit status {end.returncode})", facts.why)
    return joined(end.detail or f"pytest did not start (exit status {end.returncode})", last_lines(facts.stderr))


def stopped(facts: Facts, end: End) -> str:
    """Say what ended a session that had tests left; the last test is none to suspect where the modules themselves are gone."""
    if end.removed:
        return f"{vanished(end)}; pytest, started anew, ended with exit status {end.returncode}"
    after = f" after `{facts.last}`" if facts.last else ""
    why = f" ({facts.why})" if facts.why else ""
    return f"pytest ended early with exit status {end.returncode}{after}{why}"


def listed(ids: Sequence[str]) -> str:
    """List ids, not all where they are many."""
    more = f" and {len(ids) - SHOWN_IDS} more" if len(ids) > SHOWN_IDS else ""
    return ", ".join(f"`{each}`" for each in ids[:SHOWN_IDS]) + more


def vanished(end: End) -> str:
    """Say which modules tests have removed."""
    one = len(end.removed) == 1
    return f"{listed(end.removed)} {'is' if one else 'are'} gone from the workspace: a test has removed {'it' if one else 'them'}"


def death(end: End) -> str:
    """Say how pytest died."""
    return f"{vanished(end)}; {death_of(end)}" if end.removed else death_of(end)


def death_of(end: End) -> str:
    """Say how the process came to its end."""
    if end.detail:
        return end.detail
    if end.signal == "SIGKILL":
        return "pytest was killed by `SIGKILL`, by whom is not known; lack of memory is possible, and nothing proves it"
    return f"pytest was killed by `{end.signal}`" if end.signal else f"pytest died with exit status {end.returncode}"


def progress(facts: Facts) -> str:
    """Say how far it got."""
    return f", {facts.decided} of {facts.known} tests are decided" if facts.was_collected else ", before tests were collected"


def last_lines(text: str) -> str:
    """Take the last lines that say something."""
    lines = [line.rstrip() for line in text.splitlines()]
    return "\n".join([line for line in lines if line.strip(" =-_")][-SHOWN_LINES:])


def joined(first: str, second: str) -> str:
    """Put two parts together, the second where there is one."""
    return f"{first}: {second}" if second else first
