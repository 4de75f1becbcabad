"""Many processes at once, each with its own idea of the spelling."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.casefs.mounting import Mount
from tests.casefs.processes import PROCESSES, at_once

pytestmark = pytest.mark.fuse


def respelled(chance: random.Random, name: str) -> str:
    return "".join(letter.upper() if chance.random() < 0.5 else letter.lower() for letter in name)


def do_anything(number: int) -> set[str]:
    """Make, take away, rename and read a few names, in any spelling; gives back the errors that nobody expects."""
    chance = random.Random(number)  # noqa: S311  # a test's choice
    unexpected = set()

    def path() -> str:
        return f"{respelled(chance, 'sub')}{chance.randrange(3)}/{respelled(chance, 'name')}{chance.randrange(12)}"

    actions: list[Callable[[str], object]] = [
        lambda name: os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY)),
        os.unlink,
        lambda name: os.rename(name, path()),
        os.stat,
        lambda name: Path(name).open("a").close(),
        lambda name: os.listdir(Path(name).parent),
        lambda name: os.link(name, name + respelled(chance, "link")),
        lambda name: os.rename(name, Path(name).parent / respelled(chance, Path(name).name)),
    ]
    for _ in range(600):
        try:
            chance.choice(actions)(path())
        except (FileNotFoundError, FileExistsError):
            pass
        except OSError as error:
            unexpected.add(repr(error))
    return unexpected


def test_eight_processes_that_do_anything_leave_no_name_twice(folder: Path) -> None:
    for number in range(3):
        (folder / f"Sub{number}").mkdir()
    assert at_once(do_anything) == ["set()"] * PROCESSES
    for number in range(3):
        names = os.listdir(f"sub{number}")
        assert len({name.lower() for name in names}) == len(names)
        assert all(os.path.lexists(f"SUB{number}/{name.swapcase()}") for name in names)


def test_one_of_eight_wins_each_exclusive_creation(folder: Path) -> None:
    def create(number: int) -> int:
        won = 0
        for name in range(100):
            try:
                os.close(os.open(f"{'L' if number % 2 else 'l'}{name}", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
                won += 1
            except FileExistsError:
                pass
        return won

    assert sum(map(int, at_once(create))) == 100
    assert len(os.listdir(folder)) == 100


def test_eight_processes_walk_one_tree_by_different_names(folder: Path) -> None:
    (folder / "tree/a/b/c").mkdir(parents=True)
    (folder / "tree/a/b/c/f").write_text("1", encoding="utf-8")

    def walk(number: int) -> int:
        for turn in range(300):
            path = Path("tree/a/B/c" if (turn + number) % 2 else "TREE/A/b/C")
            assert (path / "f").read_text(encoding="utf-8") == "1"
            assert "f" in os.listdir(path)
        return 0

    assert at_once(walk) == ["0"] * PROCESSES


def test_a_name_that_is_renamed_by_case_is_never_missed(folder: Path) -> None:
    (folder / "target").write_text("1", encoding="utf-8")

    def rename_or_look(number: int) -> str:
        end = time.monotonic() + 1.0
        turns = 0
        while time.monotonic() < end:
            if number == 0:
                os.rename("target", "Target")
                os.rename("Target", "target")
            else:
                os.stat(("target", "TARGET", "Target")[turns % 3])
            turns += 1
        return "fine" if turns > 10 else "slow"

    assert at_once(rename_or_look, 4) == ["fine"] * 4
    assert os.listdir(folder) == ["target"]


def test_nothing_is_lost_while_the_kernel_forgets(folder: Path, shared_mount: Mount) -> None:
    (folder / "Sub0").mkdir()
    (folder / "Sub1").mkdir()
    (folder / "Sub2").mkdir()

    def forget_or_do(number: int) -> set[str]:
        if number:
            return do_anything(number)
        os.seteuid(0)
        for _ in range(30):
            shared_mount.forget()
            time.sleep(0.01)
        return set()

    assert at_once(forget_or_do) == ["set()"] * PROCESSES
    names = os.listdir("sub0")
    assert all(os.path.lexists(f"SUB0/{name.swapcase()}") for name in names)


def test_a_name_that_becomes_a_fifo_or_a_link_while_it_is_created_hangs_nobody(folder: Path) -> None:
    def make(number: int) -> str:
        for turn in range(300):
            name = ("name", "NAME")[number % 2]
            try:
                if number < 2:
                    os.close(os.open(name, os.O_CREAT | os.O_RDWR | os.O_NONBLOCK))
                elif number == 2:
                    (os.mkfifo if turn % 2 else os.mkdir)(name)
                elif number == 3:
                    os.symlink("elsewhere", name)
                else:
                    (os.rmdir if turn % 3 == 0 else os.unlink)(name)
            except (FileExistsError, FileNotFoundError, IsADirectoryError, NotADirectoryError):
                pass
        return "fine"

    assert at_once(make, 6) == ["fine"] * 6
    assert {name.lower() for name in os.listdir(folder)} <= {"name", "elsewhere"}


def test_replacing_a_file_by_rename_is_never_seen_half_done(folder: Path) -> None:
    (folder / "Data").write_text("0" * 100, encoding="utf-8")

    def replace_or_read(number: int) -> str:
        for turn in range(150):
            if number < 2:
                new = Path(f"new{number}")
                new.write_text(str(turn % 10) * 100, encoding="utf-8")
                new.rename("DATA" if turn % 2 else "data")
            else:
                text = Path("dAtA").read_text(encoding="utf-8")
                assert len(text) == 100, text
                assert len(set(text)) == 1, text
        return "fine"

    assert at_once(replace_or_read, 4) == ["fine"] * 4
    assert len(os.listdir(folder)) == 1
