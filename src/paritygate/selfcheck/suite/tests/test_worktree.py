import json
import pathlib

SETTINGS = pathlib.Path(__file__).parent.parent / "data" / "settings.local.json"


def test_the_currency_is_set():
    assert json.loads(SETTINGS.read_text(encoding="utf-8"))["currency"] == "EUR"
