import pathlib

DATA = pathlib.Path(__file__).parent.parent / "data"


def test_prices_are_read():
    assert "tea" in (DATA / "Prices.csv").read_text(encoding="utf-8")
