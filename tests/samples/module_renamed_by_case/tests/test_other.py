import shop


def test_elsewhere():
    assert shop.__name__ == "shop"
