import pytest

REGISTRY = []


@pytest.mark.parametrize("number", range(12))
def test_something_is_registered(number):
    REGISTRY.append(number)
    assert number in REGISTRY


@pytest.mark.xdist_group("alone")
def test_the_registry_is_filled():
    assert REGISTRY
