"""What values an axis takes, and what `auto` comes to."""

from __future__ import annotations

import itertools
import zoneinfo
from datetime import UTC, datetime, timedelta
from typing import Literal

import pytest

from paritygate import axes

MINUTES = 24 * 60
MARGIN_MINUTES = 2


def at(hour: int, minute: int = 0, *, month: int = 1) -> datetime:
    return datetime(2026, month, 15, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "zone", "sign"),
    [
        (at(0, 0), "America/Los_Angeles", -1),
        (at(7, 0), "America/Los_Angeles", -1),
        (at(7, 30), "Pacific/Honolulu", -1),
        (at(9, 30), "Pacific/Pago_Pago", -1),
        (at(10, 30), "Etc/GMT+12", -1),
        (at(11, 0), "Pacific/Auckland", 1),
        (at(13, 0), "Australia/Sydney", 1),
        (at(15, 0), "Asia/Tokyo", 1),
        (at(16, 0), "Asia/Shanghai", 1),
        (at(23, 27), "Asia/Shanghai", 1),
        (at(12, 0, month=7), "Pacific/Auckland", 1),
        (at(11, 0, month=7), "Etc/GMT+12", -1),
    ],
)
def test_auto_takes_the_first_preferred_zone_with_another_date_for_half_an_hour(moment: datetime, zone: str, sign: int) -> None:
    chosen = axes.choose_zone(moment, 1800)
    assert (chosen.name, chosen.sign, chosen.whole, chosen.wait) == (zone, sign, True, 0)


def test_shortly_before_midnight_auto_says_until_when_its_best_differs_and_that_waiting_helps() -> None:
    chosen = axes.choose_zone(at(23, 40), 1800)
    assert chosen == axes.Zone(
        name="Asia/Shanghai", sign=1, differs_until=datetime(2026, 1, 16, tzinfo=UTC), whole=False, wait=20 * 60
    )


def test_a_long_run_finds_no_zone_before_ten_and_is_told_to_wait_for_the_eastern_end() -> None:
    chosen = axes.choose_zone(at(9, 30), 180 * 60)
    assert (chosen.name, chosen.differs_until, chosen.whole, chosen.wait) == ("Etc/GMT+12", at(12), False, 30 * 60)


def test_no_waiting_helps_a_run_longer_than_any_zone_differs() -> None:
    chosen = axes.choose_zone(at(12), 15 * 3600)
    assert (chosen.whole, chosen.wait) == (False, 0)


def test_the_moment_may_be_given_in_any_zone() -> None:
    shanghai = at(16).astimezone(zoneinfo.ZoneInfo("Asia/Shanghai"))
    assert axes.choose_zone(shanghai, 60) == axes.choose_zone(at(16), 60)


def test_auto_differs_from_a_server_that_is_not_at_utc() -> None:
    chosen = axes.choose_zone(at(16), 1800, "Asia/Shanghai")
    assert (chosen.name, chosen.sign, chosen.whole) == ("America/Los_Angeles", -1, True)
    assert axes.date_sign(chosen.name, "Asia/Shanghai", at(16)) == -1


def differing_minutes(midnight: datetime, other: str, minutes: int) -> dict[str, tuple[bool, ...]]:
    """For every zone there is, minute by minute, whether its date differs; zones that behave alike are asked once."""
    moments = [midnight + timedelta(minutes=minute) for minute in range(minutes)]
    dates = [moment.astimezone(zoneinfo.ZoneInfo(other)).date() for moment in moments]
    alike: dict[tuple[timedelta | None, ...], str] = {}
    for name in sorted(zoneinfo.available_timezones()):
        zone = zoneinfo.ZoneInfo(name)
        alike.setdefault(tuple(moment.astimezone(zone).utcoffset() for moment in moments[::60]), name)
    return {
        name: tuple(
            moment.astimezone(zoneinfo.ZoneInfo(name)).date() != date for moment, date in zip(moments, dates, strict=True)
        )
        for name in {*alike.values(), *axes.PREFERRED_ZONES}
    }


def lasting(flags: tuple[bool, ...]) -> list[int]:
    """For each minute, for how many minutes from it on the dates differ without a break."""
    counts = itertools.accumulate(reversed(flags), lambda run, differs: run + 1 if differs else 0, initial=0)
    return list(counts)[:0:-1]


