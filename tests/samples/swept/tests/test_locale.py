"""Each test goes wrong in the locales that one witness value, or several of a kind, are in the set for."""

import ctypes
import locale
import os
import sys
import time
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def user_locale():
    before = locale.setlocale(locale.LC_ALL)
    locale.setlocale(locale.LC_ALL, "")
    yield
    locale.setlocale(locale.LC_ALL, before)


def test_control():
    assert sorted(["b", "a"], key=locale.strxfrm) == ["a", "b"]


def test_decimal_point():
    assert locale.format_string("%.1f", 1.5) == "1.5"


def test_a_file_is_read_as_utf8(tmp_path):
    (tmp_path / "a.txt").write_bytes("\u00e4".encode())
    assert (tmp_path / "a.txt").read_text() == "\u00e4"


def test_a_wrong_encoding_is_an_error(tmp_path):
    (tmp_path / "a.txt").write_bytes("\u00e4".encode())
    try:
        read = (tmp_path / "a.txt").read_text()
    except UnicodeError:
        return
    assert read == "\u00e4"


def test_a_name_can_be_written(tmp_path):
    (tmp_path / "\u00e4.txt").write_text("")


def test_words_are_sorted_as_python_does():
    assert locale.strcoll("a", "B") > 0


def test_ch_is_two_letters():
    assert locale.strcoll("ch", "d") < 0


def test_letters_with_accents_are_sorted_with_theirs():
    assert locale.strcoll("\u00e4", "z") < 0 or locale.strcoll("a", "B") > 0


def test_nobody_groups_thousands_with_something_else_than_ascii():
    assert locale.localeconv()["thousands_sep"].isascii()


def test_utf8_mode_is_off():
    assert not sys.flags.utf8_mode


def test_days_have_latin_names():
    assert time.strftime("%a", time.gmtime(0))[0] < "\u0250"


def test_shells_capitalize_letters_as_ascii_does():
    assert chr(ctypes.CDLL(None).towupper(ord("i"))) == "I"


def test_the_cell_reads_what_it_writes(tmp_path):
    Path(tmp_path, "a.txt").write_text("plain")
    assert Path(tmp_path, "a.txt").read_text() == "plain"


def test_hours_are_24():
    assert time.strftime("%X", time.gmtime(13 * 3600)).startswith("13")


def test_months_are_as_long_in_bytes_as_in_letters():
    march = time.strftime("%b", time.gmtime(70 * 24 * 3600))
    assert len(os.fsencode(march)) == len(march)


def test_nobody_groups_thousands_with_points():
    assert locale.localeconv()["thousands_sep"] != "."


def test_before_a_stroke_is_a_month():
    written = time.strftime("%x", time.gmtime(30 * 24 * 3600))
    assert "/" not in written or written.startswith("01/")
