import pytest
import shop

pytestmark = pytest.mark.xdist_group("shop")


def test_a_cart_has_a_rebate():
    shop.REBATES.append(5)
    assert sum(shop.REBATES) == 5


def test_an_empty_cart_costs_nothing():
    assert max(shop.price(0), 0) == 0