@pytest.mark.parametrize(
    ("date", "other", "none"),
    [
        ("2026-01-15", "UTC", (3, 32, 244)),
        ("2026-07-15", "UTC", (3, 32, 244)),
        ("2026-11-01", "America/New_York", (3, 32, 244)),
        ("2026-01-15", "Pacific/Kiritimati", (0, 0, 0)),
    ],
)
def test_the_date_differs_throughout_for_every_minute_unless_no_zone_there_is_would_do(
    date: str, other: str, none: tuple[int, int, int]
) -> None:
    """An independent search over all zones, minute by minute, is what `auto` must equal."""
    midnight = datetime.fromisoformat(date).replace(tzinfo=UTC)
    lasts = {name: lasting(flags) for name, flags in differing_minutes(midnight, other, 2 * MINUTES).items()}
    longest = [max(each) for each in zip(*lasts.values(), strict=True)]
    missing = []
    for length in (1, 30, 180):
        window = length + MARGIN_MINUTES
        chosen = [axes.choose_zone(midnight + timedelta(minutes=minute), length * 60, other) for minute in range(MINUTES)]
        for minute, zone in enumerate(chosen):
            assert zone.whole == (lasts[zone.name][minute] > window), (minute, zone)
            assert zone.whole == (longest[minute] > window), (minute, zone)
            assert zone.whole or lasts[zone.name][minute] == longest[minute], (minute, zone)
            later = minute + round(zone.wait / 60)
            assert zone.whole or later >= MINUTES or longest[later] > window, (minute, zone)
        missing.append(sum(not zone.whole for zone in chosen))
    assert tuple(missing) == none


@pytest.mark.parametrize(
    ("setting", "limit", "processors", "workers"),
    [
        (0, 0.0, 8, 0),
        (3, 0.0, 1, 3),
        ("auto", 0.0, 8, 8),
        ("auto", 0.0, 1, 2),
        ("auto", 0.5, 8, 2),
        ("auto", 2.5, 8, 3),
        ("auto", 16.0, 4, 4),
    ],
)
def test_automatic_workers_are_the_processors_of_the_cell_and_at_least_two(
    setting: int | Literal["auto"], limit: float, processors: int, workers: int
) -> None:
    assert axes.count_workers(setting, limit, processors) == workers


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("", 0),
        ("512m", 536_870_912),
        ("2g", 2_147_483_648),
        ("2GB", 2_147_483_648),
        ("1.5GiB", 1_610_612_736),
        ("10485760", 10_485_760),
    ],
)
def test_memory_is_read_as_bytes(text: str, amount: int) -> None:
    assert axes.memory_bytes(text) == amount


def test_memory_is_shared_between_the_cells_at_once() -> None:
    assert axes.share_of_memory(8 << 30, 3) == 2_863_311_530
    assert axes.share_of_memory(0, 3) == 0


@pytest.mark.parametrize("text", ["lots", "-1g", "2x", "1m", "g", "1 000m"])
def test_what_is_no_amount_of_memory_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=f"`{text}` is"):
        axes.memory_bytes(text)


@pytest.mark.parametrize("text", ["UTC", "auto", "Asia/Shanghai", "Etc/GMT+12"])
def test_zones_of_the_database_are_accepted(text: str) -> None:
    assert axes.zone_name(text) == text


@pytest.mark.parametrize(
    ("text", "guess"),
    [("Asia/Shangai", "Asia/Shanghai"), ("asia/tokyo", "Asia/Tokyo"), ("America/New York", "America/New_York")],
)
def test_an_unknown_zone_is_refused_with_a_guess(text: str, guess: str) -> None:
    with pytest.raises(ValueError, match=f"not a zone of the tz database; did you mean `{guess}`"):
        axes.zone_name(text)


@pytest.mark.parametrize("text", ["", "localtime", "Factory", "UTC+8", "Asia", "../Asia/Tokyo"])
def test_what_is_no_zone_of_the_database_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a zone"):
        axes.zone_name(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("C", "C"),
        ("POSIX", "POSIX"),
        ("C.utf8", "C.UTF-8"),
        ("en_US.UTF-8", "en_US.UTF-8"),
        ("de_DE.utf8", "de_DE.UTF-8"),
        ("de_DE.ISO-8859-15@euro", "de_DE.ISO-8859-15@euro"),
    ],
)
def test_locales_are_spelled_one_way(text: str, name: str) -> None:
    assert axes.locale_name(text) == name


