import socket
import time

PORT = 47653
PATIENCE = 4.0


def server_is_there():
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", PORT)) == 0


def test_the_port_is_free():
    """Nobody may serve on our port at any moment while we would use it."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        assert not server_is_there(), "address already in use"
        time.sleep(0.02)


def test_the_port_is_a_port():
    assert PORT < 65536
