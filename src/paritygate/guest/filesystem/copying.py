"""Copies a tree from the image to where the cell's files are to lie."""

from __future__ import annotations

import os
import stat
from typing import Any, Dict, Set, Tuple


class Copy:
    """Copies a tree with modes, owners, times, symbolic and hard links; names are created in the order of their bytes.

    With `merging` what is there already stays, and only what is not is added to it.
    """

    def __init__(self, source: str, left_out: Set[str], merging: bool = False) -> None:  # noqa: FBT001, FBT002
        self.source = source
        self.left_out = left_out
        self.merging = merging
        self.links: Dict[Tuple[int, int], str] = {}

    def to(self, target: str) -> None:
        """Copy all that is below the source, and the source's own attributes."""
        folders = [(self.source, target, os.lstat(self.source))]
        for source, destination, _ in folders:  # grows while it is read
            with os.scandir(source) as entries:
                found = sorted(entries, key=lambda entry: os.fsencode(entry.name))
            for entry in found:
                if entry.path not in self.left_out:
                    status = entry.stat(follow_symlinks=False)
                    copied = os.path.join(destination, entry.name)
                    self.unless_there(entry.path, copied, status)
                    if stat.S_ISDIR(status.st_mode):
                        folders.append((entry.path, copied, status))
        for _, destination, status in reversed(folders):  # only now: whatever is put into a folder changes its time
            give_attributes(destination, status)

    def unless_there(self, source: str, target: str, status: os.stat_result) -> None:
        """Copy one name; when merging, not over another that is there."""
        try:
            self.one(source, target, status)
        except FileExistsError:
            if not self.merging:
                raise

    def one(self, source: str, target: str, status: os.stat_result) -> None:
        """Copy one name; what is neither file, folder, symbolic link nor FIFO has no meaning in a copy."""
        kind = stat.S_IFMT(status.st_mode)
        if kind == stat.S_IFDIR:
            os.mkdir(target, 0o700)
        elif kind == stat.S_IFLNK:
            os.symlink(os.readlink(source), target)
            os.lchown(target, status.st_uid, status.st_gid)
            os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns), follow_symlinks=False)
        elif kind in (stat.S_IFREG, stat.S_IFIFO):
            known = self.links.setdefault((status.st_dev, status.st_ino), target) if status.st_nlink > 1 else target
            if known != target:
                os.link(known, target)
            elif kind == stat.S_IFREG:
                copy_file(source, target, status)
            else:
                os.mkfifo(target)
                give_attributes(target, status)


def copy_file(source: str, target: str, status: os.stat_result) -> None:
    """Copy a file's bytes and attributes."""
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            while status.st_size and os.sendfile(writing, reading, None, 1 << 30):
                pass
            give_attributes(writing, status)
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def give_attributes(target: Any, status: os.stat_result) -> None:
    """Give a path or a descriptor owner, mode and times, in this order: a new owner takes bits of the mode away."""
    os.chown(target, status.st_uid, status.st_gid)
    os.chmod(target, stat.S_IMODE(status.st_mode))
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
