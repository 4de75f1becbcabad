"""`paritygate freeze`: look at the ledger of frozen tests, and change it.

It decides nothing about a test: what may be frozen follows from a report, and what holds from the day.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import click
import msgspec

from paritygate import archive, places
from paritygate.axes import near_miss
from paritygate.cli.options import FILE, PROJECT
from paritygate.cli.user import absolute
from paritygate.config import file as config_file
from paritygate.config.settings import Settings
from paritygate.disciplines import freezing, records, thawing
from paritygate.disciplines.freezing import Check
from paritygate.disciplines.records import Place
from paritygate.errors import RefusedError, UsageError
from paritygate.freezes import checking, evidence, judging, ledger
from paritygate.freezes.ledger import Entry
from paritygate.outcomes.words import ExitCode

EXPIRES = click.option("--expires", required=True, metavar="YYYY-MM-DD", help="The last day, in UTC, on which it is let through.")


class Desk(msgspec.Struct, frozen=True, kw_only=True):
    """A project's ledger on the desk: where it lies, what is configured, and what day it is."""

    place: Place
    settings: Settings
    today: date

    @property
    def check(self) -> Check:
        """Say what the ledger is checked by."""
        return Check(settings=self.settings, today=self.today, exists=freezing.on_disk(self.place))

    def last_day(self, text: str) -> date:
        """Read the last day of a freeze that begins or goes on today."""
        day = ledger.day_of(text)
        if day is None:
            raise UsageError(f"`--expires {text}` is no day", "write it as YYYY-MM-DD")
        left = (day - self.today).days
        longest = self.today + timedelta(days=self.settings.freeze_days)
        if left < 0:
            raise RefusedError(
                f"`--expires {text}` is over; in UTC today is {self.today}", f"{longest} is the last day that can be"
            )
        if left > self.settings.freeze_days:
            message = f"`--expires {text}` is {left} days away, and {self.settings.freeze_days} are the most"
            raise RefusedError(message, f"{longest} is the last day that can be; `freeze-days` sets how many there are")
        return day


def desk_of(project: str) -> Desk:
    """Open a project's ledger."""
    folder = absolute(project).resolve()
    return Desk(
        place=records.of(folder, dict(os.environ)),
        settings=config_file.load(folder).settings,
        today=checking.today_of(datetime.now(UTC)),
    )


@click.group("freeze", no_args_is_help=False)
def freezes() -> None:
    """Let a nondeterministic test through until a day, on evidence; see what is frozen, and thaw it."""


@freezes.command("add")
@click.argument("nodeid")
@click.option("--owner", required=True, help="Who answers for it: a name that CODEOWNERS has, where there is such a file.")
@EXPIRES
@click.option("--reason", required=True, help="Why it is frozen rather than fixed.")
@click.option("--evidence", "report", required=True, type=FILE, help="A report that labels exactly this test `nondeterminism`.")
@click.option("--issue", default="", help="Where the repair is tracked.")
@PROJECT
def add(nodeid: str, report: Path, project: str, **asked: str) -> int:
    """Freeze NODEID, as the report names it."""
    desk = desk_of(project)
    path, entries = freezing.readable(desk.place, desk.settings)
    if nodeid in entries:
        raise UsageError(
            f"`{nodeid}` is frozen already, until {entries[nodeid].expires}", "`paritygate freeze extend` moves the end"
        )
    wanted = evidence.Asked(
        nodeid=nodeid,
        owner=_said("--owner", asked["owner"]),
        expires=desk.last_day(asked["expires"]),
        reason=_said("--reason", asked["reason"]),
        issue=asked["issue"],
    )
    proof = evidence.Report(name=report.name, artifact=archive.read(report), content=places.read(report))
    entries[nodeid] = entry = evidence.entry(wanted, proof, desk.today)
    _accept(desk, nodeid, entry)
    freezing.store(path, entries)
    click.echo(f"froze `{nodeid}` until {entry.expires} in `{desk.place.from_top(desk.settings.freezes)}`")
    if doubt := evidence.doubt(entry):
        click.echo(f"note: {doubt}", err=True)
    return ExitCode.PARITY


