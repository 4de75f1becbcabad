import pathlib
import tempfile
import time

LOCK = pathlib.Path(tempfile.gettempdir(), "shop.lock")


def test_nobody_writes():
    time.sleep(0.3)
    assert not LOCK.exists()


def test_it_takes_its_time():
    time.sleep(1.6)
