"""What is so of values follows from what their cells measured, and a value is proven by that alone."""

from __future__ import annotations

from typing import Any

import pytest

from paritygate.outcomes.cells import ClockFacts
from paritygate.outcomes.words import Axis, CellStatus
from paritygate.sweeps import proofs
from paritygate.sweeps.facts import facts, offset
from paritygate.witnesses.values import NOBODYS_HOME
from tests.support.builders import a_cell, a_probe, a_run, an_environment

HOUR = 3600
READ_ONLY = {"variables": {"HOME": NOBODYS_HOME}}


def a_zone(january: float, july: float, *, now: float | None = None, date: str = "2024-05-01") -> Any:
    return a_probe(
        utcoffset_january=int(january * HOUR),
        utcoffset_july=int(july * HOUR),
        utcoffset_now=int((july if now is None else now) * HOUR),
        local_date=date,
    )


ZONES = {
    "UTC": a_zone(0, 0),
    "Los_Angeles": a_zone(-8, -7),
    "Honolulu": a_zone(-10, -10, date="2024-04-30"),
    "Kolkata": a_zone(5.5, 5.5),
    "Kathmandu": a_zone(5.75, 5.75),
    "Sydney": a_zone(11, 10),
}


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("west of UTC", "Los_Angeles Honolulu"),
        ("east of UTC", "Kolkata Kathmandu Sydney"),
        ("at UTC's own time", "UTC"),
        ("where the date is behind UTC's", "Honolulu"),
        ("where clocks change within the year", "Los_Angeles Sydney"),
        ("where summer is in January", "Sydney"),
        ("where daylight saving time is in force", "Los_Angeles"),
        ("where the offset from UTC is not a whole number of hours", "Kolkata Kathmandu"),
        ("where the offset from UTC is not a whole number of half hours", "Kathmandu"),
        ("at UTC+5:45 and east of it", "Kathmandu Sydney"),
        ("at UTC-7 and west of it", "Los_Angeles Honolulu"),
    ],
)
def test_zones_have_in_common_what_was_measured(words: str, values: str) -> None:
    known = {fact.words: fact.holds for fact in facts(Axis.TIMEZONE, ZONES, {})}
    assert known[words] == set(values.split())
    assert all(each and each != set(ZONES) for each in known.values())


def test_that_it_is_summer_is_said_before_that_it_is_the_southern_one() -> None:
    words = [fact.words for fact in facts(Axis.TIMEZONE, {"Sydney": a_zone(11, 10, now=11), "Berlin": a_zone(1, 2, now=1)}, {})]
    assert words.index("where daylight saving time is in force") < words.index("where summer is in January")


def test_locales_umasks_and_workers_have_their_own_words() -> None:
    locales = {
        "de": a_probe(locale="de_DE.UTF-8", decimal_point=",", encoding="UTF-8", collation=("a", "B")),
        "latin": a_probe(locale="de_DE.ISO-8859-1", decimal_point=",", encoding="ISO-8859-1", collation=("a", "B")),
        "C": a_probe(locale="C", encoding="utf-8", utf8_mode=True, collation=("B", "a")),
    }
    known = {fact.words: fact.holds for fact in facts(Axis.LOCALE, locales, {})}
    assert known["with a decimal comma"] == {"de", "latin"}
    assert known["where UTF-8 is not the encoding"] == {"latin"}
    assert known["where words are sorted by code point"] == {"C"}
    assert known["with the language `de_DE`"] == {"de", "latin"}
    masks = {f"{mask:03o}": a_probe(umask=mask) for mask in (0o022, 0o077, 0o002)}
    assert {fact.words: fact.holds for fact in facts(Axis.UMASK, masks, {})}["where others may not read"] == {"077"}
    workers = {"0": 0, "2": 2, "auto": 2}
    found = {fact.words: fact.holds for fact in facts(Axis.WORKERS, dict.fromkeys(workers, a_probe()), workers)}
    assert found == {"with 2 or more workers": {"2", "auto"}}
    assert facts(Axis.HASH_SEED, locales, {}) == ()


def test_an_offset_is_written_as_people_do() -> None:
    assert [offset(each) for each in (0, 20700, -12600, 50400)] == ["UTC+0", "UTC+5:45", "UTC-3:30", "UTC+14"]


