import socket

PORT = 47653
PATIENCE = 4.0


def test_serves():
    """Hold the port until somebody calls, or until nobody did for a while."""
    with socket.create_server(("127.0.0.1", PORT)) as server:
        server.settimeout(PATIENCE)
        try:
            caller, _ = server.accept()
        except TimeoutError:
            return
        caller.close()


def test_the_port_is_not_a_system_port():
    assert PORT > 1024
