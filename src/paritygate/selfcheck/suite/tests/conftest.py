import os
import pathlib
import tempfile

import pytest

TILL = pathlib.Path(tempfile.gettempdir(), "shop-till.log")


def pytest_sessionstart():
    """Open the till: every process that runs tests does, and all under one name, which is the planted fault."""
    with TILL.open("a", encoding="utf-8") as log:
        log.write(f"opened by {os.getpid()}\n")


@pytest.fixture
def till():
    return TILL
