"""The ledger of a project: read from where it counts, held against the day, the owners and the files that there are."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import msgspec

from paritygate import strict_json
from paritygate.config.settings import Settings
from paritygate.disciplines import records
from paritygate.disciplines.records import Place
from paritygate.errors import RefusedError
from paritygate.freezes import checking, ledger, owners
from paritygate.freezes.ledger import Entry, Ledger

HINT = (
    "`paritygate freeze list` shows the ledger; `freeze extend` (with `--owner` for another owner), `freeze remove`, "
    "`freeze prune` or fixing the test put it right"
)
MEND = "mend it by hand first, so that nothing in it is lost"
TAKE_OUT = "mend it by hand, or take the entry out with `paritygate freeze remove NODEID`"


class Frozen(msgspec.Struct, frozen=True, kw_only=True):
    """What is frozen: the ledger's path from the tree's top, its entries, and what is to be said of them."""

    path: str
    entries: dict[str, Entry] = {}
    notes: tuple[str, ...] = ()


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """What a ledger is checked by: the settings, the day, and whether a file of the tree is there."""

    settings: Settings
    today: date
    exists: Callable[[str], bool]


def on_disk(place: Place) -> Callable[[str], bool]:
    """Say whether a file is there, from the tree's top."""
    return lambda path: (place.top / path).is_file()


def load(place: Place, settings: Settings) -> tuple[str, Ledger | None]:
    """Read a project's ledger, and say its path from the tree's top; None where there is none."""
    path = place.from_top(settings.freezes)
    content = records.read(place, path)
    return path, None if content is None else ledger.read(content)


def problems(place: Place, wanted: Check, found: Ledger) -> tuple[str, ...]:
    """List what is wrong with the entries of a ledger."""
    facts = checking.Facts(today=wanted.today, longest=wanted.settings.freeze_days, owners=_owners(place), exists=wanted.exists)
    return checking.problems(found, facts)


def holding(place: Place, wanted: Check, ref: str) -> Frozen:
    """Give the freezes that hold in a run, from the merge base with `ref` if there is one; raises `RefusedError`."""
    if ref:
        return _holding_before(place, records.at_merge_base(place, ref), wanted, ref)
    path, found = load(place, wanted.settings)
    if found is None:
        return Frozen(path=path)
    if found.written is None:
        refuse_faults(path, found)
    _refuse(path, problems(place, wanted, found))
    return Frozen(path=path, entries=found.entries)


def _holding_before(place: Place, source: Place, wanted: Check, ref: str) -> Frozen:
    """Give the freezes of a merge base that hold beside the ledger as it is now.

    | at the merge base | now | |
    |---|---|---|
    | not there | there | not in force: a patch cannot excuse itself |
    | there | not there | not in force: the patch thaws it, or removes the test |
    | there | the same | in force; refused where something is wrong with it |
    | there | another | as it was in force; not at all where something was wrong with it, so that it can be mended |
    """
    path, before = load(source, wanted.settings)
    _, now = load(place, wanted.settings)
    before, now = before or Ledger(written={}), now or Ledger(written={})
    if before.written is None and now.written is None:
        _refuse(path, problems(source, wanted, before), source.commit)
    then, here = before.written or {}, now.written if now.written is not None else before.written or {}
    same = {nodeid for nodeid in then if nodeid in here and here[nodeid] == then[nodeid]}
    _refuse(path, problems(source, wanted, before.only(same)), source.commit)
    moved = [nodeid for nodeid in then if nodeid in here and nodeid not in same]
    same |= {nodeid for nodeid in moved if not problems(source, wanted, before.only([nodeid]))}
    notes = [f"freezes are those of the merge base with `{ref}`, {source.commit[:12]}"]
    if new := sorted(nodeid for nodeid in here if here[nodeid] != then.get(nodeid)):
        notes.append(f"not in force, since the merge base does not have them so: {', '.join(f'`{each}`' for each in new)}")
    return Frozen(path=path, entries=before.only(same).entries, notes=tuple(notes))


def _refuse(path: str, wrong: tuple[str, ...], commit: str = "") -> None:
    if wrong:
        raise RefusedError(refusal(path, wrong, commit), HINT)


def refusal(path: str, wrong: tuple[str, ...], commit: str = "") -> str:
    """Say what is wrong with a ledger, a line for each thing."""
    where = f"`{path}`" + (f" of {commit[:12]}" if commit else "")
    listed = "\n".join(f"  {problem}" for problem in wrong)
    return f"{checking.number(len(wrong), 'problem')} in {where}:\n{listed}"


def readable(place: Place, settings: Settings) -> tuple[Path, dict[str, Entry]]:
    """Read a ledger that is to be changed, which must be free of faults; an absent one is empty."""
    path, found = load(place, settings)
    if found is not None:
        refuse_faults(path, found)
    return place.top / path, dict(found.entries) if found else {}


def refuse_faults(path: str, found: Ledger) -> None:
    """Raise `RefusedError` for a ledger of which something cannot be read."""
    if found.faults:
        listed = tuple(f"`{nodeid}`: {fault}" if nodeid else fault for nodeid, fault in found.faults)
        raise RefusedError(refusal(path, listed), MEND if found.written is None else TAKE_OUT)


def as_written(place: Place, settings: Settings) -> tuple[Path, dict[str, object]]:
    """Read a ledger from which entries are to be taken, whether or not each can be relied upon; an absent one is empty."""
    path, found = load(place, settings)
    found = found or Ledger(written={})
    if found.written is None:
        refuse_faults(path, found)
    return place.top / path, dict(found.written or {})


def store(path: Path, entries: dict[str, Entry]) -> None:
    """Write a ledger."""
    records.store(ledger.write(entries), path, "freezes")


def store_written(path: Path, written: dict[str, object]) -> None:
    """Write a ledger of entries as they stood in one."""
    records.store(strict_json.write_map(written), path, "freezes")


def _owners(place: Place) -> frozenset[str] | None:
    """List whom CODEOWNERS knows, in any of its places; None where no such file names anybody."""
    found = (records.read(place, path) for path in owners.PLACES)
    named = frozenset[str]().union(
        *(owners.named(content.decode("utf-8", "replace")) for content in found if content is not None)
    )
    return named or None
