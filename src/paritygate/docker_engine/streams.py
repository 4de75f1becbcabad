"""The attached streams of a container: one connection, bytes in, frames out.

The engine puts a header of eight bytes before each piece: the stream's number, three zeros, the length as a big-endian integer.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from paritygate.docker_engine.failures import engine_errors

HEADER = struct.Struct(">BxxxL")
PIECE = 1 << 16
STDOUT = 1
STDERR = 2


def parse_frames(pieces: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """Cut a byte stream into frames; what is left of a frame that was cut off is dropped, since its log is read again."""
    held = bytearray()
    for piece in pieces:
        held += piece
        while len(held) >= HEADER.size:
            stream, length = HEADER.unpack_from(held)
            end = HEADER.size + length
            if len(held) < end:
                break
            yield stream, bytes(held[HEADER.size : end])
            del held[:end]


class SocketStreams:
    """Streams over the connection that the engine has handed over; those of a terminal are not framed.

    One thread writes and reads; any other may close.
    """

    def __init__(self, handed_over: Any, *, framed: bool = True) -> None:
        # Held, because the connection is closed when what it belongs to is forgotten.
        self._handed_over = handed_over
        # For a unix or tcp connection this is what `http.client` reads from, whose socket is inside; for TLS it is the socket.
        self._socket: socket.socket = getattr(handed_over, "_sock", handed_over)
        self._socket.settimeout(None)
        if self._socket.family != getattr(socket, "AF_UNIX", None):
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._closed = False
        self._framed = framed

    def write(self, data: bytes) -> None:
        """Send all bytes to the container's stdin."""
        with engine_errors("write to the container"):
            self._socket.sendall(data)

    def frames(self) -> Iterator[tuple[int, bytes]]:
        """Yield (1 or 2, bytes) until the streams end or `close` is called."""
        return parse_frames(self._pieces()) if self._framed else ((STDOUT, piece) for piece in self._pieces())

    def close(self) -> None:
        """Let go of the connection; a reader in another thread ends."""
        self._closed = True
        # Past the TLS layer, which must not be touched while another thread reads: this only wakes the reader.
        with suppress(OSError):
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def release(self) -> None:
        """Close for good; to be called when nobody reads any more."""
        self.close()
        # The objects around the connection were left half read when it was handed over, and would fail to close in their way.
        with suppress(OSError):
            descriptor = self._socket.detach()
            if descriptor >= 0:
                socket.close(descriptor)

    def _pieces(self) -> Iterator[bytes]:
        while not self._closed:
            try:
                with engine_errors("read from the container"):
                    piece = self._socket.recv(PIECE)
            except Exception:
                if self._closed:
                    return
                raise
            if not piece:
                return
            yield piece
