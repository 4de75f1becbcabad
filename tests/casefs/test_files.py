"""Files on the mount: contents, locks, mappings, times, modes and attributes, through any spelling."""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import shutil
import sqlite3
import stat
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.casefs.processes import at_once

pytestmark = pytest.mark.fuse


def write(name: str, text: str = "") -> None:
    Path(name).write_text(text, encoding="utf-8")


def read(name: str) -> str:
    return Path(name).read_text(encoding="utf-8")


def test_mappings_of_two_spellings_share_their_pages(folder: Path) -> None:
    write("m", "a" * 8192)
    with (
        Path("m").open("r+b") as one,
        Path("M").open("r+b") as other,
        mmap.mmap(one.fileno(), 0) as first,
        mmap.mmap(other.fileno(), 0) as second,
    ):
        first[0:3] = b"xyz"
        assert second[0:3] == b"xyz"
        first.flush()
    assert (folder / "m").read_bytes()[:3] == b"xyz"


def test_flock_conflicts_across_spellings(folder: Path) -> None:
    write("l")
    with (folder / "l").open() as one, (folder / "L").open() as other:
        fcntl.flock(one, fcntl.LOCK_EX)
        with pytest.raises(BlockingIOError):
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_record_locks_conflict_across_spellings_and_processes(folder: Path) -> None:
    write("l")
    with (folder / "l").open("r+") as file:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

        def lock_it(_: int) -> None:
            with Path("L").open("r+") as other:
                fcntl.lockf(other, fcntl.LOCK_EX | fcntl.LOCK_NB)

        (said,) = at_once(lock_it, 1)
    assert said.startswith("BlockingIOError")


def test_an_open_file_outlives_its_last_name(folder: Path) -> None:
    with (folder / "u").open("w+") as file:
        file.write("abc")
        file.flush()
        os.unlink("U")
        assert os.fstat(file.fileno()).st_nlink == 0
        file.seek(0)
        assert file.read() == "abc"
        file.write("d")
        file.flush()
        os.fchmod(file.fileno(), 0o640)
        os.ftruncate(file.fileno(), 3)
        assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o640
        assert os.fstat(file.fileno()).st_size == 3
        write("u", "new")
        file.seek(0)
        assert file.read() == "abc"
    assert read("U") == "new"


def test_an_open_file_that_is_replaced_by_a_rename_stays_readable(folder: Path) -> None:
    write("old", "old")
    write("new", "new")
    with (folder / "old").open() as file:
        os.rename("NEW", "OLD")
        assert file.read() == "old"
        assert os.fstat(file.fileno()).st_nlink == 0
    assert read("old") == "new"


def test_a_removed_working_directory_is_empty_and_takes_nothing_new(folder: Path) -> None:
    os.mkdir("d")
    os.chdir("d")
    os.rmdir("../D")
    assert os.listdir(".") == []
    with pytest.raises(FileNotFoundError):
        write("f")
    os.chdir(folder)


def test_appends_through_two_spellings_follow_each_other(folder: Path) -> None:
    with (folder / "a").open("a") as one, (folder / "A").open("a") as other:
        for _ in range(20):
            one.write("x")
            one.flush()
            other.write("y")
            other.flush()
    assert read("a") == "xy" * 20


def test_sqlite_in_wal_mode_works_through_two_spellings(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "T.db")) as one, closing(sqlite3.connect(folder / "t.DB")) as other:
        assert one.execute("pragma journal_mode=wal").fetchone() == ("wal",)
        one.execute("create table t(a)")
        for number in range(20):
            one.execute("insert into t values(?)", (number,))
            one.commit()
            assert other.execute("select count(*) from t").fetchone() == (number + 1,)
        other.execute("insert into t values(1)")
        other.commit()
        assert one.execute("select count(*) from t").fetchone() == (21,)


def test_times_are_kept_to_the_nanosecond(folder: Path) -> None:
    write("a")
    os.utime("A", ns=(1_600_000_000_123456789, 1_500_000_000_987654321))
    status = os.stat("a")
    assert (status.st_atime_ns, status.st_mtime_ns) == (1_600_000_000_123456789, 1_500_000_000_987654321)
    write("a", "changed")
    assert os.stat("A").st_mtime_ns > 1_700_000_000_000000000
    assert folder.is_dir()


def test_a_new_name_changes_the_time_of_its_directory(folder: Path) -> None:
    before = os.stat(folder).st_mtime_ns
    time.sleep(0.02)
    write("new")
    assert os.stat(folder).st_mtime_ns > before


def test_programs_run_if_they_may(folder: Path) -> None:
    write("s.sh", "#!/bin/sh\necho hi\n")
    os.chmod("S.sh", 0o755)
    assert subprocess.run([folder / "s.SH"], capture_output=True, check=True).stdout == b"hi\n"
    os.chmod("s.sh", 0o644)
    with pytest.raises(PermissionError):
        subprocess.run([folder / "s.sh"], check=True)


def test_permissions_hold_in_every_spelling(folder: Path) -> None:
    write("secret", "1")
    os.chmod("secret", 0)
    with pytest.raises(PermissionError):
        read("SECRET")
    os.chmod("Secret", 0o200)
    write("SECRET", "2")
    os.mkdir("closed")
    write("closed/f")
    os.chmod("closed", 0)
    with pytest.raises(PermissionError):
        os.stat("CLOSED/f")
    os.chmod("Closed", 0o755)
    assert (folder / "closed" / "F").exists()


