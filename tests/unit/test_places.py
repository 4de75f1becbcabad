"""Where a report may go, how it gets there, and how much of a file is read."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path

import pytest

from paritygate import places
from paritygate.errors import UnrecordedError, UsageError


def test_a_new_file_is_checked_without_leaving_anything_and_then_written(tmp_path: Path) -> None:
    places.check(tmp_path / "r.json")
    assert list(tmp_path.iterdir()) == []
    places.write(b"new", tmp_path / "r.json")
    assert [(each.name, each.read_bytes(), each.stat().st_mode & 0o777) for each in tmp_path.iterdir()] == [
        ("r.json", b"new", 0o644)
    ]


def test_a_file_is_replaced_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(b"old")
    path.chmod(0o600)
    places.check(path)
    assert path.read_bytes() == b"old"
    places.write(b"new", path)
    assert [each.name for each in tmp_path.iterdir()] == ["r.json"]
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o600)


@pytest.mark.parametrize("there", [True, False], ids=["there", "not yet there"])
def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path: Path, *, there: bool) -> None:
    (tmp_path / "elsewhere").mkdir()
    target = tmp_path / "elsewhere" / "kept.json"
    if there:
        target.write_bytes(b"old")
    link = tmp_path / "r.json"
    link.symlink_to("elsewhere/kept.json")
    places.check(link)
    places.write(b"new", link)
    assert (link.is_symlink(), target.is_symlink(), target.read_bytes()) == (True, False, b"new")


def test_a_character_device_is_written_to_and_stays(tmp_path: Path) -> None:
    near, far = os.openpty()
    try:
        device = Path(os.ttyname(far))
        places.check(device)
        places.write(b"new\n", device)
        assert os.read(near, 100) == b"new\r\n"
        assert device.is_char_device()
    finally:
        os.close(near)
        os.close(far)


def test_a_device_that_is_full_is_said(tmp_path: Path) -> None:
    with pytest.raises(UnrecordedError, match="cannot write `/dev/full`: No space left on device"):
        places.write(b"new", Path("/dev/full"))


def test_what_is_neither_a_file_nor_a_character_device_is_refused_and_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind(os.path.relpath(tmp_path / "socket"))
        for name, kind in (("fifo", "a FIFO"), ("folder", "a folder"), ("socket", "a socket")):
            message = f"cannot write `{tmp_path / name}`: it is {kind}, not a file"
            with pytest.raises(UsageError) as checked:
                places.check(tmp_path / name)
            assert checked.value.message == message
            with pytest.raises(UnrecordedError) as written:
                places.write(b"new", tmp_path / name)
            assert (written.value.message, written.value.exit_code) == (message, 4)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["fifo", "folder", "socket"]


def test_a_missing_folder_is_refused_with_what_may_have_been_meant(tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    with pytest.raises(UsageError) as caught:
        places.check(tmp_path / "report" / "today" / "r.json")
    assert caught.value.message == (
        f"cannot write `{tmp_path}/report/today/r.json`: there is no folder `{tmp_path}/report`; did you mean `reports`?"
    )
    assert caught.value.exit_code == 64
    assert [each.name for each in tmp_path.iterdir()] == ["reports"]


def test_folders_of_our_own_are_made_when_they_are_needed(tmp_path: Path) -> None:
    path = tmp_path / ".paritygate" / "reports" / "r.json"
    places.check(path)
    assert list(tmp_path.iterdir()) == []
    places.write(b"new", path)
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize(
    ("name", "why"),
    [("file/r.json", "Not a directory"), ("x" * 300, "File name too long"), ("r\0.json", "embedded null byte")],
)
def test_a_path_that_cannot_be_is_refused(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=why):
        places.check(tmp_path / name)


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.json").symlink_to("r.json")
    with pytest.raises(UsageError, match="Too many levels of symbolic links"):
        places.check(tmp_path / "r.json")


def test_the_file_that_stdout_goes_to_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    kept = os.dup(1)
    with path.open("wb") as file:
        os.dup2(file.fileno(), 1)
    try:
        with pytest.raises(UsageError, match="stdout goes there already"):
            places.check(path)
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def test_what_is_too_large_for_a_report_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "large").open("wb") as file:
        file.truncate(places.MOST_BYTES + 1)
    with pytest.raises(UsageError, match="it is larger than 1024 MiB, which no report is"):
        places.read(tmp_path / "large")


def test_what_comes_out_of_a_pipe_is_read() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"content")
    os.close(writing)
    try:
        assert places.read(Path(f"/dev/fd/{reading}")) == b"content"
    finally:
        os.close(reading)


def test_dots_and_links_on_the_way_to_a_file_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "r.json").symlink_to("elsewhere")
    assert places.plain(tmp_path / "link" / ".." / "link" / "r.json") == tmp_path / "real" / "r.json"
