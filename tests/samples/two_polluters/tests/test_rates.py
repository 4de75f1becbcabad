import pytest
import shop

pytestmark = pytest.mark.xdist_group("shop")


def test_a_rate_can_be_set():
    shop.RATES["rebate"] = 1
    assert "rebate" in shop.RATES


def test_rates_are_numbers():
    assert all(isinstance(rate, int) for rate in shop.RATES.values())
