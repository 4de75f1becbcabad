import os


def flip():
    return os.urandom(1)[0] % 2


def test_heads():
    assert flip() == 1


def test_a_coin_has_two_sides():
    assert flip() in {0, 1}
