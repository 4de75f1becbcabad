import ctypes
from datetime import datetime


def test_before():
    assert True


def test_reads_address_zero():
    if datetime.now().astimezone().utcoffset():
        ctypes.string_at(0)


def test_after():
    assert True
