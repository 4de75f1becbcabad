import pathlib
import tempfile
import time

LOCK = pathlib.Path(tempfile.gettempdir(), "shop.lock")


def test_it_writes():
    LOCK.touch()
    time.sleep(0.8)
    LOCK.unlink()
    assert not LOCK.exists()
