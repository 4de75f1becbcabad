"""Every error that the store or the machine can meet: what callers and the launcher are told, and that nothing is lost."""

from __future__ import annotations

import errno
import mmap
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.casefs.conftest import users_folder
from tests.casefs.mounting import Mount, as_user, mounted

pytestmark = pytest.mark.fuse

FAULTS = Path(__file__).with_name("faults.c")


@dataclass
class Faulty:
    """A mount whose daemon's calls can be made to fail."""

    mount: Mount
    control: Path
    folder: Path

    def fail(self, call: str, number: int) -> None:
        self.control.write_text(f"{call} {number}", encoding="ascii")

    def heal(self) -> None:
        self.control.write_text("", encoding="ascii")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("faults") / "faults.so"
    flags = ["-shared", "-fPIC", "-O2", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *flags, "-o", str(made), str(FAULTS)], check=True)
    return made


@pytest.fixture
def faulty(program: Path, library: Path, tmp_path: Path) -> Iterator[Faulty]:
    control = tmp_path / "control"
    control.touch()
    with mounted(program, environment={"LD_PRELOAD": str(library), "CASEFS_FAULT": str(control)}) as mount:
        yield Faulty(mount, control, users_folder(mount))


def read(path: Path) -> bytes:
    return path.read_bytes()


def synced(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(b"changed")
        file.flush()
        os.fsync(file.fileno())


def allocated(path: Path) -> None:
    with path.open("r+b") as file:
        os.posix_fallocate(file.fileno(), 0, 8192)


ATTEMPTS: dict[str, Callable[[Path], object]] = {
    "openat": lambda folder: read(folder / "file"),
    "creat": lambda folder: (folder / "new").touch(),
    "fstatat": lambda folder: (folder / "FILE").stat(),
    "mkdirat": lambda folder: (folder / "new").mkdir(),
    "symlinkat": lambda folder: (folder / "new").symlink_to("file"),
    "linkat": lambda folder: (folder / "new").hardlink_to(folder / "file"),
    "mknodat": lambda folder: os.mkfifo(folder / "new"),
    "unlinkat": lambda folder: (folder / "file").unlink(),
    "renameat2": lambda folder: (folder / "file").rename(folder / "new"),
    "fchownat": lambda folder: (folder / "new").mkdir(),
    "chmod": lambda folder: (folder / "file").chmod(0o600),
    "utimensat": lambda folder: os.utime(folder / "file", (1, 1)),
    "ftruncate": lambda folder: os.truncate(folder / "file", 1),
    "readlinkat": lambda folder: (folder / "link").readlink(),
    "pread": lambda folder: read(folder / "file"),
    "pwrite": lambda folder: synced(folder / "file"),
    "fsync": lambda folder: synced(folder / "file"),
    "fallocate": lambda folder: allocated(folder / "file"),
}


@pytest.mark.parametrize("call", ATTEMPTS)
@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EROFS, errno.ENOMEM], ids=errno.errorcode.get)
def test_a_call_that_fails_is_told_to_the_caller_and_the_launcher_and_leaves_all_as_it_was(
    faulty: Faulty, call: str, number: int
) -> None:
    folder = faulty.folder
    with as_user():
        (folder / "file").write_bytes(b"content")
        (folder / "link").symlink_to("file")
    faulty.mount.forget()
    faulty.fail(call, number)
    with as_user(), pytest.raises(OSError, match=r".") as caught:
        ATTEMPTS[call](folder)
    faulty.heal()
    assert caught.value.errno == number
    assert faulty.mount.line().startswith(f"trouble {errno.errorcode[number]} ")
    with as_user():
        assert sorted(os.listdir(folder)) == ["file", "link"]
        assert (folder / "FILE").read_bytes() in {b"content", b"changed"}
        ATTEMPTS[call](folder)


@pytest.mark.parametrize(
    ("met", "told"),
    [
        (errno.EMFILE, errno.ENFILE),
        (errno.ENFILE, errno.ENFILE),
        (errno.EDQUOT, errno.ENOSPC),
        (errno.ELOOP, errno.EIO),
        (errno.EBADF, errno.EIO),
        (errno.EFAULT, errno.EIO),
        (errno.EPERM, errno.EPERM),
        (errno.EACCES, errno.EACCES),
        (errno.EUCLEAN, errno.ESTALE),
        (errno.EINTR, errno.EINTR),
    ],
    ids=errno.errorcode.get,
)
def test_errors_that_would_mislead_are_translated(faulty: Faulty, met: int, told: int) -> None:
    faulty.fail("mkdirat", met)
    with pytest.raises(OSError, match=r".") as caught:
        (faulty.folder / "new").mkdir()
    faulty.heal()
    assert caught.value.errno == told
    if met != errno.EINTR:
        assert faulty.mount.line() == f"trouble {errno.errorcode[met]} mkdir"


def quietly(action: Callable[[], object]) -> int:
    """Do something; gives back the errno that it ended with, or 0."""
    try:
        action()
    except OSError as error:
        return error.errno or -1
    return 0


