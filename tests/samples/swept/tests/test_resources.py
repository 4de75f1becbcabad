"""Processors, memory and variables."""

import os
import shutil
from pathlib import Path


def quota():
    for place in ("/sys/fs/cgroup/cpu.max", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"):
        if Path(place).is_file():
            first = Path(place).read_text().split()[0]
            return 0 if first in {"max", "-1"} else int(first) / 100000
    return 0


def memory():
    for place in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        if Path(place).is_file():
            first = Path(place).read_text().strip()
            return 0 if first == "max" else int(first)
    return 0


def test_control():
    assert os.cpu_count()


def test_there_is_a_whole_processor():
    assert quota() == 0 or quota() >= 1


def test_two_threads_have_a_processor_each():
    assert (int(quota()) or os.cpu_count()) >= 2


def test_no_pool_has_one_part_of_a_gigabyte():
    assert memory() >> 30 != 1


def test_no_pool_has_one_part_of_half_a_gigabyte():
    assert memory() >> 29 != 1


def test_there_is_half_a_gigabyte():
    assert memory() == 0 or memory() >= 512 << 20


def test_nobody_is_in_ci():
    assert "CI" not in os.environ


def test_terminals_are_wide():
    assert shutil.get_terminal_size().columns >= 80


def test_terminals_are_narrow():
    assert shutil.get_terminal_size().columns <= 100


def test_colours_are_shown_where_they_are_asked_for():
    assert "NO_COLOR" not in os.environ


def test_colours_are_not_shown_where_nobody_looks():
    assert "FORCE_COLOR" not in os.environ


def test_terminals_can_move_their_cursor():
    assert os.environ.get("TERM") != "dumb"


def test_a_home_can_be_written():
    place = Path.home() / "kept-by-a-test"
    place.write_text("")
    place.unlink()
