"""What is shared between workers, and what knows that it is one."""

import os


def count():
    return int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "0"))


def test_control():
    assert count() >= 0


def test_nobody_is_a_worker():
    assert "PYTEST_XDIST_WORKER" not in os.environ


def test_two_databases_are_enough():
    assert count() <= 2


def test_somebody_else_is_there():
    assert count() != 1


def test_everybody_is_a_worker():
    assert "PYTEST_XDIST_WORKER" in os.environ


def test_nobody_is_beside_it():
    assert count() <= 1


def test_there_is_a_quorum():
    assert count() >= 3
