from rates import RATES


def test_rates_are_known_at_import():
    assert RATES
