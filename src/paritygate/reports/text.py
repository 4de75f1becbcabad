"""How text from tests, cells and people is made fit for a line of a report."""

from __future__ import annotations

from collections.abc import Iterable

MOST_NAMES = 10
LEAST_WIDTH = 40


def spell_out(text: str) -> str:
    """Make control characters visible, so that what a test prints cannot act on the terminal."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii") for character in text
    )


def in_one_line(text: str) -> str:
    """Put what was said in several lines, such as the end of an output, into one."""
    return spell_out(" | ".join(line.strip() for line in text.splitlines()))


def cut(text: str, width: int) -> str:
    """Cut a line to a width, but never to nothing."""
    width = max(width, LEAST_WIDTH)
    return text if len(text) <= width else f"{text[: width - 3]}..."


def listed(names: Iterable[str]) -> str:
    """List names, not too many of them."""
    shown = [spell_out(name) for name in names]
    more = f" and {len(shown) - MOST_NAMES} more in the report" if len(shown) > MOST_NAMES else ""
    return f"{', '.join(shown[:MOST_NAMES])}{more}"
