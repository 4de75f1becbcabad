import pytest


@pytest.mark.parametrize("number", range(10))
def test_green(number):
    assert number >= 0


def test_red():
    assert 1 == 2
