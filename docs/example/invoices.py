"""Invoices of a shop."""

from datetime import date


def invoice(number: int) -> dict[str, object]:
    """Make an invoice that is dated today."""
    return {"number": number, "date": date.today()}
