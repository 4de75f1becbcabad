"""`paritygate run --plan`: what a run would do, as text or JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from paritygate.cli.user import Streams, nearest
from paritygate.gate.planning import Foreseen, PlannedCell
from paritygate.gate.sweeping import costs
from paritygate.gate.sweeping.costs import Cost
from paritygate.outcomes.words import ExitCode
from paritygate.reports.text import in_one_line, spell_out

PLAN = click.option("--plan", is_flag=True, help="Say what would run, and run nothing; `--json` says it for programs.")
STEPS = ("images", "cells", "confirm", "causes")


def answer(found: Foreseen, sweep: Cost | None, streams: Streams, *, as_json: bool) -> int:
    """Tell a plan on stdout, with that of the sweep that follows the gate, if there is one."""
    if as_json:
        record = msgspec.to_builtins(found, str_keys=True)
        record["sweep"] = None if sweep is None else msgspec.to_builtins(sweep.record, str_keys=True)
        click.echo(msgspec.json.format(msgspec.json.encode(record), indent=2).decode())
        return ExitCode.PARITY
    for line in (*told(found), *(() if sweep is None else of_sweep(sweep))):
        click.echo(line)
    if streams.answers.is_terminal:
        streams.say("nothing was run; the same without `--plan` runs it")
    return ExitCode.PARITY


def told(found: Foreseen) -> Iterator[str]:
    """Tell a plan in lines."""
    configured = f"configured in {found.source}" if found.source else "nothing configured"
    yield f"project    {spell_out(found.project)}, {configured}"
    asked = spell_out(" ".join(found.selection)) or "whatever pytest finds"
    yield f"selection  {asked}; which tests that are is known once they are collected"
    yield from (f"place      {spell_out(line)}" for line in found.places)
    yield f"trees      {', '.join(f'{state}: {count} files' for state, count in found.trees.items())}"
    yield ""
    yield from _cells(found)
    yield ""
    longest = max(len(each.axis) for each in found.axes)
    for each in sorted(found.axes, key=lambda each: not each.varied):
        values = " | ".join(f"{record.name} {record.axes[each.axis]}" for record in found.environments)
        state, said = ("to vary", values) if each.varied else ("equal", each.why)
        yield f"{state:<9}  {each.axis:<{longest}}  {in_one_line(said)}"
    yield ""
    yield from _images(found)
    yield from _time(found)
    yield from (f"note: {in_one_line(note)}" for note in found.notes)


def of_sweep(sweep: Cost) -> Iterator[str]:
    """Tell of the sweep after the gate, which runs where that comes to a verdict."""
    yield ""
    yield "sweep      after a gate that comes to a verdict"
    yield from (f"  {in_one_line(line)}" if line.strip() == line else f"  {line}" for line in costs.told(sweep))
    if sweep.budget is None:
        yield "  no further value is begun after as long as the gate took, at least 60 s"


def _cells(found: Foreseen) -> Iterator[str]:
    longest = max((len(cell.name) for cell in found.cells), default=0)
    for cell in found.cells:
        how = f"{_workers(cell)}, seed {cell.seed}{_order(cell)}{_took(cell)}"
        yield f"cell       {cell.name:<{longest}}  on {cell.runner}, {how}"


def _workers(cell: PlannedCell) -> str:
    return f"{cell.workers} worker{'s' * (cell.workers != 1)}" if cell.workers else "one process"


def _order(cell: PlannedCell) -> str:
    return ", order reversed" if cell.reversed else ""


def _took(cell: PlannedCell) -> str:
    return "" if cell.seconds is None else f", {cell.seconds:.0f} s the last time"


def _images(found: Foreseen) -> Iterator[str]:
    if not found.images:
        return
    absent = [each for each in found.images if not each.there]
    if not absent:
        yield f"images     all {len(found.images)} are there; trees that have changed are sent anew"
    for each in absent:
        yield f"to make    {each.what}: {each.name}"
    if len(found.images) == 1 and absent:
        yield "           and all that is made on it; `paritygate engine` finds or makes a base"


def _time(found: Foreseen) -> Iterator[str]:
    if not found.seconds:
        yield f"time       unknown: `{nearest(Path(found.report))}` is of no run of this selection"
        return
    steps = [f"{name} {found.seconds[name]:.0f} s" for name in STEPS if found.seconds.get(name, 0) >= 1]
    total = found.seconds.get("total", 0.0)
    parts = f" ({', '.join(steps)})" if steps else ""
    yield f"time       {total:.0f} s the last time{parts}; confirming and causes cost only where tests diverge"
