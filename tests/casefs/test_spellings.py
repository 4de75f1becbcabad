"""What the daemon says of names that were found by another spelling: who asked, for what, and what is there."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path
from urllib.parse import unquote_to_bytes

import pytest

from tests.casefs.mounting import Mount, mounted

pytestmark = pytest.mark.fuse


def reported(mount: Mount) -> list[list[str]]:
    """Take all reports up to now, each as its words; the figures come after them."""
    before = len(mount.lines)
    mount.figures()
    return [line.split(" ")[1:] for line in mount.lines[before:] if line.startswith("alias ")]


def pairs(mount: Mount) -> list[tuple[str, str]]:
    return [(asked, kept) for _, _, asked, kept in reported(mount)]


def test_a_name_found_by_another_spelling_is_reported_with_time_process_and_both_paths(program: Path) -> None:
    with mounted(program) as mount:
        (mount.path / "Sub").mkdir()
        (mount.path / "Sub" / "Name").touch()
        before = time.monotonic()
        (mount.path / "Sub" / "NAME").stat()
        after = time.monotonic()
        ((at, pids, asked, kept),) = reported(mount)
    assert before <= float(at) + 1e-6 <= after + 1e-6
    assert [int(pid) for pid in pids.split(",")][:2] == [os.getpid(), os.getppid()]
    assert (asked, kept) == ("Sub/NAME", "Sub/Name")


def test_a_thread_is_reported_as_its_process(program: Path) -> None:
    with mounted(program) as mount:
        (mount.path / "Name").touch()
        thread = threading.Thread(target=(mount.path / "name").stat)
        thread.start()
        thread.join()
        ((_, pids, _, _),) = reported(mount)
    assert int(pids.split(",")[0]) == os.getpid()


def test_a_program_that_is_gone_again_is_reported_with_whom_it_descends_from(program: Path) -> None:
    with mounted(program) as mount:
        (mount.path / "Name").touch()
        subprocess.run(["sh", "-c", f"cat {mount.path}/name; true"], check=True)
        ((_, pids, _, _),) = reported(mount)
    assert os.getpid() in [int(pid) for pid in pids.split(",")][1:]


def test_what_has_its_own_spelling_is_not_reported(program: Path) -> None:
    with mounted(program) as mount:
        (mount.path / "Name").touch()
        (mount.path / "Name").read_bytes()
        (mount.path / "other").exists()
        (mount.path / "Name").rename(mount.path / "NAME")
        (mount.path / "NAME").rename(mount.path / "else")
        assert pairs(mount) == []


def test_without_folding_nothing_is_reported(program: Path) -> None:
    with mounted(program, "--fold=off") as mount:
        (mount.path / "Name").touch()
        (mount.path / "name").exists()
        assert pairs(mount) == []


def test_below_a_folder_in_another_spelling_the_folder_alone_is_reported_and_each_time_anew(program: Path) -> None:
    with mounted(program) as mount:
        (mount.path / "Sub" / "Inner").mkdir(parents=True)
        (mount.path / "Sub" / "Inner" / "name").touch()
        for _ in range(3):
            (mount.path / "SUB" / "Inner" / "name").read_bytes()
            assert ("SUB", "Sub") in (found := pairs(mount))
            assert set(found) == {("SUB", "Sub")}
            (mount.path / "Sub" / "Inner" / "name").read_bytes()
            assert pairs(mount) == []


def test_every_name_is_written_so_that_it_can_be_read_again(program: Path) -> None:
    name, other = b"a b%\n\xff~\xc3\xa9", b"A b%\n\xff~\xc3\x89"
    with mounted(program) as mount:
        top = os.fsencode(mount.path)
        os.mkdir(os.path.join(top, b"in here"))
        os.close(os.open(os.path.join(top, b"in here", name), os.O_CREAT | os.O_WRONLY))
        os.stat(os.path.join(top, b"in here", other))
        ((asked, kept),) = pairs(mount)
    assert asked == "in%20here/A%20b%25%0A%FF~%C3%89"
    assert (unquote_to_bytes(asked), unquote_to_bytes(kept)) == (b"in here/" + other, b"in here/" + name)


def test_a_path_that_is_too_long_for_a_line_is_not_reported(program: Path) -> None:
    with mounted(program) as mount:
        folder = mount.path
        for _ in range(12):
            folder = folder / ("x" * 200)
            folder.mkdir()
        (folder / "name").touch()
        assert (folder / "NAME").exists()
        assert pairs(mount) == []


def test_reports_that_nobody_reads_leave_room_for_what_matters(program: Path) -> None:
    with mounted(program) as mount:
        name = "n" * 200
        (mount.path / name).touch()
        for _ in range(1000):
            (mount.path / name.upper()).stat()
        found = pairs(mount)
        assert 10 < len(found) < 100
        (mount.path / name.upper()).stat()
        assert len(pairs(mount)) == 1
