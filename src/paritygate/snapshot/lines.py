"""Line endings: whose disk content a fresh clone on Linux would have with other ones."""

from __future__ import annotations

import os
from collections.abc import Collection

from paritygate.snapshot import git
from paritygate.snapshot.git import Blobs, Git

_ATTRIBUTES = ("text", "eol", "filter", "working-tree-encoding", "ident")
_LIMIT = 64 << 20

Attributes = dict[str, str]


def attributes(repository: Git, paths: Collection[str]) -> dict[str, Attributes]:
    """Ask for the attributes that change content between repository and disk."""
    if not paths:
        return {}
    listing = b"".join(os.fsencode(path) + b"\0" for path in paths)
    words = git.records(git.run(repository, "check-attr", "-z", "--stdin", *_ATTRIBUTES, stdin=listing))
    found: dict[str, Attributes] = {path: {} for path in paths}
    for path, name, value in zip(words[::3], words[1::3], words[2::3], strict=True):
        found[path][name] = value
    return found


def same_in_clone(known: Attributes) -> bool:
    """Say whether a clone converts this path as the disk's checkout did: by attributes, which travel with the repository."""
    given = {name for name, value in known.items() if value not in {"unspecified", "unset"}}
    return bool(given & {"filter", "working-tree-encoding", "ident"}) or known.get("eol") == "crlf"


def loses_carriage_returns(repository: Git, known: Attributes, oid: str, path: str) -> bool:
    """Say whether git would store a changed file with LF where the disk has CRLF, and a clone on Linux would keep that.

    `oid` is what the index has, empty for a name that the disk spells otherwise; `path` is where the content lies.
    """
    text = known.get("text", "unspecified")
    if same_in_clone(known) or text == "unset":
        return False
    automatic = text == "auto" or (text == "unspecified" and known.get("eol") != "lf")
    if automatic and text != "auto" and git.line(repository, "config", "--get", "core.autocrlf") not in {"true", "input"}:
        return False
    content = _content(path)
    if b"\r\n" not in content:
        return False
    return not automatic or (b"\0" not in content and not _has_carriage_returns(repository, oid))


def _content(path: str) -> bytes:
    try:
        if os.path.getsize(path) > _LIMIT:  # noqa: PTH202 - text, as all paths here
            return b""
        with open(path, "rb") as stream:  # noqa: PTH123 - the same
            return stream.read()
    except OSError:
        return b""


def _has_carriage_returns(repository: Git, oid: str) -> bool:
    """Git leaves the line endings of a file alone that already has CRLF in the index."""
    with Blobs(repository) as blobs:
        size = blobs.ask(oid)
        return size is not None and b"\r\n" in b"".join(blobs.content(size))
