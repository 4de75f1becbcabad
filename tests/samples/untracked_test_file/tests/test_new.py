def test_new():
    assert True


def test_newer():
    assert True
