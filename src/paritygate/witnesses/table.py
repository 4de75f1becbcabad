"""What is swept over where nobody says otherwise: one table of values, each with the reason why it is there."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from paritygate.axes import AUTO
from paritygate.outcomes.words import Axis
from paritygate.witnesses.moments import MOMENTS
from paritygate.witnesses.sampling import SEEDS_ONE_IN, seeds_needed

UTF8_MODE = "PYTHONUTF8"
ALL = "all"
NONE = "none"
TESTS = "tests"
ROOT = "root"
HOMELESS = "HOME=read-only"
ORDERS = ("sorted", "reversed", "shuffled")


class Witness(msgspec.Struct, frozen=True):
    """A value as people write it, and why it is tried."""

    value: str
    why: str = ""


def _table(*rows: tuple[str, str]) -> tuple[Witness, ...]:
    return tuple(Witness(*row) for row in rows)


WITNESSES: Mapping[Axis, tuple[Witness, ...]] = MappingProxyType(
    {
        Axis.TIMEZONE: _table(
            ("UTC", "most servers have it, and it hides whatever takes local time for UTC"),
            ("Etc/GMT+12", "UTC-12: the last place where a date is over"),
            ("Pacific/Pago_Pago", "UTC-11: west of the date line, where people live"),
            ("Pacific/Honolulu", "UTC-10, far west, without daylight saving time"),
            ("America/Los_Angeles", "west, with the northern daylight saving time"),
            ("America/New_York", "west, and nearer to UTC"),
            ("America/St_Johns", "west, by half an hour: a minus before hours and minutes"),
            ("America/Santiago", "west, with the southern daylight saving time"),
            ("Atlantic/Azores", "at UTC-1 in winter and at UTC in summer"),
            ("Europe/London", "at UTC in winter, and an hour off in summer: what was written in one fails in the other"),
            ("Europe/Dublin", "its winter is the exception by law, so daylight saving time is negative"),
            ("Europe/Berlin", "east, with the northern daylight saving time"),
            ("Africa/Casablanca", "changed its rules in 2018, and goes back an hour for Ramadan"),
            ("Europe/Moscow", "changed its rules in 2011 and 2014: dates of the past have other offsets"),
            ("Asia/Kolkata", "east, by half an hour"),
            ("Asia/Kathmandu", "east, by three quarters of an hour"),
            ("Asia/Shanghai", "east, by whole hours, without daylight saving time"),
            ("Australia/Sydney", "east, with the southern daylight saving time"),
            ("Australia/Lord_Howe", "daylight saving time of half an hour"),
            ("Pacific/Chatham", "three quarters of an hour and daylight saving time together"),
            ("Pacific/Apia", "left out 30 December 2011, and gave up daylight saving time in 2021"),
            ("Pacific/Kiritimati", "UTC+14: the first place where a date begins"),
        ),
        Axis.LOCALE: _table(
            ("C.UTF-8", "what images have, and servers"),
            ("C", "nothing beyond ASCII in the C library; Python turns its UTF-8 mode on"),
            (f"C+{UTF8_MODE}=0", "UTF-8 mode off: files, names and arguments are ASCII"),
            ("en_US.UTF-8", "what most desktops have: words sorted without regard to case"),
            ("de_DE.UTF-8", "a decimal comma, and other names of days"),
            ("fr_FR.UTF-8", "a decimal comma, and a space within thousands that is not ASCII"),
            ("tr_TR.UTF-8", "the dotless i, in whatever the C library turns into capitals"),
            ("sv_SE.UTF-8", "another collation: letters with accents after z"),
            ("cs_CZ.UTF-8", "another collation: ch is a letter"),
            ("ja_JP.UTF-8", "names of days and months in other characters than Latin ones"),
            ("de_DE.ISO-8859-1", "a Latin-1 charset: UTF-8 files are read as something else, without an error"),
        ),
        Axis.HASH_SEED: tuple(
            Witness(str(seed), "no randomisation at all" if seed == 0 else "") for seed in range(seeds_needed(SEEDS_ONE_IN))
        ),
        Axis.WORKERS: _table(
            ("0", "one process, without pytest-xdist"),
            ("1", "pytest-xdist, and nothing at the same time"),
            ("2", "the least that can collide"),
            ("4", "more than two that share something, and other neighbours"),
            (AUTO, "what `-n auto` gives"),
        ),
        Axis.CLOCK: _table(*MOMENTS),
        Axis.DIRECTORY_ORDER: _table(
            ("sorted", "what hides that nobody sorts"),
            ("reversed", "the other way round"),
            ("shuffled", "as ordinary filesystems do it, in an order that nobody meant"),
        ),
        Axis.UMASK: _table(
            ("022", "what most systems have: others may read"),
            ("002", "the group may write, as where each user has a group"),
            ("027", "others may nothing"),
            ("077", "nobody else may anything"),
            ("000", "everybody may write"),
        ),
        Axis.CPUS: _table(
            (ALL, "every processor of the engine"),
            ("1", "nothing at the same time"),
            ("0.5", "half a processor, as small runners have: everything takes longer"),
        ),
        Axis.MEMORY: _table(
            (ALL, "the cell's share of the engine's"),
            ("1g", "a small runner"),
            ("512m", "a smaller one"),
            ("256m", "hardly more than Python and a few libraries"),
        ),
        Axis.VARIABLES: _table(
            (NONE, "nothing but what a cell takes"),
            ("CI=true", "what every CI service sets"),
            ("COLUMNS=40", "a narrow terminal: help texts and tables wrap"),
            ("COLUMNS=200", "a wide one"),
            ("NO_COLOR=1", "no colours"),
            ("FORCE_COLOR=1", "colours though nobody looks"),
            ("TERM=dumb", "a terminal that can do nothing"),
            (HOMELESS, "a home in which nothing can be written, as services have"),
        ),
        Axis.USER: _table(
            (TESTS, "without privileges, as cells run"),
            (ROOT, "as in many containers: modes of files keep nobody out"),
        ),
    }
)
"""What is swept over where nobody says otherwise; axes that are not in it cannot be swept."""
