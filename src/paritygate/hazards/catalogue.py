"""What is known of each kind of hazard: why it is one, what to write instead, and which axes bring it to light."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from paritygate.outcomes.hazards import HazardKind
from paritygate.outcomes.words import Axis


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of a kind; `ruff` are the rules of ruff that find it (empty: ruff has none for it)."""

    why: str
    instead: str
    axes: tuple[Axis, ...] = ()
    ruff: tuple[str, ...] = ()


CATALOGUE: Mapping[HazardKind, Advice] = MappingProxyType(
    {
        HazardKind.NAIVE_CLOCK: Advice(
            why="date and hour are those of the machine's zone at this moment",
            instead=(
                "hand the clock or the moment in (`paritygate.portable.clocks`), or name the zone: `datetime.now(UTC)`; "
                "where local time is meant, pin the zone (`parity_pin`, `pinned_environment`)"
            ),
            axes=(Axis.TIMEZONE, Axis.CLOCK),
            ruff=("DTZ002", "DTZ005", "DTZ011"),
        ),
        HazardKind.LOCAL_TIME: Advice(
            why="the same moment has another date and hour in another zone",
            instead=(
                "name the zone: `datetime.fromtimestamp(seconds, UTC)`, `datetime(..., tzinfo=UTC)`, `time.gmtime`; "
                "where local time is meant, pin the zone (`parity_pin`, `pinned_environment`)"
            ),
            axes=(Axis.TIMEZONE,),
            ruff=("DTZ006", "DTZ012"),
        ),
        HazardKind.CLOCK_IN_ASSERTION: Advice(
            why="the clock moves on between the two readings, and at midnight so does the date",
            instead="hand in a clock that stands (`paritygate.portable.clocks`), and compare with a value that is written out",
            axes=(Axis.CLOCK, Axis.TIMEZONE),
        ),
        HazardKind.TIMED_ASSERTION: Advice(
            why="how long something takes is up to the machine and to what else runs on it",
            instead="assert on what was done (calls, steps), or wait for an event with a generous limit",
            axes=(Axis.CPUS, Axis.WORKERS),
        ),
        HazardKind.READ_AT_IMPORT: Advice(
            why="it is read once, when the module is imported: too early to be pinned, and too old later on",
            instead="read it where it is used, or hand it in",
            axes=(Axis.TIMEZONE, Axis.LOCALE, Axis.CLOCK),
        ),
        HazardKind.LOCALE_FORMAT: Advice(
            why="the locale decides how it looks",
            instead="write the format out: `%Y-%m-%d`, `%H:%M:%S`, `{:,}`",
            axes=(Axis.LOCALE,),
        ),
        HazardKind.LOCALE_ORDER: Advice(
            why="the locale decides which of two words comes first",
            instead="sort by a key of your own, such as `str.casefold`, or compare without order",
            axes=(Axis.LOCALE,),
        ),
        HazardKind.LOCALE_ENCODING: Advice(
            why="without `encoding` the locale decides how letters become bytes",
            instead='`encoding="utf-8"`',
            axes=(Axis.LOCALE,),
            ruff=("PLW1514",),
        ),
        HazardKind.FOLDER_ORDER: Advice(
            why="the filesystem decides in which order a folder is listed",
            instead="`sorted(...)`, or compare without order",
            axes=(Axis.DIRECTORY_ORDER, Axis.CASE_SENSITIVE),
        ),
        HazardKind.SET_ORDER: Advice(
            why="the hash seed decides in which order a set is walked, and it is another in each process",
            instead="`sorted(...)`, `dict.fromkeys(...)`, or compare without order",
        ),
        HazardKind.FIXED_PORT: Advice(
            why="another worker, another run or another program may have the port",
            instead="port 0, and ask the socket which one it got",
            axes=(Axis.WORKERS,),
        ),
        HazardKind.FIXED_TEMPORARY_PATH: Advice(
            why="workers and runs share the file, and not every machine has the folder",
            instead="pytest's `tmp_path`, or `tempfile`",
            axes=(Axis.WORKERS,),
        ),
        HazardKind.VARIABLE_WRITE: Advice(
            why="it stays set for every test that comes later in this process",
            instead=(
                "pytest's `monkeypatch.setenv`; zone, locale and hash seed have one place, "
                "the pins (`parity_pin`, or `pinned_environment` for one test)"
            ),
            axes=(Axis.WORKERS,),
        ),
        HazardKind.NAME_CASE: Advice(
            why="a filesystem that tells case apart does not have this name, nor does a fresh clone",
            instead="write the name as git has it, or rename with `git mv`",
            axes=(Axis.CASE_SENSITIVE, Axis.WORKTREE),
        ),
        HazardKind.UNTRACKED_FILE: Advice(
            why="git does not have the file, so a fresh clone has none",
            instead="`git add` it, or make it in the test",
            axes=(Axis.WORKTREE,),
        ),
        HazardKind.SUPPRESSION: Advice(
            why="nobody can tell later whether it still holds",
            instead="`# paritygate: allow[KIND] the reason`",
        ),
    }
)

KIND_OF_RULE: Mapping[str, HazardKind] = MappingProxyType(
    {rule: kind for kind, advice in CATALOGUE.items() for rule in advice.ruff}
)
