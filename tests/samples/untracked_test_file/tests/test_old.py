def test_old():
    assert True
