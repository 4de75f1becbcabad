"""How text from tests, cells and people is made fit for a line of a report."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from paritygate.outcomes.cells import EnvironmentName

MOST_NAMES = 10
LEAST_WIDTH = 20
MOST_LINES = 3
LEAST_ROOM = 200
"""For how many characters there is room in any case, in more lines where these are short."""
MOST_ENVIRONMENTS = 4
MOST_OF_A_GROUP = 2


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


def wrapped(text: str, width: int, indent: str = "", hanging: str = "") -> list[str]:
    """Break a line at its words, with an indent before the first part and one before the others.

    It takes few lines; of what is too long for them the middle is left out, since an error says what at its beginning and which
    at its end.
    """
    width = max(width, LEAST_WIDTH)
    most = max(MOST_LINES, -(-LEAST_ROOM // width))
    shown, room = text, len(text)
    while True:
        lines = textwrap.wrap(
            shown, width, initial_indent=indent, subsequent_indent=hanging, break_on_hyphens=False, replace_whitespace=False
        )
        if len(lines) <= most:
            return lines or [indent.rstrip()]
        room = min(room, most * width) - 1
        head = 2 * room // 3
        shown = f"{text[:head].rstrip()} ... {text[head - room :].lstrip()}"


COPIED = "to reproduce: "
"""What a line begins with that is to be copied as a whole."""


def folded(line: str, width: int) -> list[str]:
    """Break a line between words for a terminal, and further in from its second part on; nothing of it is left out.

    A command stays in one piece, and so does a word that is longer than a line: the terminal breaks it itself, and copies it
    whole.
    """
    if len(line) <= width or line.lstrip().startswith(COPIED):
        return [line]
    text = line.lstrip(" ")
    indent = line[: len(line) - len(text)]
    return textwrap.wrap(
        text,
        max(width, LEAST_WIDTH),
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
    )


def listed(names: Iterable[str]) -> str:
    """List names, not too many of them."""
    shown = [spell_out(name) for name in names]
    more = f" and {len(shown) - MOST_NAMES} more in the report" if len(shown) > MOST_NAMES else ""
    return f"{', '.join(shown[:MOST_NAMES])}{more}"


def outcomes_of(outcomes: Mapping[EnvironmentName, Sequence[str]]) -> str:
    """Say what a test did in each environment; of many environments, those that saw the same are one group."""
    if len(outcomes) <= MOST_ENVIRONMENTS:
        return " | ".join(f"{env} {' '.join(attempts)}" for env, attempts in outcomes.items())
    groups: dict[str, list[EnvironmentName]] = {}
    for env, attempts in outcomes.items():
        groups.setdefault(" or ".join(dict.fromkeys(attempts)), []).append(env)
    return " | ".join(f"{what} in {some_of(envs)}" for what, envs in sorted(groups.items(), key=lambda group: len(group[1])))


def some_of(names: Sequence[str]) -> str:
    """Name the first of a group, and how many more there are."""
    more = len(names) - MOST_OF_A_GROUP
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:MOST_OF_A_GROUP])} and {more} more"


STYLING = re.compile(r"\x1b\[[0-9;:]*m")
"""What terminals take for a colour or a weight."""


def in_a_block(text: str, most: int) -> str:
    """Make a text of several lines fit for a block: without colours, and without its middle beyond `most` characters."""
    plain = STYLING.sub("", text)
    if len(plain) > most:
        start, end = plain[: most // 3], plain[-(most - most // 3) :]
        plain = f"{start}\n[... {len(plain) - most} characters are in the report ...]\n{end}"
    return "\n".join(spell_out(line.replace("\t", "    ")) for line in plain.split("\n"))
