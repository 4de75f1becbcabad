"""What the launcher makes a cell's filesystem of, as far as that takes no container."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from paritygate.guest import forbidden
from paritygate.guest.filesystem.copying import Copy
from paritygate.guest.filesystem.making import make
from tests.support.guest import Guest


def test_a_tree_is_copied_with_its_modes_times_and_links(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    (source / "folder" / "empty").mkdir(parents=True)
    (source / "folder" / "file").write_bytes(b"content")
    (source / "folder" / "file").chmod(0o751)
    os.link(source / "folder" / "file", source / "other")
    (source / "link").symlink_to("nowhere")
    os.mkfifo(source / "fifo", 0o640)
    os.utime(source / "folder" / "file", ns=(1, 1234567890123456789))
    os.utime(source / "folder", ns=(1, 5))
    (source / "folder" / "empty").chmod(0o1700)
    target.mkdir()
    Copy(str(source), set()).to(str(target))
    assert (target / "folder" / "file").read_bytes() == b"content"
    assert stat.S_IMODE((target / "folder" / "file").stat().st_mode) == 0o751
    assert (target / "folder" / "file").stat().st_mtime_ns == 1234567890123456789
    assert (target / "folder").stat().st_mtime_ns == 5
    assert stat.S_IMODE((target / "folder" / "empty").stat().st_mode) == 0o1700
    assert (target / "other").samefile(target / "folder" / "file")
    assert str((target / "link").readlink()) == "nowhere"
    assert stat.S_ISFIFO((target / "fifo").stat().st_mode)


def test_what_is_left_out_is_left_out_with_all_that_is_in_it(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    for name in ("gone/inner/file", "kept/file", "kept/FILE"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).touch()
    target.mkdir()
    Copy(str(source), {str(source / "gone"), str(source / "kept" / "FILE")}).to(str(target))
    assert sorted(str(path.relative_to(target)) for path in target.rglob("*")) == ["kept", "kept/file"]


def test_without_a_wish_files_stay_where_they_are(tmp_path: Path) -> None:
    made = make(None, str(tmp_path))
    assert (made.facts(), made.descriptors(), made.trouble(), made.spellings(1, 0.0, 1.0)) == (None, [], "", [])


FORBIDDEN = """
import ctypes, errno, os, sys
sys.path.insert(0, {guest!r})
import forbidden
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(38, 1, 0, 0, 0)
forbidden.Filter().put_on()
def answer(result):
    return errno.errorcode[ctypes.get_errno()] if result == -1 else result
print(answer(libc.unshare(0x10000000)), answer(libc.mount(b"none", b"/", b"tmpfs", 0, None)), answer(libc.umount2(b"/", 2)))
print(answer(libc.syscall(435, None, 0)))
child = os.fork()
if child == 0:
    os._exit(3)
print(os.waitpid(child, 0)[1] >> 8)
"""


@pytest.mark.skipif(os.uname().machine not in forbidden.MACHINES, reason="the numbers of this machine's calls are not known")
def test_namespaces_and_mounts_are_refused_and_processes_are_not() -> None:
    script = FORBIDDEN.format(guest=str(Path(forbidden.__file__).parent))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["EPERM", "EPERM", "EPERM", "ENOSYS", "3"]


def test_a_wish_that_is_none_is_refused(guest: Guest) -> None:
    guest.changes = {"filesystem": "fold"}
    launched = guest.run()
    assert launched.status == 64
    assert "`filesystem` must be a JSON object or null" in launched.stderr
