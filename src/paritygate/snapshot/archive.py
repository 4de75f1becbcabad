"""Packs a tree as a stream: a tar in pieces, without a copy of it anywhere."""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from paritygate.errors import SnapshotError
from paritygate.outcomes.trees import Entry, Tree
from paritygate.snapshot import git, history, sources
from paritygate.snapshot.sources import Objects

PREFIX = "parity/workspace"
"""Below the top of the container, for an engine refuses links that lead out of where it unpacks."""
OWNER = 1000
_PIECE = 1 << 18
_TYPES = {"file": tarfile.REGTYPE, "directory": tarfile.DIRTYPE, "link": tarfile.SYMTYPE}


def pack(tree: Tree, environ: Mapping[str, str]) -> Iterator[bytes]:
    """Yield a PAX tar with everything below `parity/workspace/`, owned by 1000:1000, every time stamp the same.

    Raises `SnapshotError` when a file is no longer what the tree says: what is sent is what the digest names.
    """
    return _gathered(_stream(tree, environ))


def _stream(tree: Tree, environ: Mapping[str, str]) -> Iterator[bytes]:
    yield _header(Entry(path="", kind="directory", mode=0o755))
    with Objects(tree.root, environ) as objects:
        for entry in tree.entries:
            yield _header(entry)
            if entry.kind == "file":
                yield from _verified(entry, objects)
    if tree.has_git:
        yield from _history(tree, environ)
    yield bytes(2 * tarfile.BLOCKSIZE)


def _header(entry: Entry) -> bytes:
    info = tarfile.TarInfo(f"{PREFIX}/{entry.path}".rstrip("/"))
    info.type = _TYPES[entry.kind]
    info.mode = entry.mode
    info.size = entry.size
    info.linkname = entry.target
    info.uid = info.gid = OWNER
    info.mtime = history.INSTANT
    return info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")


def _verified(entry: Entry, objects: Objects) -> Iterator[bytes]:
    digest = hashlib.sha256()
    sent = 0
    for piece in _content(entry, objects):
        digest.update(piece)
        sent += len(piece)
        yield piece
    if sent != entry.size or digest.hexdigest() != entry.sha256:
        raise _changed(entry, "its content is another now")
    yield bytes(-entry.size % tarfile.BLOCKSIZE)


def _content(entry: Entry, objects: Objects) -> Iterator[bytes]:
    try:
        if entry.source.startswith(sources.OBJECT):
            yield from objects.read(entry.source)[1]
        elif entry.source.startswith(sources.LINE_FEEDS):
            yield sources.with_line_feeds(entry.source.removeprefix(sources.LINE_FEEDS))
        else:
            with sources.open_file(entry.source) as stream:
                yield from sources.pieces(stream, entry.size)
    except OSError as error:
        raise _changed(entry, error.strerror or str(error)) from error


def _changed(entry: Entry, why: str) -> SnapshotError:
    return SnapshotError(
        f"`{entry.path}` changed while the tree was being sent: {why}", hint="run again when nothing writes into the working tree"
    )


def _history(tree: Tree, environ: Mapping[str, str]) -> Iterator[bytes]:
    place = git.find(tree.root, environ)
    past = history.describe(place, tree.commit) if place else None
    if place is None or past is None:
        raise SnapshotError(f"commit `{tree.commit}` is no longer in `{tree.root}`", hint="run again")
    with history.repository(place, past) as top:
        yield _header(Entry(path=".git", kind="directory", mode=0o755))
        for path in sorted(top.rglob("*")):
            yield from _own(path, f".git/{path.relative_to(top).as_posix()}")


def _own(path: Path, name: str) -> Iterator[bytes]:
    if path.is_dir():
        yield _header(Entry(path=name, kind="directory", mode=0o755))
        return
    size = path.stat().st_size
    yield _header(Entry(path=name, kind="file", mode=0o644, size=size))
    with sources.open_file(str(path)) as stream:
        yield from sources.pieces(stream, size)
    yield bytes(-size % tarfile.BLOCKSIZE)


def _gathered(stream: Iterable[bytes]) -> Iterator[bytes]:
    """Join small pieces: every one of them is a chunk on the wire."""
    held: list[bytes] = []
    size = 0
    for piece in stream:
        held.append(piece)
        size += len(piece)
        if size >= _PIECE:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)
