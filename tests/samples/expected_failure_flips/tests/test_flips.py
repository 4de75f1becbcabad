from datetime import datetime

import pytest

UTC = not datetime.now().astimezone().utcoffset()


@pytest.fixture
def clock():
    yield "clock"
    assert UTC, "the clock cannot be put back"


@pytest.mark.xfail(reason="zones are not supported yet")
def test_passes_unexpectedly_in_utc():
    assert UTC


@pytest.mark.xfail(reason="not written yet")
def test_fails_as_expected():
    raise AssertionError


def test_is_taken_down_badly(clock):
    assert clock == "clock"