@pytest.mark.parametrize(("text", "guess"), [("en_US", "en_US.UTF-8"), ("EN_us.UTF-8", "en_US.UTF-8"), ("c.utf-8", "C.UTF-8")])
def test_a_malformed_locale_is_refused_with_a_guess(text: str, guess: str) -> None:
    with pytest.raises(ValueError, match=f"is not a locale: .*; did you mean `{guess}`"):
        axes.locale_name(text)


@pytest.mark.parametrize(("text", "bits"), [("022", 0o022), ("0077", 0o077), ("0o027", 0o027), ("0", 0), ("777", 0o777)])
def test_a_umask_is_read_as_octal(text: str, bits: int) -> None:
    assert axes.umask_bits(text) == bits


@pytest.mark.parametrize("text", ["", "8", "-1", "1777", "u=rwx", "0x12"])
def test_what_is_no_umask_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a umask"):
        axes.umask_bits(text)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2028-02-29T23:59:30", "2028-02-29T23:59:30"),
        ("2028-02-29 23:59", "2028-02-29T23:59:00"),
        ("1971-01-01T00:00:00", "1971-01-01T00:00:00"),
        ("", ""),
        ("true", ""),
    ],
)
def test_a_clock_begins_at_a_local_time(text: str, moment: str) -> None:
    assert axes.clock_moment(text) == moment


@pytest.mark.parametrize(
    "text",
    [
        *("2027-02-29T12:00:00", "2028-02-29", "23:59:30", "20280229T120000", "2028-W09-2T12:00", "noon"),
        *("2028-02-29T12:00:00Z", "2028-02-29T12:00:00+01:00", "2028-02-29T12:00:00.5"),
    ],
)
def test_what_is_no_local_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a local time: write it as `2028-02-29T23:59:30`"):
        axes.clock_moment(text)


@pytest.mark.parametrize("text", ["1970-12-31T23:59:59", "2201-01-01T00:00:00", "0001-01-01T00:00:00"])
def test_a_clock_goes_only_where_clocks_can(text: str) -> None:
    with pytest.raises(ValueError, match="is not between 1971 and 2200"):
        axes.clock_moment(text)


def test_a_moment_that_its_zone_leaves_out_is_none_and_one_that_comes_twice_is() -> None:
    assert axes.clock_moment("2027-10-31T02:30:00", "Europe/Berlin") == "2027-10-31T02:30:00"
    assert axes.clock_moment("2027-03-28T02:30:00", "UTC") == axes.clock_moment("2027-03-28T02:30:00", "auto")
    with pytest.raises(ValueError, match="does not exist in `Europe/Berlin`: clocks are put forward then"):
        axes.clock_moment("2027-03-28T02:30:00", "Europe/Berlin")


@pytest.mark.parametrize(
    "name", ["PATH", "HOME", "TZ", "LC_ALL", "LANG", "PYTHONHASHSEED", "LD_PRELOAD", "PARITYGATE_NONCE", "A-B", ""]
)
def test_variables_that_would_break_the_cell_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"`{name}`"):
        axes.variable_name(name)


@pytest.mark.parametrize("name", ["CI", "_X1", "PYTHONUTF8", "PYTHONPATH", "TZDIR"])
def test_other_variables_are_accepted(name: str) -> None:
    assert axes.variable_name(name) == name


@pytest.mark.parametrize(
    ("text", "known", "said"),
    [
        ("--bogus", {"--host", "--project", "--debug"}, ""),
        ("--hots", {"--host", "--project"}, "; did you mean `--host`?"),
        ("--projekt", {"--host", "--project"}, "; did you mean `--project`?"),
        ("test-timeot", {"test-timeout", "cell-timeout"}, "; did you mean `test-timeout`?"),
        ("attempt", {"attempts", "seeds"}, "; did you mean `attempts`?"),
        ("Test_Timeout", {"test-timeout"}, "; did you mean `test-timeout`?"),
        ("tests", {"attempts", "seeds", "lock"}, ""),
        ("colour", {"locked", "clock", "lock"}, ""),
        ("image", {"include"}, ""),
    ],
)
def test_only_what_is_really_near_is_taken_for_a_slip(text: str, known: set[str], said: str) -> None:
    assert axes.near_miss(text, known) == said
