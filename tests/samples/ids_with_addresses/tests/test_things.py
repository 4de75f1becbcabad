import pytest


class Thing:
    pass


@pytest.mark.parametrize("thing", [Thing(), Thing(), Thing()], ids=repr)
def test_thing(thing):
    assert isinstance(thing, Thing)


@pytest.mark.parametrize("function", [lambda: 1, lambda: 1], ids=str)
def test_function(function):
    assert function() == 1


def test_plain():
    assert True
