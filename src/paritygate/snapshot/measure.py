"""Content read once: its size and digest, and whether it is a key that nobody else has."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum

import msgspec

from paritygate.snapshot import rules, sources
from paritygate.snapshot.drafts import Draft
from paritygate.snapshot.sources import Objects

_BATCH = 128


class Finding(StrEnum):
    """What was noticed in some content."""

    NOTHING = "nothing"
    KEY = "key"
    POINTER = "git-lfs pointer"
    UNREADABLE = "unreadable"


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """Size in bytes and sha256 of one source; `reason` says why it could not be read."""

    size: int = 0
    sha256: str = ""
    finding: Finding = Finding.NOTHING
    reason: str = ""


def measure(drafts: Iterable[Draft], objects: Objects) -> dict[str, Fact]:
    """Read every source once, files side by side."""
    wanted = {draft.source: draft for draft in drafts if draft.kind == "file"}
    facts = {source: _of_object(source, objects) for source in wanted if source.startswith(sources.OBJECT)}
    on_disk = [draft for source, draft in wanted.items() if source not in facts]
    batches = [on_disk[start : start + _BATCH] for start in range(0, len(on_disk), _BATCH)]
    leaving = threading.Event()
    with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        try:
            for batch, found in zip(batches, pool.map(lambda batch: _of_files(batch, leaving), batches), strict=True):
                facts.update(zip((draft.source for draft in batch), found, strict=True))
        except BaseException:
            # The pool waits for what it has begun, and a file may be as large as it likes.
            leaving.set()
            raise
    return facts


def _of_files(drafts: Iterable[Draft], leaving: threading.Event) -> list[Fact]:
    return [_of_file(draft, leaving) for draft in drafts if not leaving.is_set()]


def _of_object(source: str, objects: Objects) -> Fact:
    try:
        size, content = objects.read(source)
    except OSError as error:
        return Fact(finding=Finding.UNREADABLE, reason=f"unreadable: {error.strerror}")
    digest = hashlib.sha256()
    for piece in content:
        digest.update(piece)
    return Fact(size=size, sha256=digest.hexdigest())


def _of_file(draft: Draft, leaving: threading.Event) -> Fact:
    try:
        if draft.source.startswith(sources.LINE_FEEDS):
            content = sources.with_line_feeds(draft.source.removeprefix(sources.LINE_FEEDS))
            return _fact(draft, content, hashlib.sha256(content).hexdigest(), len(content))
        with sources.open_file(draft.source) as stream:
            size = os.fstat(stream.fileno()).st_size
            start = stream.read(min(size, rules.SMALL))
            digest = hashlib.sha256(start)
            read = len(start)
            for piece in sources.pieces(stream, size - read):
                digest.update(piece)
                read += len(piece)
                if leaving.is_set():
                    break
    except OSError as error:
        return Fact(finding=Finding.UNREADABLE, reason=f"unreadable: {error.strerror}")
    if read != size:
        return Fact(finding=Finding.UNREADABLE, reason="it changed while it was read")
    return _fact(draft, start, digest.hexdigest(), size)


def _fact(draft: Draft, start: bytes, sha256: str, size: int) -> Fact:
    finding = Finding.NOTHING
    if draft.guarded and size <= rules.SMALL and rules.secret_content(draft.path, start):
        finding = Finding.KEY
    elif draft.tracked and start.startswith(rules.POINTER):
        finding = Finding.POINTER
    return Fact(size=size, sha256=sha256, finding=finding)
