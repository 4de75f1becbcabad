def test_new():
    assert True
