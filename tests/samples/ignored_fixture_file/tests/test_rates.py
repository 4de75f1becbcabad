import json
import pathlib

DATA = pathlib.Path(__file__).parent.parent / "data"


def read(name):
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def test_rates_are_positive():
    assert all(rate > 0 for rate in read("rates.json").values())


def test_rates_have_a_currency():
    assert "EUR" in read("rates.json")


def test_a_tracked_file():
    assert read("names.json") == {"EUR": "euro"}
