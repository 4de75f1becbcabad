import json
import pathlib

DATA = pathlib.Path(__file__).parent.parent / "data"


def test_the_sample_is_read():
    assert json.loads((DATA / "sample.json").read_text(encoding="utf-8")) == {"answer": 42}


def test_another_file():
    assert json.loads((DATA / "other.json").read_text(encoding="utf-8")) == {"answer": 43}
