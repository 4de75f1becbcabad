from collections import Counter

import pytest

OPENED = Counter()


@pytest.fixture(scope="module", params=[1, 2])
def size(request):
    OPENED[request.param] += 1
    yield request.param


def test_sizes(size):
    assert OPENED[size] == 1


def test_more_sizes(size):
    assert OPENED[size] == 1
