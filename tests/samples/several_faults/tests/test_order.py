SEEN = []


def test_leaves_something():
    SEEN.append(1)


def test_starts_empty():
    assert SEEN == []
