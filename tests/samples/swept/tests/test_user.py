"""Whom the modes of files keep out."""

import os

import pytest


def test_control(tmp_path):
    assert (tmp_path / "a").write_text("a") == 1


def test_a_file_without_modes_cannot_be_read(tmp_path):
    (tmp_path / "a").write_text("a")
    (tmp_path / "a").chmod(0)
    with pytest.raises(PermissionError):
        (tmp_path / "a").read_text()


def test_a_file_can_be_given_away(tmp_path):
    (tmp_path / "a").write_text("a")
    os.chown(tmp_path / "a", 1, 1)
