"""What installing and building said: the whole in a file, the end at hand, no secret in either."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

TAIL = 25


class Transcript:
    """A log file that is being written; leaving the context closes it.

    The folder above it gets a `.gitignore`, so that logs never count as a change of the tree.
    """

    def __init__(self, path: Path, secrets: tuple[str, ...] = ()) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        ignore = path.parent.parent / ".gitignore"
        if path.parent.parent.name == ".paritygate" and not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
        self.path = path
        self._file = path.open("w", encoding="utf-8", errors="replace")
        self._secrets = secrets
        self._tail: deque[str] = deque(maxlen=TAIL)

    def __enter__(self) -> Self:
        """Give itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the file."""
        self._file.close()

    def write(self, line: str) -> None:
        """Write one line, every secret in it masked."""
        for secret in self._secrets:
            line = line.replace(secret, "****")
        self._file.write(f"{line}\n")
        if line.strip():
            self._tail.append(line)

    def read(self, frames: Iterable[tuple[int, bytes]]) -> None:
        """Write what a container says until it ends, both streams as they come, cut into lines."""
        held = {1: b"", 2: b""}
        for stream, data in frames:
            *lines, held[stream] = (held[stream] + data).split(b"\n")
            for line in lines:
                self.write(line.decode("utf-8", "replace").rstrip("\r"))
        for rest in held.values():
            if rest:
                self.write(rest.decode("utf-8", "replace"))

    @property
    def tail(self) -> str:
        """The last lines."""
        return "\n".join(self._tail)

    @property
    def last(self) -> str:
        """The very last line, empty when there is none."""
        return self._tail[-1] if self._tail else ""
