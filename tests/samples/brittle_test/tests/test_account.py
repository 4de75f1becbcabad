import pytest

ACCOUNTS = {}


def test_an_account_can_be_opened():
    ACCOUNTS["main"] = 0
    assert "main" in ACCOUNTS


@pytest.mark.parametrize("number", range(8))
def test_other(number):
    assert number >= 0


def test_the_account_is_open():
    assert ACCOUNTS["main"] == 0
