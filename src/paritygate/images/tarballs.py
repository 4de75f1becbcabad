"""Small tars made in memory, owned inside by whom we say and the same for the same contents."""

from __future__ import annotations

import io
import posixpath
import tarfile


def pack(files: dict[str, bytes], owner: int) -> tuple[bytes, ...]:
    """Pack files with the folders above them, owned by a user and the group of the same number."""
    folders = sorted({folder for name in files for folder in _above(name)})
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for folder in folders:
            member = _member(folder, owner, 0o755)
            member.type = tarfile.DIRTYPE
            tar.addfile(member)
        for name in sorted(files):
            member = _member(name, owner, 0o644)
            member.size = len(files[name])
            tar.addfile(member, io.BytesIO(files[name]))
    return (packed.getvalue(),)


def _above(name: str) -> list[str]:
    parents = []
    while name := posixpath.dirname(name):
        parents.append(name)
    return parents


def _member(name: str, owner: int, mode: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.uid = member.gid = owner
    member.mode = mode
    return member
