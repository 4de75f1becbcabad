"""Where an entry's content comes from: a file on disk, such a file with LF for CRLF (`lf:PATH`), or a git object (`git:OID`)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import BinaryIO, Self

from paritygate.snapshot import git
from paritygate.snapshot.git import Blobs

LINE_FEEDS = "lf:"
OBJECT = "git:"
_CHUNK = 1 << 18
# A name may have become a named pipe since it was listed, and opening one waits for a writer.
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class Objects:
    """Git objects of a tree's repositories, by the references that entries hold."""

    def __init__(self, top: str, environ: Mapping[str, str]) -> None:
        self._top = top
        self._environ = environ
        self._blobs: dict[str, Blobs] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Start no process before an object is asked for."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End the processes."""
        self._stack.close()

    def read(self, source: str) -> tuple[int, Iterator[bytes]]:
        """Return an object's size and its pieces, which have to be used up; raises `OSError` where it is not here."""
        oid, _, prefix = source.removeprefix(OBJECT).partition("@")
        if prefix not in self._blobs:
            place = git.find(f"{self._top}/{prefix}", self._environ)
            if place is None:
                raise FileNotFoundError(2, "git is not installed")
            self._blobs[prefix] = self._stack.enter_context(Blobs(place))
        size = self._blobs[prefix].ask(oid)
        if size is None:
            raise FileNotFoundError(2, "the object is not in the repository")
        return size, self._blobs[prefix].content(size)


def open_file(path: str) -> BinaryIO:
    """Open a regular file, and nothing else; raises `OSError`."""
    stream = os.fdopen(os.open(path, _FLAGS), "rb")
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise OSError(0, "no longer a file")
    return stream


def with_line_feeds(path: str) -> bytes:
    """Read a text with LF for CRLF."""
    with open_file(path) as stream:
        return stream.read().replace(b"\r\n", b"\n")


def pieces(stream: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield the first `size` bytes; what is appended meanwhile is not in the snapshot, what is cut off is missing."""
    left = size
    while left > 0:
        piece = stream.read(min(left, _CHUNK))
        if not piece:
            return
        left -= len(piece)
        yield piece
