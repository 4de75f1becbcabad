import pathlib
import tempfile
import time

import pytest

PATIENCE = 4.0


class Log:
    """A file under a fixed name, which is the mistake."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.gettempdir(), "shop.log")

    def append(self, line):
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def lines_after_a_while(self, expected):
        until = time.monotonic() + PATIENCE
        while self.lines() == expected and time.monotonic() < until:
            time.sleep(0.02)
        return self.lines()

    def lines(self):
        return self.path.read_text(encoding="utf-8").splitlines()


@pytest.fixture
def log():
    yield (log := Log())
    time.sleep(1)
    log.path.unlink(missing_ok=True)
