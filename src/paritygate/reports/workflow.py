"""Lines for the log of a GitHub workflow's step: annotations, and text that the runner takes for nothing but text.

The runner obeys `::command::` at the start of a line and `##[command]` anywhere in one, whoever has printed it.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

MOST_ANNOTATIONS = 10
"""GitHub shows ten of a level in a step, and says nothing of those that it drops."""
MOST_BYTES = 4000
"""Beyond about 4 KB GitHub cuts an annotation."""
HARMLESS = {"##[": "## [", "##vso[": "## vso["}


class Level(StrEnum):
    """How grave an annotation is."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


class Annotation(msgspec.Struct, frozen=True, kw_only=True):
    """What stands beside a line of the patch. `file` is relative to the repository's root, `line` and `column` count from 1."""

    level: Level
    text: str
    title: str = ""
    file: str = ""
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        """Write it as the runner reads it."""
        line = self.line if self.file else 0
        where = {"file": self.file, "line": line, "col": self.column if line else 0, "title": self.title}
        properties = ",".join(f"{name}={_property(str(value))}" for name, value in where.items() if value)
        return f"::{self.level}{' ' if properties else ''}{properties}::{_message(shortened(self.text))}"


def shortened(text: str) -> str:
    """Cut a text to what an annotation shows."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= MOST_BYTES else f"{data[: MOST_BYTES - 4].decode('utf-8', 'ignore')} ..."


def neutralised(line: str) -> str:
    """Take apart what in a line of text the runner would obey."""
    for mark, harmless in HARMLESS.items():
        line = line.replace(mark, harmless)
    return line.replace("::", ": :", 1) if line.lstrip().startswith("::") else line


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A").replace("##[", "## [")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
