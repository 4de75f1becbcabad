from datetime import datetime

import pytest

UTC = not datetime.now().astimezone().utcoffset()


@pytest.mark.skipif(not UTC, reason="needs UTC")
def test_needs_utc():
    assert UTC


def test_skips_while_it_runs():
    if UTC:
        pytest.skip("nothing to convert")


@pytest.mark.skip(reason="never")
def test_skipped_everywhere():
    raise AssertionError


def test_run_everywhere():
    assert True
