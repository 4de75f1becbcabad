import time


def test_local_midnight():
    assert time.localtime(0).tm_hour == 0