@freezes.command("extend")
@click.argument("nodeid")
@click.option("--expires", default="", metavar="YYYY-MM-DD", help="The new last day, in UTC; without it only the owner changes.")
@click.option("--owner", default="", help="Who answers for it from now on.")
@click.option("--reason", default="", help="Why it is not fixed yet.")
@PROJECT
def extend(nodeid: str, project: str, **asked: str) -> int:
    """Move the end of the freeze of NODEID, and keep count of it; or hand it to another owner."""
    if not asked["expires"] and not asked["owner"]:
        raise UsageError("`freeze extend` takes `--expires`, the new last day, or `--owner`, or both")
    if asked["reason"] and not asked["expires"]:
        raise UsageError("`--reason` says why the end is moved, and goes with `--expires`")
    desk = desk_of(project)
    path, entries = freezing.readable(desk.place, desk.settings)
    entry = _known(nodeid, entries)
    fields = {**entry.fields, "owner": _said("--owner", asked["owner"])} if asked["owner"] else entry.fields
    if asked["expires"]:
        fields = {**fields, **_moved(desk, nodeid, entry, asked)}
    entries[nodeid] = moved = ledger.made(fields)
    _accept(desk, nodeid, moved)
    freezing.store(path, entries)
    if moved.owner != entry.owner:
        click.echo(f"`{moved.owner}` answers for `{nodeid}` instead of `{entry.owner}`")
    if moved.expires != entry.expires:
        times = checking.number(len(moved.extended), "time")
        click.echo(
            f"`{nodeid}` is frozen until {moved.expires} instead of {entry.expires}; extended {times} since {_since(entry)}"
        )
    return ExitCode.PARITY


@freezes.command("list")
@PROJECT
def show(project: str) -> int:
    """List what is frozen, what ends first at the top; 5 where not all of it can be read."""
    desk = desk_of(project)
    path, found = freezing.load(desk.place, desk.settings)
    entries = {} if found is None else found.entries
    streaks = thawing.recall(desk.place.project)
    for nodeid, entry in sorted(entries.items(), key=lambda item: (item[1].expires, item[0])):
        left = (entry.expires - desk.today).days
        when = f"{checking.number(left, 'day')} left" if left >= 0 else "EXPIRED"
        click.echo(f"{entry.expires}  {when:>12}  {entry.owner}  {nodeid}")
        click.echo(f"    {' '.join(entry.reason.split())}{_history(entry)}")
        if gates := thawing.gates_due(streaks.get(nodeid), entry.expires, desk.settings.thaw_after):
            click.echo(f"    stable in {checking.number(gates, 'gate')} in a row: `paritygate freeze prune --stable` thaws it")
    if found is not None:
        freezing.refuse_faults(path, found)
    click.echo(f"{checking.number(len(entries), 'test')} frozen in `{path}`", err=True)
    return ExitCode.PARITY


@freezes.command("check")
@click.option("--ledger-from", "ref", default="", metavar="REF", help="Check the ledger of the merge base with this branch.")
@PROJECT
def check(ref: str, project: str) -> int:
    """Make sure that every entry can be relied upon; 5 where one cannot."""
    desk = desk_of(project)
    frozen = freezing.holding(desk.place, desk.check, ref)
    click.echo(f"{checking.number(len(frozen.entries), 'test')} frozen in `{frozen.path}`, and nothing is wrong with it")
    for nodeid, entry in frozen.entries.items():
        if unbound := judging.unbound(entry):
            click.echo(f"note: `{nodeid}`: {unbound}", err=True)
    if frozen.entries:
        click.echo("note: whether their files still hold these tests only a run can say, after its cells", err=True)
    return ExitCode.PARITY


