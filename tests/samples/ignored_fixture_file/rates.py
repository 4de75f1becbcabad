import json
import pathlib

RATES = json.loads((pathlib.Path(__file__).parent / "data" / "rates.json").read_text(encoding="utf-8"))
