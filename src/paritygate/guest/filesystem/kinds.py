"""What a cell's files can lie on, as the launcher sees it."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple


class Filesystem:
    """What the cell's files lie on; this one is the image's own, which cannot fail."""

    way = ""
    unicode = ""
    case_rename = True
    instead_of = ""
    pid = 0

    def facts(self) -> Optional[Dict[str, Any]]:
        """Say what it is, None for the image's own."""
        names = ("way", "unicode", "case_rename", "instead_of")
        return {name: getattr(self, name) for name in names} if self.way else None

    def descriptors(self) -> List[int]:
        """List what is to be waited on."""
        return []

    def trouble(self) -> str:
        """Say why what tests have met since the last time may not be their own doing; empty where it is."""
        return ""

    def spellings(self, _pid: int, _began: float, _ended: float) -> List[Tuple[str, str]]:
        """List once what a process and its descendants asked for, and what is there, between two moments."""
        return []

    def end(self) -> None:
        """Let it go; nothing may use it any more."""
