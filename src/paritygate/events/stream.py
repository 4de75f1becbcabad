"""Pieces of bytes to numbered events: lines reassembled, foreign ones refused, doubles dropped, gaps known.

It keeps every event and gives none of them a meaning.
"""

from __future__ import annotations

from paritygate.events.wire import Event, Unknown, decode

MAX_LINE = 16 << 20


class Lines:
    """Puts whole lines together again. A line over the cap is dropped up to its newline."""

    def __init__(self, cap: int = MAX_LINE) -> None:
        self.cap = cap
        self.dropped = 0
        self._pieces: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, data: bytes) -> list[bytes]:
        """Take a piece and give the lines that it completes, without their newlines."""
        *complete, rest = data.split(b"\n")
        found = []
        for piece in complete:
            self._keep(piece)
            if not self._skipping:
                found.append(b"".join(self._pieces))
            self.reset()
        self._keep(rest)
        return found

    def _keep(self, piece: bytes) -> None:
        """Add to the line under way, or give it up when it grows over the cap."""
        if self._skipping:
            return
        self._size += len(piece)
        if self._size > self.cap:
            self._pieces, self._skipping = [], True
            self.dropped += 1
        elif piece:
            self._pieces.append(piece)

    def reset(self) -> None:
        """Forget the line under way."""
        self._pieces, self._size, self._skipping = [], 0, False


class Numbered:
    """Every event of one cell by its number, so that a stream may be read again from its beginning."""

    def __init__(self, nonce: str) -> None:
        self.nonce = nonce
        self._found: dict[int, Event | Unknown] = {}

    def take(self, line: bytes) -> Event | None:
        """Keep the event of a line; None for a foreign line, one seen before, or one without meaning."""
        event = decode(line)
        if event is None or event.n != self.nonce or event.s < 0 or event.s in self._found:
            return None
        self._found[event.s] = event
        return event if isinstance(event, Event) else None

    def faults(self) -> list[str]:
        """Say what is missing, by first and last number, and what was not understood."""
        found = []
        expected = 0
        for number, event in sorted(self._found.items()):
            if number > expected:
                found.append(f"events {expected} to {number - 1} are missing")
            if isinstance(event, Unknown) and event.fault:
                found.append(f"event {number} (`{event.e}`) is not understood: {event.fault}")
            expected = number + 1
        return found

    def events(self) -> list[Event]:
        """List what is known, in order."""
        return [event for _, event in sorted(self._found.items()) if isinstance(event, Event)]