@freezes.command("remove")
@click.argument("nodeids", nargs=-1, required=True, metavar="NODEID...")
@PROJECT
def remove(nodeids: tuple[str, ...], project: str) -> int:
    """Take entries out of the ledger, also such as cannot be read: of a test that is mended, renamed or gone."""
    desk = desk_of(project)
    path, written = freezing.as_written(desk.place, desk.settings)
    if unknown := [nodeid for nodeid in dict.fromkeys(nodeids) if nodeid not in written]:
        listed = ", ".join(f"`{nodeid}`{near_miss(nodeid, frozenset(written))}" for nodeid in unknown)
        raise UsageError(f"not frozen: {listed}", "nothing was removed; `paritygate freeze list` shows what is frozen")
    left = {nodeid: fields for nodeid, fields in written.items() if nodeid not in nodeids}
    freezing.store_written(path, left)
    for nodeid in dict.fromkeys(nodeids):
        click.echo(f"removed `{nodeid}`")
    click.echo(f"{checking.number(len(left), 'test')} frozen in `{desk.place.from_top(desk.settings.freezes)}`", err=True)
    return ExitCode.PARITY


@freezes.command("prune")
@click.option("--stable", is_flag=True, help="Thaw also what was stable in as many gates in a row as `thaw-after` says.")
@PROJECT
def prune(project: str, *, stable: bool) -> int:
    """Remove entries that have expired, or whose file is gone."""
    desk = desk_of(project)
    path, entries = freezing.readable(desk.place, desk.settings)
    streaks = thawing.recall(desk.place.project)
    left: dict[str, Entry] = {}
    for nodeid, entry in entries.items():
        if checking.is_expired(entry, desk.today):
            click.echo(f"removed `{nodeid}`, which expired on {entry.expires}")
        elif not desk.check.exists(nodeid.partition("::")[0]):
            click.echo(f"removed `{nodeid}`, whose file is gone")
        elif stable and (gates := thawing.gates_due(streaks.get(nodeid), entry.expires, desk.settings.thaw_after)):
            click.echo(f"thawed `{nodeid}`, stable in {checking.number(gates, 'gate')} in a row")
        else:
            left[nodeid] = entry
    if len(left) != len(entries):
        freezing.store(path, left)
    click.echo(f"{checking.number(len(left), 'test')} frozen in `{desk.place.from_top(desk.settings.freezes)}`", err=True)
    return ExitCode.PARITY


def _moved(desk: Desk, nodeid: str, entry: Entry, asked: Mapping[str, str]) -> dict[str, object]:
    """Say what changes in an entry whose end is moved."""
    day = desk.last_day(asked["expires"])
    if day <= entry.expires:
        raise UsageError(f"`{nodeid}` is frozen until {entry.expires} already", "give a later day")
    step = ledger.Extension(
        on=desk.today.isoformat(), before=entry.expires.isoformat(), after=day.isoformat(), reason=asked["reason"]
    )
    return {"expires": day.isoformat(), "extended": [msgspec.structs.asdict(each) for each in (*entry.extended, step)]}


def _accept(desk: Desk, nodeid: str, entry: Entry) -> None:
    """Refuse to write what the next run would refuse."""
    wrong = freezing.problems(desk.place, desk.check, ledger.Ledger(entries={nodeid: entry}))
    if wrong:
        raise RefusedError("; ".join(wrong), "give what the next run would accept")


def _known(nodeid: str, entries: dict[str, Entry]) -> Entry:
    if nodeid not in entries:
        raise UsageError(
            f"`{nodeid}` is not frozen{near_miss(nodeid, frozenset(entries))}", "`paritygate freeze list` shows what is"
        )
    return entries[nodeid]


def _said(option: str, text: str) -> str:
    if not text.strip():
        raise UsageError(f"`{option}` says nothing")
    return text.strip()


def _history(entry: Entry) -> str:
    times = f"; extended {checking.number(len(entry.extended), 'time')}" if entry.extended else ""
    return f" (since {_since(entry)}{times})"


def _since(entry: Entry) -> str:
    return "an unknown day" if entry.since is None else entry.since.isoformat()
