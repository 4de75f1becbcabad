import pytest
import shop

pytestmark = pytest.mark.xdist_group("shop")


def test_a_price_without_rebate():
    assert shop.price(10) == 10


@pytest.mark.parametrize("number", range(6))
def test_a_price_is_a_number(number):
    assert isinstance(shop.price(number), int)
