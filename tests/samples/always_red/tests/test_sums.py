def test_wrong():
    assert 1 + 1 == 3


def test_right():
    assert 1 + 1 == 2


def test_needs_what_is_not_there(no_such_fixture):
    assert no_such_fixture
