import pytest


def shard(word):
    return hash(word) % 2


@pytest.mark.parametrize("word", ["tea", "milk", "jam", "honey"])
def test_the_first_shard_holds(word):
    assert shard(word) == 0


def test_a_shard_is_there():
    assert shard("bread") in {0, 1}
