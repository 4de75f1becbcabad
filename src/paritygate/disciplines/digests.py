"""Content by digest: a file's own, those it would have with other line endings, and that of what git holds for it."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from paritygate.snapshot import git
from paritygate.snapshot.sources import open_file
from paritygate.snapshot.survey import Repository

PIECE = 1 << 20
LARGEST_TEXT = 64 << 20
"""Bytes up to which a file is thought of as text, with line endings that may be other ones."""


class Content(msgspec.Struct, frozen=True, kw_only=True):
    """The sha256 of a file, and of the same text with other line endings; none for what is no text, or all in one line.

    `returns` says whether the text has lines that end with CRLF.
    """

    digest: str
    alike: frozenset[str] = frozenset()
    returns: bool = False


def of(path: Path, top: Path) -> Content:
    """Read a file; a link stands for the file that it leads to, which has to lie in the tree. Raises `OSError`."""
    real = Path(os.path.realpath(path, strict=True))
    if path.is_symlink() and not real.is_relative_to(os.path.realpath(top)):
        raise OSError(0, "it is a link that leads out of the tree")
    if real.is_dir():
        raise OSError(0, "it is a link to a folder" if path.is_symlink() else "it is a folder")
    digest = hashlib.sha256()
    kept = []
    with open_file(str(real)) as stream:
        size = os.fstat(stream.fileno()).st_size
        while piece := stream.read(PIECE):
            digest.update(piece)
            if size <= LARGEST_TEXT:
                kept.append(piece)
    text = b"".join(kept)
    return Content(digest=digest.hexdigest(), alike=_alike(text) - {digest.hexdigest()}, returns=b"\r\n" in text)


def stored(repository: Repository, path: str, content: Content) -> str:
    """Say the digest of what git has, where it calls the file unmodified and only line endings differ; otherwise nothing."""
    entry = repository.index.tracked.get(path)
    change = repository.index.changes.get(path)
    if entry is None or not content.returns or (change is not None and change.unstaged != "."):
        return ""
    blob = git.attempt(repository.git, "cat-file", "blob", entry.oid)
    digest = hashlib.sha256(blob.stdout).hexdigest()
    return digest if blob.returncode == 0 and digest in content.alike else ""


def _alike(content: bytes) -> frozenset[str]:
    if b"\0" in content or b"\n" not in content:
        return frozenset()
    plain = content.replace(b"\r\n", b"\n")
    return frozenset(hashlib.sha256(text).hexdigest() for text in (plain, plain.replace(b"\n", b"\r\n")))