@pytest.mark.parametrize(
    ("axis", "environment", "probe", "said"),
    [
        (Axis.LOCALE, {"locale": "C", "variables": {"PYTHONUTF8": "0"}}, {"utf8_mode": True}, "UTF-8 mode is on"),
        (Axis.LOCALE, {"locale": "de_DE.ISO-8859-1"}, {"encoding": "utf-8"}, "files are read as utf-8"),
        (Axis.LOCALE, {"locale": "de_DE.ISO-8859-1"}, {"encoding": "ISO-8859-1"}, ""),
        (Axis.DIRECTORY_ORDER, {"directory_order": "sorted"}, {"listing": ("a", "b", "c")}, ""),
        (Axis.DIRECTORY_ORDER, {"directory_order": "sorted"}, {"listing": ("c", "b", "a")}, "which is not sorted"),
        (Axis.DIRECTORY_ORDER, {"directory_order": "reversed"}, {"listing": ("c", "b", "a")}, ""),
        (Axis.DIRECTORY_ORDER, {"directory_order": "shuffled"}, {"listing": ("b", "c", "a")}, ""),
        (Axis.DIRECTORY_ORDER, {"directory_order": "shuffled"}, {"listing": ("a", "b", "c")}, "which is not shuffled"),
        (Axis.DIRECTORY_ORDER, {"directory_order": "shuffled"}, {"listing": ()}, "nothing can be created"),
        (Axis.CPUS, {"cpus": 0.5}, {"cpus": 0.5}, ""),
        (Axis.CPUS, {"cpus": 0.5}, {"cpus": 2.0}, "2 processors instead of 0.5"),
        (Axis.CPUS, {"cpus": 0.0}, {"cpus": 2.0}, ""),
        (Axis.MEMORY, {"memory": 1 << 28}, {"memory": 0}, "no limit of bytes of memory"),
        (Axis.MEMORY, {"memory": 1 << 28}, {"memory": 1 << 28}, ""),
        (Axis.VARIABLES, {"variables": {"CI": "true"}}, {"variables": ("HOME",)}, "do not have `CI`"),
        (Axis.VARIABLES, READ_ONLY, {"variables": ("HOME",)}, "home is `/parity/home`"),
        (Axis.VARIABLES, READ_ONLY, {"home": NOBODYS_HOME, "filesystems": {"home": "tmpfs"}}, ""),
        (Axis.VARIABLES, READ_ONLY, {"home": NOBODYS_HOME, "filesystems": {"home": "ext4"}}, "is made for containers alone"),
        (
            Axis.VARIABLES,
            READ_ONLY,
            {"home": NOBODYS_HOME, "filesystems": {"home": "tmpfs"}, "case": {"home": {"keeps": True}}},
            "can be written",
        ),
        (Axis.USER, {"user": "root"}, {"uid": 1000}, "run as user 1000"),
        (
            Axis.USER,
            {"user": "root"},
            {"uid": 0, "capabilities": "CapEff=0000000000000000 CapBnd=00000000000000fb"},
            "keep root out",
        ),
        (Axis.USER, {"user": "root"}, {"uid": 0, "capabilities": "CapEff=00000000000000fb CapBnd=00000000000000fb"}, ""),
        (Axis.USER, {"user": ""}, {"uid": 1000}, ""),
        (Axis.USER, {"user": ""}, {"uid": 0}, "run as root"),
        (Axis.TIMEZONE, {"timezone": "Asia/Tokyo"}, {}, ""),
        (Axis.CLOCK, {"clock": ""}, {}, ""),
        (Axis.CLOCK, {"clock": ""}, {"clock": ClockFacts(moved=60.0)}, "moved by 60 s"),
        (Axis.CLOCK, {"clock": "2027-06-15T12:00:00"}, {}, "the computer's own time"),
        (Axis.CLOCK, {"clock": "2027-06-15T12:00:00"}, {"clock": ClockFacts(moved=0.0)}, "the computer's own time"),
        (Axis.CLOCK, {"clock": "2024-05-01T12:00:00"}, {"clock": ClockFacts(moved=9.0)}, ""),
        (Axis.CLOCK, {"clock": "2024-04-30T23:59:59"}, {"clock": ClockFacts(moved=9.0)}, ""),
        (Axis.CLOCK, {"clock": "2024-05-02T00:00:00"}, {"clock": ClockFacts(moved=9.0)}, "the date is 2024-05-01 in spite of"),
    ],
)
def test_a_value_is_proven_by_what_its_cell_measured(
    axis: Axis, environment: dict[str, Any], probe: dict[str, Any], said: str
) -> None:
    found = proofs.problem(axis, an_environment(**environment), a_cell(probe=a_probe(**probe)))
    assert (said in found) if said else not found


