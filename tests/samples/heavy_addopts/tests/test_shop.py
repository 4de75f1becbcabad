import pytest
import shop


def test_opens_at_midnight():
    assert shop.opens() == "00:00"


@pytest.mark.parametrize("number", range(20))
def test_plain(number):
    assert number < 20


def test_wrong():
    assert shop.opens() == "25:00"
