"""The order of a set goes by the hash seed."""

SHOWN = 742
"""What the hash below comes to under seed 11, and under no other of the first 29, in CPython from 3.11 on."""


def test_control():
    assert sorted({"tea", "milk"}) == ["milk", "tea"]


def test_tea_comes_first():
    assert next(iter({"tea", "milk"})) == "tea"


def test_one_place_of_many():
    assert hash("paritygate") % 1024 != SHOWN
