"""One test prepares what another needs, and a third hangs: where it stands must not hide that the order matters."""

import time

PREPARED = []


def test_prepares() -> None:
    PREPARED.append("all")


def test_hangs() -> None:
    time.sleep(600)


def test_needs_the_preparation() -> None:
    assert PREPARED == ["all"]


def test_minds_its_own_business() -> None:
    assert sum([1, 2]) == 3
