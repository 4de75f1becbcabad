"""Whether a ledger may be relied upon on a day: everything that is wrong with it, each time with the name of the test.

Days are calendar days in UTC, the last one included. Pure: the day, the owners and what exists are handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime

import msgspec

from paritygate.freezes import owners
from paritygate.freezes.ledger import Entry, Ledger


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What a ledger is held against.

    `longest` is for how many days a test may be frozen from today, `owners` who is known (None: anybody, since nothing says
    who), `exists` whether a file is there, relative to the tree's top.
    """

    today: date
    longest: int
    owners: frozenset[str] | None
    exists: Callable[[str], bool]


def today_of(moment: datetime) -> date:
    """Say which calendar day it is for every freeze, wherever this runs: the one in UTC."""
    return moment.astimezone(UTC).date()


def is_expired(entry: Entry, today: date) -> bool:
    """Say whether an entry's last day is over."""
    return today > entry.expires


def problems(ledger: Ledger, facts: Facts) -> tuple[str, ...]:
    """List what is wrong, in the order of the ledger."""
    broken = (f"`{nodeid}`: {fault}" if nodeid else fault for nodeid, fault in ledger.faults)
    wrong = (f"`{nodeid}`: {fault}" for nodeid, entry in ledger.entries.items() for fault in _of_entry(nodeid, entry, facts))
    return (*broken, *wrong)


def _of_entry(nodeid: str, entry: Entry, facts: Facts) -> Iterator[str]:
    left = (entry.expires - facts.today).days
    if left < 0:
        yield f"the freeze expired on {entry.expires}, {number(-left, 'day')} ago; `{entry.owner}` owns it"
    elif left > facts.longest:
        yield f"the freeze would last until {entry.expires}, {number(left, 'day')} from today; {facts.longest} are the most"
    elif entry.since is not None and entry.since > entry.expires:
        yield f"the freeze ends on {entry.expires}, before it begins, on {entry.since}"
    if facts.owners is not None and owners.plain(entry.owner) not in facts.owners:
        yield f"its owner `{entry.owner}` is not in CODEOWNERS"
    file = nodeid.partition("::")[0]
    if not facts.exists(file):
        yield f"there is no file `{file}`; the test was moved, renamed or deleted"


def number(count: int, noun: str) -> str:
    """Count something in words."""
    return f"{count} {noun}{'s' * (count != 1)}"
