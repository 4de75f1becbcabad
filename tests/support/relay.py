"""A way to the engine over a port, plain or with TLS, as engines on other computers have it; it can be cut."""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path


class Relay:
    """Passes bytes between a port of this computer and a unix socket."""

    def __init__(self, target: str, context: ssl.SSLContext | None = None) -> None:
        self._target = target
        self._context = context
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    @property
    def port(self) -> int:
        """Say on which port it listens."""
        return int(self._listening.getsockname()[1])

    def cut(self) -> None:
        """Cut every connection that is open now."""
        for connection in tuple(self._open):
            with contextlib.suppress(OSError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)

    def close(self) -> None:
        """Listen no more, and wait for what is left."""
        self._listening.shutdown(socket.SHUT_RDWR)
        self.cut()
        for thread in self._threads:
            thread.join(10)
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listening.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=(near,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, near: socket.socket) -> None:
        with contextlib.ExitStack() as stack:
            stack.callback(near.close)
            if self._context is not None:
                try:
                    near = self._context.wrap_socket(near, server_side=True)
                except (ssl.SSLError, OSError):
                    return
                stack.callback(near.close)
            far = stack.enter_context(socket.socket(socket.AF_UNIX))
            far.connect(self._target)
            self._open += [near, far]
            back = threading.Thread(target=_pass_on, args=(far, near))
            back.start()
            _pass_on(near, far)
            back.join()


def _pass_on(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while piece := source.recv(1 << 16):
            sink.sendall(piece)
    for end in (source, sink):
        with contextlib.suppress(OSError):
            socket.socket.shutdown(end, socket.SHUT_RDWR)


@contextlib.contextmanager
def relayed(target: str, context: ssl.SSLContext | None = None) -> Iterator[Relay]:
    """Open a relay for as long as the context lasts."""
    relay = Relay(target, context)
    try:
        yield relay
    finally:
        relay.close()


def certificates(folder: Path) -> ssl.SSLContext:
    """Make a certificate for 127.0.0.1 that is its own authority, under the names that Docker uses, and a context to serve it."""
    key, certificate = folder / "key.pem", folder / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    (folder / "ca.pem").write_bytes(certificate.read_bytes())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.load_verify_locations(certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    return context
