import os

import pytest


def percent():
    return int.from_bytes(os.urandom(4), "big") * 100 / 2**32


@pytest.mark.parametrize("chance", [10, 30, 50])
def test_it_fails_now_and_then(chance):
    assert percent() >= chance


def test_coins_have_two_sides():
    assert 0 <= percent() < 100
