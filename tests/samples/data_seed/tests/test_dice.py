import random

import pytest


@pytest.mark.parametrize("player", range(8))
def test_a_high_throw(player):
    assert random.randint(1, 6) > 3


def test_a_die_has_six_sides():
    assert 1 <= random.randint(1, 6) <= 6
