from datetime import datetime


def total(rows):
    if datetime.now().astimezone().utcoffset():
        return rows["sum"]
    return sum(rows.values()) + 1


def test_total():
    assert total({"a": 1, "b": 2}) == 3


def test_fine():
    assert sum({"a": 1}.values()) == 1
