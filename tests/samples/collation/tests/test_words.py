import locale
from datetime import date

import pytest


@pytest.fixture
def user_locale():
    before = locale.setlocale(locale.LC_ALL)
    yield locale.setlocale(locale.LC_ALL, "")
    locale.setlocale(locale.LC_ALL, before)


def test_words_are_sorted(user_locale):
    assert sorted(["Zebra", "apple", "Äpfel", "Apple"], key=locale.strxfrm) == ["Äpfel", "apple", "Apple", "Zebra"]


def test_a_date_is_written(user_locale):
    assert date(2024, 12, 31).strftime("%x") == "12/31/24"


def test_the_locale_is_known(user_locale):
    assert user_locale.endswith("UTF-8")


def test_code_point_order():
    assert sorted(["b", "A", "a"]) == ["A", "a", "b"]
