import invoices
import pytest

pytestmark = pytest.mark.xdist_group("money")


def test_an_invoice_has_its_tax():
    assert invoices.total(100) == 119


def test_an_invoice_of_nothing():
    assert invoices.total(0) == 0
