"""The table of witness values: each can be had, has its reason, and is what its axis is about."""

from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paritygate.config.settings import SweepSettings
from paritygate.outcomes.words import Axis
from paritygate.witnesses.sampling import hidden, seeds_needed
from paritygate.witnesses.table import WITNESSES
from paritygate.witnesses.values import check, with_value, written
from tests.support.builders import an_environment

HOME = an_environment("home", timezone="Europe/Berlin", variables={"LC": "1"})


@pytest.mark.parametrize("axis", WITNESSES)
def test_every_value_is_one_of_its_axis_and_changes_nothing_else(axis: Axis) -> None:
    rows = WITNESSES[axis]
    assert len({each.value for each in rows}) == len(rows) > 1
    assert axis is Axis.HASH_SEED or all(each.why for each in rows)
    made = [with_value(axis, HOME, each.value, 2) for each in rows]
    touched = {field for one in made for field in one.__struct_fields__ if getattr(one, field) != getattr(HOME, field)}
    beside = {"variables"} if axis is Axis.LOCALE else set()
    assert touched - beside == {axis.value}
    for each in rows:
        check(axis, each.value)


def test_a_project_may_have_its_own_values_of_every_axis() -> None:
    assert {axis.value for axis in WITNESSES} == set(SweepSettings.__struct_fields__)


def test_the_zones_are_what_they_are_tried_for() -> None:
    winter, summer = datetime(2026, 1, 15, tzinfo=UTC), datetime(2026, 7, 15, tzinfo=UTC)
    offsets = {
        each.value: tuple(
            zoneinfo.ZoneInfo(each.value).utcoffset(moment).total_seconds() / 3600  # type: ignore[union-attr]
            for moment in (winter, summer)
        )
        for each in WITNESSES[Axis.TIMEZONE]
    }
    now = [pair[0] for pair in offsets.values()]
    assert (min(now), max(now)) == (-12, 14), "on any day some zone has another date than UTC"
    assert {round(hours % 1, 2) for hours in now} >= {0, 0.5, 0.75}
    assert any(pair[0] > pair[1] for pair in offsets.values())
    assert any(pair[0] < pair[1] for pair in offsets.values())
    assert sum(pair[0] < 0 for pair in offsets.values()) > 1
    assert offsets["Australia/Lord_Howe"] == (11, 10.5)


@pytest.mark.parametrize(
    ("axis", "value", "field", "expected"),
    [
        (Axis.LOCALE, "de_DE.utf8", "locale", "de_DE.UTF-8"),
        (Axis.LOCALE, "C+PYTHONUTF8=0", "variables", {"LC": "1", "PYTHONUTF8": "0"}),
        (Axis.HASH_SEED, "11", "hash_seed", 11),
        (Axis.WORKERS, "auto", "workers", 3),
        (Axis.UMASK, "027", "umask", 0o027),
        (Axis.CLOCK, "true", "clock", ""),
        (Axis.CLOCK, "2028-02-29 12:00", "clock", "2028-02-29T12:00:00"),
        (Axis.CLOCK, "short-day", "clock", "2027-03-28T12:00:00"),
        (Axis.CLOCK, "long-day", "clock", "2027-10-31T12:00:00"),
        (Axis.CPUS, "0.5", "cpus", 0.5),
        (Axis.MEMORY, "all", "memory", 0),
        (Axis.VARIABLES, "CI=true", "variables", {"LC": "1", "CI": "true"}),
        (Axis.VARIABLES, "none", "variables", {"LC": "1"}),
        (Axis.VARIABLES, "HOME=read-only", "variables", {"LC": "1", "HOME": "/home/read-only"}),
        (Axis.USER, "root", "user", "root"),
        (Axis.USER, "tests", "user", ""),
    ],
)
def test_values_are_read_as_people_write_them(axis: Axis, value: str, field: str, expected: object) -> None:
    assert getattr(with_value(axis, HOME, value, 3), field) == expected


@pytest.mark.parametrize(
    ("axis", "value", "said"),
    [
        (Axis.TIMEZONE, "Asia/Kolkatta", "did you mean `Asia/Kolkata`?"),
        (Axis.TIMEZONE, "auto", "name one"),
        (Axis.LOCALE, "german", "is not a locale"),
        (Axis.LOCALE, "C+LANG=x", "after `\\+` comes"),
        (Axis.HASH_SEED, "random", "is not a hash seed"),
        (Axis.HASH_SEED, "4294967296", "is not a hash seed"),
        (Axis.WORKERS, "-1", "is not a number of workers"),
        (Axis.DIRECTORY_ORDER, "created", "is not an order of names"),
        (Axis.UMASK, "9", "is not a umask"),
        (Axis.CLOCK, "noon", "is not a local time"),
        (Axis.CLOCK, "2027-03-28T02:30:00", "does not exist in `Europe/Berlin`"),
        (Axis.CPUS, "half", "no number of processors"),
        (Axis.CPUS, "8", "up to 2"),
        (Axis.MEMORY, "little", "is not an amount of memory"),
        (Axis.VARIABLES, "CI", "write `NAME=VALUE`"),
        (Axis.USER, "nobody", "is not a user"),
        (Axis.VARIABLES, "HOME=/", "the cell sets it"),
        (Axis.VARIABLES, "TZ=UTC", "the `timezone` axis sets it"),
    ],
)
def test_what_is_no_value_is_said(axis: Axis, value: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        with_value(axis, HOME, value, 2)


@pytest.mark.parametrize(
    ("zone", "short", "long"),
    [
        ("Europe/Berlin", "2027-03-28", "2027-10-31"),
        ("America/New_York", "2027-03-14", "2027-11-07"),
        ("America/Santiago", "2027-09-05", "2027-04-03"),
        ("Australia/Lord_Howe", "2027-10-03", "2027-04-04"),
        ("Asia/Shanghai", "", ""),
        ("UTC", "", ""),
        ("Nowhere/Land", "", ""),
    ],
)
def test_the_days_on_which_clocks_change_are_those_of_the_zone(zone: str, short: str, long: str) -> None:
    home = an_environment("home", timezone=zone)
    days = [written(Axis.CLOCK, home, value) for value in ("short-day", "long-day")]
    assert days == [f"{day}T12:00:00" if day else "" for day in (short, long)]


@settings(deadline=None)
@given(st.integers(2, 400))
def test_so_many_seeds_are_tried_that_a_fault_would_have_been_seen(one_in: int) -> None:
    tried = seeds_needed(one_in)
    assert (1 - 1 / one_in) ** tried <= 0.05 < (1 - 1 / one_in) ** (tried - 1)
    assert hidden(tried) == one_in
    assert hidden(tried - 1) == one_in - 1


def test_the_seeds_of_the_table_find_what_shows_under_one_of_ten() -> None:
    assert hidden(len(WITNESSES[Axis.HASH_SEED])) == 10
    assert (hidden(0), hidden(1)) == (0, 1)


def test_an_environment_is_compared_by_all_it_has() -> None:
    assert with_value(Axis.TIMEZONE, HOME, "Europe/Berlin", 2) == HOME
    assert msgspec.structs.replace(HOME, hash_seed=0) != HOME
