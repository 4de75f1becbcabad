import shop
import toolz


def test_text():
    assert shop.VERSION == "1.16.0"


def test_the_tests_have_their_own_dependency():
    assert toolz.first([1, 2]) == 1
