import os
import pathlib
import tempfile
import time

FLAG = pathlib.Path(tempfile.gettempdir(), "shop.flag")


def test_it_leaves_a_flag():
    time.sleep(0.5)
    FLAG.write_text(os.environ.get("PYTEST_XDIST_WORKER", ""))
    assert FLAG.exists()
