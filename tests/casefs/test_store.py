"""What the daemon holds: few descriptors, little memory, and nothing that the tests' user could reach."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.casefs.conftest import users_folder
from tests.casefs.mounting import USER, as_user, mounted
from tests.casefs.processes import at_once

pytestmark = pytest.mark.fuse

MANY = 100_000


def limited(program: Path, folder: Path, files: int) -> Path:
    """Write a script that runs the daemon with a limit of open files."""
    script = folder / "limited"
    script.write_text(f'#!/bin/sh\nulimit -n {files}\nexec {program} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return script


def test_a_hundred_thousand_files_take_no_descriptor_and_little_memory(program: Path) -> None:
    with mounted(program) as mount:
        empty = mount.memory()
        for folder in range(100):
            path = mount.path / f"folder{folder}"
            path.mkdir()
            for number in range(MANY // 100):
                os.close(os.open(f"{path}/some_module_name_{number}.py", os.O_CREAT | os.O_WRONLY))
        figures = mount.await_figure("handles", 0)
        each = (mount.memory() - empty) / MANY
        assert figures["names"] == MANY + 100
        assert 101 <= figures["nodes"] <= MANY + 101  # the kernel forgets some if memory is short
        assert figures["descriptors"] <= 100
        assert figures["handles"] == 0
        assert each < 400, f"{each:.0f} bytes for each file"
        open_files = os.listdir(f"/proc/{mount.process.pid}/fd")
        assert len(open_files) < 120
        assert (mount.path / "FOLDER99" / "SOME_MODULE_NAME_999.PY").exists()


def test_directories_beyond_the_budget_are_reached_all_the_same(program: Path, tmp_path: Path) -> None:
    with mounted(limited(program, tmp_path, 64)) as mount:
        paths = [mount.path / f"a{one}" / f"b{other}" for one in range(20) for other in range(20)]
        for path in paths:
            path.mkdir(parents=True)
            (path / "f").write_text(str(path), encoding="utf-8")
        for path in paths[::-1]:
            assert Path(str(path).replace("/a", "/A").replace("/b", "/B"), "F").read_text(encoding="utf-8") == str(path)
        assert mount.figures()["descriptors"] <= 16


def test_a_tree_deeper_than_the_budget_is_reached(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with mounted(program, "--descriptors=16") as mount:
        monkeypatch.chdir(mount.path)
        for _ in range(400):
            os.mkdir("d")
            os.chdir("d")
        os.mkdir("e")
        (mount.path / "other").mkdir()
        (mount.path / "other" / "f").touch()
        descriptor = os.open("e", os.O_RDONLY)
        os.rename(mount.path / "other" / "f", "G", dst_dir_fd=descriptor)
        assert os.listdir(descriptor) == ["G"]
        os.close(descriptor)
        assert mount.figures()["descriptors"] <= 16
        monkeypatch.undo()


def test_when_descriptors_run_out_the_caller_is_told_and_the_launcher_too(program: Path, tmp_path: Path) -> None:
    with mounted(limited(program, tmp_path, 64)) as mount:
        (mount.path / "f").touch()
        opened: list[int] = []

        def open_many() -> None:
            while len(opened) < 100:
                opened.append(os.open(mount.path / "f", os.O_RDONLY))

        with pytest.raises(OSError, match="Too many open files in system"):
            open_many()
        assert len(opened) > 30
        assert mount.line() == "trouble EMFILE open"
        for descriptor in opened:
            os.close(descriptor)
        assert (mount.path / "F").read_bytes() == b""


def test_files_deleted_under_another_spelling_do_not_pile_up(program: Path) -> None:
    with mounted(program) as mount:
        for number in range(2000):
            path = mount.path / f"name{number}"
            path.write_bytes(b"x" * 1000)
            Path(str(path).upper().replace(str(mount.path).upper(), str(mount.path))).stat()
            path.unlink()
        assert mount.figures()["orphans"] <= 16
        mount.forget()
        figures = mount.await_figure("orphans", 0)
        assert (figures["orphans"], figures["nodes"], figures["names"]) == (0, 1, 0)


def test_open_deleted_files_are_kept_however_many_they_are(program: Path) -> None:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit[1], limit[1]))
    with mounted(program) as mount:
        files = []
        for number in range(600):
            file = (mount.path / "f").open("w+")
            file.write(str(number))
            file.flush()
            (mount.path / "F").unlink()
            files.append(file)
        assert mount.figures()["orphans"] == 600
        for number, file in enumerate(files):
            os.ftruncate(file.fileno(), 10)
            file.seek(0)
            assert file.read().rstrip("\0") == str(number)
            file.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, limit)


def test_a_hard_link_that_is_found_late_rescues_its_file(program: Path, tmp_path: Path) -> None:
    (tmp_path / "one").write_text("1", encoding="utf-8")
    (tmp_path / "two").hardlink_to(tmp_path / "one")
    with mounted(program, f"--backing={tmp_path}") as mount:
        with (mount.path / "ONE").open() as file:
            (mount.path / "one").unlink()
            assert mount.figures()["orphans"] == 1
            assert (mount.path / "Two").stat().st_nlink == 1
            assert mount.figures()["orphans"] == 0
            assert file.read() == "1"
        (mount.path / "TWO").rename(mount.path / "three")
        assert (mount.path / "Three").read_text(encoding="utf-8") == "1"


def test_the_store_has_no_path(program: Path) -> None:
    with mounted(program) as mount:
        (mount.path / "secret").write_text("1", encoding="utf-8")
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8")
        assert [line.split()[2] for line in mounts.splitlines() if line.split()[1] == str(mount.path)] == ["fuse.casefs"]
        assert "casefs-store" not in mounts


def test_the_daemon_keeps_no_right_to_mount_or_to_gain_rights(program: Path) -> None:
    with mounted(program) as mount:
        status = Path(f"/proc/{mount.process.pid}/status").read_text(encoding="ascii")
        lines = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        chown, override, search, owner, set_id, trace = 0, 1, 2, 3, 4, 19
        kept = sum(1 << number for number in (chown, override, search, owner, set_id, trace))
        assert {lines[name] for name in ("CapPrm", "CapEff", "CapBnd")} == {f"{kept:016x}"}
        assert int(lines["CapInh"], 16) == int(lines["CapAmb"], 16) == 0
        assert lines["NoNewPrivs"] == "1"
        assert lines["Threads"] == "1"


def test_an_ordinary_user_cannot_end_it_read_it_or_go_round_it(program: Path) -> None:
    with mounted(program) as mount:
        users_folder(mount)
        pid = mount.process.pid

        def try_everything(_: int) -> list[str]:
            os.setgroups([])
            os.setresgid(USER, USER, USER)
            os.setresuid(USER, USER, USER)
            got_through = []
            attempts: dict[str, Callable[[], object]] = {
                "kill": lambda: os.kill(pid, signal.SIGKILL),
                "stop": lambda: os.kill(pid, signal.SIGSTOP),
                "memory": lambda: Path(f"/proc/{pid}/mem").open("rb").close(),
                "descriptors": lambda: os.listdir(f"/proc/{pid}/fd"),
                "root": lambda: os.listdir(f"/proc/{pid}/root"),
                "umount": lambda: subprocess.run(["umount", mount.path], check=True, capture_output=True),
                "fusermount": lambda: subprocess.run(["fusermount3", "-uz", mount.path], check=True, capture_output=True),
            }
            for what, attempt in attempts.items():
                try:
                    attempt()
                except (PermissionError, subprocess.CalledProcessError):
                    continue
                got_through.append(what)
            return got_through

        assert at_once(try_everything, 1) == ["[]"]
        assert mount.figures()["nodes"] >= 1


def test_a_daemon_that_died_answers_enotconn_and_its_status_ends(program: Path, tmp_path: Path) -> None:
    command = [str(program), "--status-fd=1", "--tmpfs=1m", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process, process.stdout as status:
        assert status.readline().startswith("ready ")
        process.kill()
        assert status.readline() == ""
        process.wait()
        with pytest.raises(OSError, match="Transport endpoint is not connected"):
            os.listdir(tmp_path)
        subprocess.run(["umount", "--lazy", tmp_path], check=True)


def test_a_signal_ends_it_and_is_said(program: Path) -> None:
    with mounted(program) as mount:
        mount.process.terminate()
        assert mount.line() == "ended signal 15"
        assert mount.process.wait() == 0


def test_no_reader_of_the_status_is_no_harm(program: Path, tmp_path: Path) -> None:
    reader, writer = os.pipe()
    process = subprocess.Popen([program, f"--status-fd={writer}", "--tmpfs=1m", tmp_path], pass_fds=[writer])
    os.close(writer)
    assert os.read(reader, 4096).startswith(b"ready ")
    os.close(reader)
    process.send_signal(signal.SIGUSR1)
    (tmp_path / "f").touch()
    assert (tmp_path / "F").exists()
    subprocess.run(["umount", "--lazy", tmp_path], check=True)
    assert process.wait() == 0


def test_root_is_its_own_user_on_it(program: Path) -> None:
    with mounted(program) as mount:
        (mount.path / "roots").touch()
        path = users_folder(mount)
        with as_user():
            (path / "users").touch()
            with pytest.raises(PermissionError):
                (mount.path / "not_allowed").touch()
        assert (mount.path / "ROOTS").stat().st_uid == 0
        assert (path / "USERS").stat().st_uid == USER
