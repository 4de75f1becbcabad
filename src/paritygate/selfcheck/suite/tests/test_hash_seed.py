def shopping():
    return {"tea", "milk"}


def test_the_list_starts_with_tea():
    assert ", ".join(shopping()) == "tea, milk"
