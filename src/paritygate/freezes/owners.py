"""Who owns anything here, by a CODEOWNERS file as GitHub, GitLab and others read it.

It asks who is named at all, not for which paths: a freeze has an owner of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

PLACES = (
    "CODEOWNERS",
    ".github/CODEOWNERS",
    ".gitlab/CODEOWNERS",
    "docs/CODEOWNERS",
    ".bitbucket/CODEOWNERS",
    ".gitea/CODEOWNERS",
)
"""Where such a file may be, from the tree's top."""

_SECTION = re.compile(r"\^?\[[^\]]*\](\[[0-9]+\])?(.*)")
_SPACE = re.compile(r"(?<!\\)\s+")


def named(text: str) -> frozenset[str]:
    """List everybody who is named, as `plain` writes them."""
    return frozenset(plain(owner) for line in text.splitlines() for owner in _owners(line))


def plain(owner: str) -> str:
    """Write an owner so that equal ones are equal: without `@`, in small letters."""
    return owner.strip().lstrip("@").casefold()


def _owners(line: str) -> Iterator[str]:
    """Yield the owners in a line: all words after its pattern, or after the name of a section, up to a comment."""
    line = line.strip()
    if not line or line.startswith("#"):
        return
    section = _SECTION.fullmatch(line)
    words = _SPACE.split(line)[1:] if section is None else section[2].split()
    for word in words:
        if word.startswith("#"):
            return
        yield word