@pytest.mark.parametrize("call", ["malloc", "calloc"])
def test_without_memory_nothing_is_half_done(faulty: Faulty, call: str) -> None:
    folder = faulty.folder
    (folder / "Some").mkdir()
    (folder / "file").write_bytes(b"content")
    (folder / "link").symlink_to("file")
    faulty.mount.forget()
    faulty.fail(call, errno.ENOMEM)
    met = {quietly(partial(attempt, folder)) for attempt in ATTEMPTS.values()}
    faulty.heal()
    assert errno.ENOMEM in met
    assert met <= {0, errno.ENOMEM, errno.EEXIST, errno.ENOENT}
    there = set(os.listdir(folder))
    assert {"Some", "link"} <= there <= {"Some", "link", "file", "new"}
    assert all((folder / name.upper()).lstat() for name in there)
    (folder / "again").write_bytes(b"1")
    assert (folder / "AGAIN").read_bytes() == b"1"


def test_a_rename_that_cannot_be_respelled_is_done_in_the_old_spelling(faulty: Faulty) -> None:
    (faulty.folder / "source").write_bytes(b"new")
    (faulty.folder / "target").write_bytes(b"old")
    faulty.fail("respell", errno.EIO)
    (faulty.folder / "source").rename(faulty.folder / "TARGET")
    faulty.heal()
    assert os.listdir(faulty.folder) == ["target"]
    assert (faulty.folder / "Target").read_bytes() == b"new"


def write_until_full(path: Path) -> tuple[int, int]:
    """Write until there is no room; gives back how much was taken, and the errno that ended it."""
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY)
    taken = 0
    try:
        while taken < 1 << 22:
            taken += os.write(descriptor, b"x" * 50_000)
    except OSError as error:
        return taken, error.errno or -1
    finally:
        os.close(descriptor)
    return taken, 0


def test_who_writes_until_the_store_is_full_is_told_at_once_and_keeps_what_was_taken(program: Path) -> None:
    with mounted(program, "--tmpfs=256k") as mount:
        taken, number = write_until_full(mount.path / "large")
        assert number == errno.ENOSPC
        assert taken == 1 << 18
        assert mount.line() == "trouble ENOSPC write"
        assert (mount.path / "large").read_bytes() == b"x" * taken
        (mount.path / "large").unlink()
        (mount.path / "small").write_bytes(b"x")
        assert (mount.path / "SMALL").read_bytes() == b"x"


MAKINGS: dict[str, Callable[[Path], object]] = {
    "file": lambda path: path.write_bytes(b"x" * 100_000),
    "folder": lambda path: path.mkdir(),
    "fifo": os.mkfifo,
    "link": lambda path: path.symlink_to("y" * 200),
}


@pytest.mark.parametrize("kind", MAKINGS)
def test_a_deleted_file_that_only_the_kernel_remembers_makes_room(program: Path, kind: str) -> None:
    with mounted(program, "--tmpfs=256k") as mount:
        write_until_full(mount.path / "large")
        assert (mount.path / "LARGE").read_bytes(), "a second name for the kernel to remember"
        (mount.path / "large").unlink()
        assert mount.line() == "trouble ENOSPC write"
        assert mount.figures()["orphans"] == 1
        MAKINGS[kind](mount.path / "new")
        MAKINGS["file"](mount.path / "room")
        assert sorted(os.listdir(mount.path)) == ["new", "room"]
        assert mount.figures()["orphans"] == 0


def test_a_mapping_that_the_full_store_has_no_room_for_is_said_when_it_is_synchronised(program: Path) -> None:
    with mounted(program, "--tmpfs=256k") as mount:
        with (mount.path / "sparse").open("w+b") as file:
            file.truncate(1 << 20)
            with mmap.mmap(file.fileno(), 0) as mapping:
                mapping[:] = b"x" * (1 << 20)
                with pytest.raises(OSError, match="No space left"):
                    mapping.flush()
        assert mount.line() == "trouble ENOSPC write"


def test_a_store_that_cannot_be_written_can_be_read(program: Path, tmp_path: Path) -> None:
    (tmp_path / "File").write_bytes(b"1")
    subprocess.run(["mount", "--bind", tmp_path, tmp_path], check=True)
    subprocess.run(["mount", "-o", "remount,bind,ro", tmp_path], check=True)
    try:
        with mounted(program, f"--backing={tmp_path}") as mount:
            assert (mount.path / "FILE").read_bytes() == b"1"
            with pytest.raises(OSError, match="Read-only") as caught:
                (mount.path / "new").touch()
            assert caught.value.errno == errno.EROFS
            with pytest.raises(OSError, match="Read-only"):
                (mount.path / "file").write_bytes(b"2")
            assert mount.line().endswith(" FILE File")
            assert mount.line() == "trouble EROFS create"
    finally:
        subprocess.run(["umount", "--lazy", tmp_path], check=True)


def test_a_store_that_somebody_else_wrote_to_is_said_to_be_stale(program: Path, tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with mounted(program, f"--backing={tmp_path}") as mount:
        assert os.listdir(mount.path) == ["a"]
        (tmp_path / "a").unlink()
        with pytest.raises(OSError, match="Stale file handle"):
            (mount.path / "A").stat()
        assert mount.line() == "trouble EUCLEAN lookup"
