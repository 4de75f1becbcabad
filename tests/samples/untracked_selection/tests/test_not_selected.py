def test_not_selected():
    raise AssertionError
