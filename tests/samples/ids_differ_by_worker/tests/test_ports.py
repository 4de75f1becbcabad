import os

import pytest

WORKER = os.environ.get("PYTEST_XDIST_WORKER", "alone")


@pytest.mark.parametrize("port", [8000], ids=[f"port-of-{WORKER}"])
def test_a_port_is_free(port):
    assert port


def test_ports_have_numbers():
    assert isinstance(8000, int)
