"""Folders list names as they like."""

import os


def listed(folder):
    for name in ("b", "a", "d", "c", "f", "e"):
        (folder / name).write_text(name)
    return os.listdir(folder)


def test_control(tmp_path):
    assert sorted(listed(tmp_path)) == ["a", "b", "c", "d", "e", "f"]


def test_names_are_sorted(tmp_path):
    assert listed(tmp_path) == ["a", "b", "c", "d", "e", "f"]


def test_the_last_is_not_the_first(tmp_path):
    assert listed(tmp_path) != ["f", "e", "d", "c", "b", "a"]


def test_there_is_some_order(tmp_path):
    names = listed(tmp_path)
    assert names in (sorted(names), sorted(names, reverse=True))
