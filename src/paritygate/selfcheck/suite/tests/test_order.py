SETTINGS = {"currency": "EUR"}


def test_the_currency_can_be_changed():
    SETTINGS["currency"] = "USD"
    assert SETTINGS["currency"] == "USD"


def test_prices_are_in_euro():
    assert SETTINGS["currency"] == "EUR"
