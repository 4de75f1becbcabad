"""The working tree as it lies on this computer's disk, without what tools make again by themselves."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection

import msgspec

from paritygate.snapshot import rules

_ODD = {stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket", stat.S_IFBLK: "a device", stat.S_IFCHR: "a device"}


class Item(msgspec.Struct, frozen=True):
    """Something on disk: its kind as in `outcomes.trees.Entry`, whether its owner may execute it, bytes, a link's target."""

    kind: str
    executable: bool = False
    size: int = 0
    target: str = ""


class Disk(msgspec.Struct, frozen=True, kw_only=True):
    """Everything found, by path below the top, and what was passed over with the reason."""

    items: dict[str, Item]
    left_out: dict[str, str]


def look(top: str, tracked: Collection[str], holding: Collection[str], own: Collection[str]) -> Disk:
    """List what lies below `top`; `holding` are the directories of tracked files, `own` paths of ours to pass over.

    Tracked files are found wherever they are, even below a directory whose name is a cache's.
    """
    found = Disk(items={}, left_out={})
    pending = [("", False)]
    while pending:
        directory, only_tracked = pending.pop()
        entries = _entries(top, directory, found)
        in_environment = rules.environment({entry.name for entry in entries})
        if in_environment and directory and directory not in holding:
            found.items.pop(directory, None)
            continue
        for entry in entries:
            path = f"{directory}/{entry.name}" if directory else entry.name
            cache = only_tracked or path in own or (in_environment and rules.environment_part(entry.name))
            if entry.is_dir(follow_symlinks=False):
                cache = cache or rules.cache_directory(entry.name)
                if cache and path not in holding:
                    continue
                found.items[path] = Item("directory")
                pending.append((path, cache))
            elif path in tracked or not (cache or rules.cache_file(entry.name)):
                _note(path, entry, found)
    return found


def _entries(top: str, directory: str, found: Disk) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(os.path.join(top, directory)) as listing:  # noqa: PTH118 - a hundred thousand entries
            return list(listing)
    except OSError as error:
        found.left_out[directory or "."] = f"unreadable: {error.strerror}"
        return []


def _note(path: str, entry: os.DirEntry[str], found: Disk) -> None:
    try:
        facts = entry.stat(follow_symlinks=False)
        kind = stat.S_IFMT(facts.st_mode)
        if kind == stat.S_IFREG:
            found.items[path] = Item("file", executable=bool(facts.st_mode & stat.S_IXUSR), size=facts.st_size)
        elif kind == stat.S_IFLNK:
            found.items[path] = Item("link", target=os.readlink(entry.path))  # noqa: PTH115 - text, not a path
        else:
            found.left_out[path] = _ODD.get(kind, "neither file, directory nor link")
    except OSError as error:
        found.left_out[path] = f"unreadable: {error.strerror}"
