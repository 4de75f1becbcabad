def test_two():
    assert True


def test_one():
    assert True


def test_left_out():
    raise AssertionError
