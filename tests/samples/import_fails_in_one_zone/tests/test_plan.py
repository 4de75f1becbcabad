def test_plans_are_sorted():
    assert sorted([3, 1, 2]) == [1, 2, 3]


def test_broken_everywhere():
    assert sorted([3, 1, 2]) == [3, 2, 1]