def test_what_is_made_belongs_to_who_made_it(folder: Path) -> None:
    descriptor = os.open("made", os.O_CREAT | os.O_RDWR, 0o400)
    os.write(descriptor, b"1")
    os.close(descriptor)
    os.mkdir("d", 0o750)
    os.symlink("x", "l")
    owners = {(os.lstat(name).st_uid, os.lstat(name).st_gid) for name in ("made", "d", "l")}
    assert owners == {(os.geteuid(), os.getegid())}
    assert stat.S_IMODE(os.stat("d").st_mode) == 0o750
    assert stat.S_IMODE((folder / "made").stat().st_mode) == 0o400


def truncated_by_opening(name: str) -> None:
    os.close(os.open(name, os.O_WRONLY | os.O_TRUNC))


def written(name: str) -> None:
    descriptor = os.open(name, os.O_WRONLY)
    os.write(descriptor, b"2")
    os.close(descriptor)


def allocated(name: str) -> None:
    descriptor = os.open(name, os.O_WRONLY)
    os.posix_fallocate(descriptor, 0, 9000)
    os.close(descriptor)


CHANGES: dict[str, Callable[[str], None]] = {
    "written": written,
    "truncated": lambda name: os.truncate(name, 1),
    "truncated by opening": truncated_by_opening,
    "allocated": allocated,
    "given away": lambda name: os.chown(name, -1, os.getegid()),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_program_that_somebody_changes_loses_its_set_id_bits(folder: Path, change: str) -> None:
    write("program", "1234")
    os.chmod("program", 0o6755)
    assert stat.S_IMODE(os.stat("Program").st_mode) == 0o6755
    CHANGES[change]("PROGRAM")
    assert stat.S_IMODE((folder / "program").stat().st_mode) == 0o755


def test_a_write_shows_at_once_in_size_and_time_through_every_spelling(folder: Path) -> None:
    write("log")
    with (folder / "log").open("ab", buffering=0) as file:
        for number in range(1, 6):
            before = os.stat("LOG").st_mtime_ns
            time.sleep(0.02)
            file.write(b"x" * 5000)
            status = os.stat("Log")
            assert status.st_mtime_ns > before
            assert (status.st_size, os.fstat(file.fileno()).st_size) == (number * 5000, number * 5000)
            assert status.st_blocks * 512 >= number * 5000
            assert status.st_mtime_ns == os.fstat(file.fileno()).st_mtime_ns


def test_a_file_that_is_only_written_can_be_changed_in_the_middle_of_a_page(folder: Path) -> None:
    write("f", "a" * 10_000)
    descriptor = os.open("F", os.O_WRONLY)
    os.pwrite(descriptor, b"bc", 5001)
    os.close(descriptor)
    assert (folder / "f").read_bytes() == b"a" * 5001 + b"bc" + b"a" * 4997


def test_the_umask_applies(folder: Path) -> None:
    before = os.umask(0o027)
    try:
        write("f")
        os.mkdir("d")
    finally:
        os.umask(before)
    assert stat.S_IMODE((folder / "f").stat().st_mode) == 0o640
    assert stat.S_IMODE((folder / "d").stat().st_mode) == 0o750


def test_large_files_survive(folder: Path) -> None:
    content = os.urandom(5_000_000)
    (folder / "b").write_bytes(content)
    assert (folder / "B").read_bytes() == content
    os.truncate("B", 100)
    assert os.stat("b").st_size == 100
    shutil.copy2("b", "C")
    assert (folder / "c").read_bytes() == content[:100]


def test_sparse_files_read_as_zeros_and_take_no_room(folder: Path) -> None:
    with (folder / "sparse").open("w+b") as file:
        file.truncate(1 << 30)
        file.seek(1 << 29)
        file.write(b"x")
        file.flush()
        os.fsync(file.fileno())
        file.seek((1 << 29) - 3)
        assert file.read(5) == b"\0\0\0x\0"
    status = os.stat("SPARSE")
    assert status.st_size == 1 << 30
    assert status.st_blocks * 512 < 1 << 20


def test_room_can_be_reserved(folder: Path) -> None:
    with (folder / "f").open("w+b") as file:
        os.posix_fallocate(file.fileno(), 0, 4096)
    assert os.stat("F").st_size == 4096


def test_seeking_to_data_finds_what_was_just_written(folder: Path) -> None:
    with (folder / "f").open("w+b") as file:
        file.write(b"x" * 10)
        file.flush()
        assert os.lseek(file.fileno(), 0, os.SEEK_DATA) == 0


def test_extended_attributes_are_one_set_for_all_spellings(folder: Path) -> None:
    write("x")
    os.setxattr("x", "user.colour", b"red")
    assert os.getxattr("X", "user.colour") == b"red"
    assert os.listxattr("X") == ["user.colour"]
    with pytest.raises(OSError, match="No data available"):
        os.getxattr("x", "user.size")
    os.removexattr("X", "user.colour")
    assert os.listxattr("x") == []
    os.setxattr(folder, "user.kept", b"1" * 1000)
    assert os.getxattr(folder, "user.kept") == b"1" * 1000


def test_a_file_without_a_name_from_the_start_is_refused(folder: Path) -> None:
    with pytest.raises(OSError, match="not supported") as caught:
        os.open(folder, os.O_TMPFILE | os.O_RDWR)
    assert caught.value.errno == errno.EOPNOTSUPP


def test_there_is_as_much_room_as_the_store_has(folder: Path) -> None:
    assert shutil.disk_usage(folder).total == 2 << 30
