import threading
from datetime import datetime


def test_before():
    assert True


def test_waits_for_midnight():
    if datetime.now().astimezone().utcoffset():
        threading.Event().wait()


def test_after():
    assert True
