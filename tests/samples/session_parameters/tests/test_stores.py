from collections import Counter

import pytest

OPENED = Counter()


@pytest.fixture(scope="session", params=["sqlite", "memory"])
def store(request):
    OPENED[request.param] += 1
    return request.param


def test_a_store_was_opened_once(store):
    assert OPENED[store] == 1


def test_another_one(store):
    assert OPENED[store] == 1


class TestMore:
    def test_a_store_is_still_the_one(self, store):
        assert OPENED[store] == 1

    def test_and_again(self, store):
        assert OPENED[store] == 1


def test_without_a_store():
    assert True