def test_a_cell_that_is_not_what_it_should_be_proves_nothing_and_one_that_died_is_no_values_fault() -> None:
    environment = an_environment()
    refused = a_cell(status=CellStatus.ENVIRONMENT_MISMATCH, detail="locale `x`: not generated\nsecond line")
    assert proofs.problem(Axis.UMASK, environment, refused) == "locale `x`: not generated"
    unmeasured = a_cell(status=CellStatus.UNUSABLE, detail="the probe gave no answer")
    assert proofs.problem(Axis.LOCALE, environment, unmeasured) == "the probe gave no answer"
    assert not proofs.problem(Axis.LOCALE, environment, a_cell(status=CellStatus.CRASHED))


@pytest.mark.parametrize(
    ("umask", "said"),
    [
        (0o777, "with this umask nothing that the cell makes can be read or written or entered, even by itself"),
        (0o477, "with this umask nothing that the cell makes can be read, even by itself"),
        (0o077, "the probe gave no answer (exit status -9)"),
    ],
)
def test_a_umask_that_keeps_the_cell_itself_out_is_told_in_words(umask: int, said: str) -> None:
    ended = a_cell(status=CellStatus.UNUSABLE, detail="the probe gave no answer (exit status -9)\nTraceback")
    assert proofs.problem(Axis.UMASK, an_environment(umask=umask), ended) == said
    assert not proofs.problem(Axis.UMASK, an_environment(umask=umask), a_cell(probe=a_probe(umask=umask)))


def test_workers_are_proven_by_those_that_ran() -> None:
    wanted = an_environment(workers=4)
    ran = a_cell(runs=[a_run("t")], probe=a_probe(), workers=2)
    assert proofs.problem(Axis.WORKERS, wanted, ran) == "the tests had 2 workers instead of 4"
    assert not proofs.problem(Axis.WORKERS, an_environment(workers=2), ran)


def a_moment(date: str, time: str = "12:00", **changes: Any) -> Any:
    return a_probe(local_date=date, utc_date=date, local_time=time, clock=ClockFacts(moved=1.0), **changes)


MOMENTS = {
    "true": a_probe(local_date="2026-11-30", utc_date="2026-11-30", local_time="14:00", clock=ClockFacts(moved=0.0)),
    "january": a_moment("2027-01-31", utcoffset_now=3600, utcoffset_january=3600, utcoffset_july=7200),
    "summer": a_moment("2027-06-13", utcoffset_now=7200, utcoffset_january=3600, utcoffset_july=7200),
    "night": a_moment("2027-06-16", "00:00"),
    "evening": a_moment("2027-06-15", "23:45"),
    "leap": a_moment("2028-02-29"),
    "morning": a_moment("2028-11-15", "09:05"),
    "new year": a_moment("2046-01-01"),
}


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("on a Sunday", ("january", "summer")),
        ("on a Monday", ("true", "new year")),
        ("at a weekend", ("january", "summer")),
        ("on the last day of a month", ("true", "january", "leap")),
        ("on the first day of a month", ("new year",)),
        ("on a day that not every month has", ("true", "january", "leap")),
        ("in a leap year", ("leap", "morning")),
        ("in June", ("summer", "night", "evening")),
        ("before one in the morning", ("night",)),
        ("before noon", ("night", "morning")),
        ("after eleven in the evening", ("evening",)),
        ("while daylight saving time is in force", ("summer",)),
        ("outside of daylight saving time", ("january",)),
        ("after 19 January 2038", ("new year",)),
        ("from 2028-02-29 on", ("leap", "morning", "new year")),
        ("until 2027-01-31", ("true", "january")),
        ("where the clock is moved", tuple(MOMENTS)[1:]),
    ],
)
def test_moments_have_in_common_what_was_measured(words: str, values: tuple[str, ...]) -> None:
    known = {fact.words: fact.holds for fact in facts(Axis.CLOCK, MOMENTS, {})}
    assert known[words] == set(values)
    assert all(each and each != set(MOMENTS) for each in known.values())


def test_the_31st_is_a_day_of_its_own() -> None:
    days = {date: a_moment(date) for date in ("2027-01-31", "2027-04-30", "2027-10-31", "2027-03-29")}
    known = {fact.words: fact.holds for fact in facts(Axis.CLOCK, days, {})}
    assert known["on the 31st"] == {"2027-01-31", "2027-10-31"}


def test_an_older_cell_that_does_not_say_its_time_is_at_no_hour() -> None:
    known = {fact.words for fact in facts(Axis.CLOCK, {"a": a_moment("2027-01-01", ""), "b": a_moment("2027-01-02", "")}, {})}
    assert not [words for words in known if "noon" in words or "morning" in words or "evening" in words]
