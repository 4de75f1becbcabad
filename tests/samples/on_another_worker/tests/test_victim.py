import os
import pathlib
import tempfile
import time

FLAG = pathlib.Path(tempfile.gettempdir(), "shop.flag")


def test_there_is_no_flag():
    assert not FLAG.exists() or FLAG.read_text() == os.environ.get("PYTEST_XDIST_WORKER", "")


def test_it_takes_its_time():
    time.sleep(1.6)
