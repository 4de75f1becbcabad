"""The order of a set of words goes by the hash seed."""

import sys


def test_control():
    assert sorted({"tea", "milk"}) == ["milk", "tea"]


def test_tea_comes_first():
    assert next(iter({"tea", "milk"})) == "tea"


def test_only_the_eleventh_seed_shows_it():
    assert hash("paritygate") % 64 != SHOWN


SHOWN = 0
