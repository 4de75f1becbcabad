"""Three tests that are green where they were written; two of them are not green everywhere."""

from datetime import datetime, timezone
from pathlib import Path

from invoices import invoice

DATA = Path(__file__).parent / "data"


def test_an_invoice_has_its_number():
    assert invoice(7)["number"] == 7


def test_an_invoice_is_dated_today():
    assert invoice(7)["date"] == datetime.now(timezone.utc).date()


def test_an_invoice_has_a_header():
    assert (DATA / "Header.txt").read_text() == "Invoice\n"
