"""A daemon for each build, mounted once for all tests that only need a folder on it."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.casefs.mounting import USER, Mount, as_user, build, mounted

NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("casefs"))


@pytest.fixture(scope="session")
def sanitized_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("casefs"), sanitized=True)


@pytest.fixture(scope="session", params=["plain", "sanitized"])
def shared_mount(request: pytest.FixtureRequest) -> Iterator[Mount]:
    program = request.getfixturevalue("program" if request.param == "plain" else "sanitized_program")
    with mounted(program, "--xattr=on") as mount:
        yield mount


def users_folder(mount: Mount) -> Path:
    """Make a folder on a mount that belongs to the ordinary user."""
    path = mount.path / f"folder{next(NUMBERS)}"
    path.mkdir()
    os.chown(path, USER, USER)
    return path


@pytest.fixture
def folder(shared_mount: Mount, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Make a new folder the working folder; the test runs as an ordinary user."""
    path = users_folder(shared_mount)
    with ExitStack() as stack:
        monkeypatch.chdir(path)
        stack.enter_context(as_user())
        yield path
    monkeypatch.undo()
