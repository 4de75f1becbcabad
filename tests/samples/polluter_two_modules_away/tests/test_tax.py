import countries
import pytest
import tax

pytestmark = pytest.mark.xdist_group("money")


@pytest.mark.parametrize("number", range(10))
def test_tax_is_a_number(number):
    assert isinstance(tax.tax(number), int)


def test_another_country():
    countries.CURRENT["rate"] = 21
    assert tax.tax(100) == 21
