"""The command line: folding off, the orders of directories, and what is refused."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.casefs.mounting import mounted

pytestmark = pytest.mark.fuse

NAMES = ["m", "B", "a", "\u00e9", "C", "z", "Z1", "0"]


def listed(program: Path, *options: str, names: list[str] = NAMES) -> list[str]:
    with mounted(program, *options) as mount:
        for name in names:
            (mount.path / name).touch()
        before = os.listdir(mount.path)
        mount.forget()
        assert os.listdir(mount.path) == before
        assert [item.name for item in os.scandir(mount.path)] == before
        return before


def test_without_folding_names_that_differ_by_case_are_different_files(program: Path) -> None:
    with mounted(program, "--fold=off") as mount:
        assert " fold=off " in mount.lines[0] + " "
        (mount.path / "a").write_text("1", encoding="utf-8")
        (mount.path / "A").write_text("2", encoding="utf-8")
        assert not (mount.path / "B").exists()
        (mount.path / "b").touch()
        assert not (mount.path / "B").exists()
        assert os.listdir(mount.path) == ["a", "A", "b"]
        (mount.path / "a").rename(mount.path / "A")
        assert (mount.path / "A").read_text(encoding="utf-8") == "1"
        assert os.listdir(mount.path) == ["b", "A"]


def test_a_directory_lists_its_names_as_they_were_created(program: Path) -> None:
    assert listed(program) == NAMES


def test_what_was_there_before_counts_as_created_in_the_order_of_bytes(program: Path, tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).touch()
    with mounted(program, f"--backing={tmp_path}") as mount:
        (mount.path / "A1").touch()
        assert os.listdir(mount.path) == ["0", "B", "C", "Z1", "a", "m", "z", "\u00e9", "A1"]


def test_a_directory_lists_its_names_by_bytes(program: Path) -> None:
    assert listed(program, "--order=sorted") == ["0", "B", "C", "Z1", "a", "m", "z", "\u00e9"]


def test_a_directory_lists_its_names_backwards(program: Path) -> None:
    assert listed(program, "--order=reversed") == ["\u00e9", "z", "m", "a", "Z1", "C", "B", "0"]


def test_a_shuffle_depends_on_the_seed_and_the_names_alone(program: Path) -> None:
    first = listed(program, "--order=shuffled", "--seed=1")
    assert sorted(first) == sorted(NAMES)
    assert listed(program, "--order=shuffled", "--seed=1", names=NAMES[::-1]) == first
    assert listed(program, "--order=shuffled", "--seed=1", "--fold=off") == first
    assert listed(program, "--order=shuffled", "--seed=2") != first


def test_shuffles_put_any_name_first(program: Path) -> None:
    names = ["a", "b", "c"]
    firsts = {listed(program, "--order=shuffled", f"--seed={seed}", names=names)[0] for seed in range(12)}
    assert firsts == set(names)


def test_the_ready_line_says_how_it_is_mounted(program: Path) -> None:
    with mounted(program, "--order=reversed", "--seed=7", "--descriptors=20") as mount:
        words = mount.lines[0].split()
    assert words[0] == "ready"
    pairs = dict(word.split("=") for word in words[1:])
    assert pairs.pop("pid").isdecimal()
    assert pairs.pop("unicode").count(".") == 2
    assert pairs == {
        "version": "1",
        "fold": "on",
        "order": "reversed",
        "seed": "7",
        "xattr": "off",
        "case_rename": "yes",
        "descriptors": "20",
    }


def test_a_backing_folder_keeps_its_files_and_shows_names_that_collide(program: Path, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("small", encoding="utf-8")
    (tmp_path / "A").write_text("capital", encoding="utf-8")
    (tmp_path / "Sub").mkdir()
    with mounted(program, f"--backing={tmp_path}") as mount:
        assert sorted(os.listdir(mount.path)) == ["A", "Sub", "a"]
        assert (mount.path / "a").read_text(encoding="utf-8") == "small"
        assert (mount.path / "A").read_text(encoding="utf-8") == "capital"
        (mount.path / "SUB" / "kept").write_text("1", encoding="utf-8")
    assert (tmp_path / "Sub" / "kept").read_text(encoding="utf-8") == "1"


def test_a_mount_over_its_own_store_hides_it(program: Path, tmp_path: Path) -> None:
    (tmp_path / "Before").touch()
    process = subprocess.Popen([program, "--status-fd=1", tmp_path], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process, process.stdout as status:
        assert status.readline().startswith("ready ")
        assert (tmp_path / "BEFORE").exists()
        assert status.readline().endswith(" BEFORE Before\n")
        subprocess.run(["umount", "--lazy", tmp_path], check=True)
        assert status.readline() == "ended unmounted\n"
    assert process.returncode == 0
    assert not (tmp_path / "BEFORE").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--order=random", "/somewhere"], "`random` is no value for --order"),
        (["--fold=maybe", "/somewhere"], "`maybe` is no value for --fold"),
        (["--seed=-1", "/somewhere"], "`-1` is no value for --seed"),
        (["--tmpfs=1g,uid=0", "/somewhere"], "`1g,uid=0` is no value for --tmpfs"),
        (["--tmpfs=1g", "--backing=/tmp", "/somewhere"], "exclude each other"),
        (["--unknown", "/somewhere"], "unrecognized option"),
        ([], "usage: casefs"),
    ],
)
def test_a_wrong_command_is_refused_before_anything_is_mounted(program: Path, arguments: list[str], said: str) -> None:
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, said in done.stderr) == (2, True)


def test_a_missing_mount_point_is_said_on_both_channels(program: Path) -> None:
    done = subprocess.run([program, "--status-fd=1", "/nowhere/at/all"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == "failed ENOENT mount point: /nowhere/at/all\n"
    assert done.stderr == "casefs: mount point: /nowhere/at/all: No such file or directory\n"


def test_without_the_capability_to_mount_it_says_so(program: Path, tmp_path: Path) -> None:
    bare = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]
    command = [*bare, str(program), "--status-fd=1", "--tmpfs=1m", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, f"failed EPERM tmpfs: {tmp_path}\n")
    command = [*bare, str(program), "--status-fd=1", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, f"failed EPERM mount: {tmp_path}\n")


def test_without_the_device_it_says_so(program: Path, tmp_path: Path) -> None:
    hidden = f"mount -t tmpfs none /dev && exec {program} --status-fd=1 {tmp_path}"
    done = subprocess.run(["unshare", "--mount", "sh", "-c", hidden], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "failed ENOENT device: /dev/fuse\n")


def test_without_the_capability_to_see_callers_a_rename_by_case_does_nothing_and_the_ready_line_says_so(
    program: Path, tmp_path: Path
) -> None:
    command = ["setpriv", "--bounding-set=-sys_ptrace", str(program), "--status-fd=1", "--tmpfs=1m", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process, process.stdout as status:
        assert " case_rename=no " in status.readline()
        (tmp_path / "foo").touch()
        (tmp_path / "foo").rename(tmp_path / "Foo")
        assert os.listdir(tmp_path) == ["foo"]
        subprocess.run(["umount", "--lazy", tmp_path], check=True)
    assert process.returncode == 0
