import locale
import time


def is_utc():
    return time.tzname[0] == "UTC"


def sorts_plainly():
    locale.setlocale(locale.LC_COLLATE, "")
    return locale.strxfrm("Z") < locale.strxfrm("a")


def test_two_together():
    assert not (is_utc() and sorts_plainly())


def test_either_of_two():
    assert not (is_utc() or sorts_plainly())


def test_one_behind_another():
    assert not is_utc()
    assert not sorts_plainly()


def test_fails_in_another_way_where_only_one_is_there():
    if is_utc():
        assert not sorts_plainly()
        raise LookupError("no local time")


def test_of_neither():
    assert is_utc() in (True, False)
