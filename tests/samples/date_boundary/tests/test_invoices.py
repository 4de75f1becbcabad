from datetime import date, datetime, timezone


def invoice(number):
    return {"number": number, "date": date.today()}


def test_an_invoice_is_dated_today():
    assert invoice(1)["date"] == datetime.now(timezone.utc).date()


def test_numbers_go_up():
    assert [invoice(n)["number"] for n in range(3)] == [0, 1, 2]
