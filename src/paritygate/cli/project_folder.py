"""Which folder is the project where nobody names one: the one that the user stands in, unless that is a part of a project."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from paritygate.changed.project import CONFIGURATION
from paritygate.cli.user import absolute
from paritygate.config import file as config_file
from paritygate.config.settings import Settings
from paritygate.errors import ConfigError, UsageError

HERE = "."
_OF_A_PROJECT = (*CONFIGURATION, "setup.py", config_file.OWN_FILE)
_RECORDS = (Settings().lock, Settings().freezes)


def by_default() -> str:
    """Take the current folder; raises `UsageError` where it has no configuration, and one above it has one of paritygate's.

    Only folders of the same git repository are looked at.
    """
    here = absolute(HERE)
    if any((here / name).exists() for name in (*_OF_A_PROJECT, *_RECORDS)):
        return HERE
    for folder in _above(here):
        if what := _ours(folder):
            said = f"this folder has no configuration, and is in a project that has: `{folder / what}`"
            raise UsageError(said, f"did you mean `--project {os.path.relpath(folder, here)}`? `--project .` takes this folder")
    return HERE


def of_report(report: Path) -> str:
    """Take the current folder for the checkout that a report is held against, or if that is none the folder of the report."""
    here = absolute(HERE)
    if any((folder / ".git").exists() for folder in (here, *here.parents)) or any(
        (here / name).exists() for name in _OF_A_PROJECT
    ):
        return by_default()
    return str(report.parent)


def _above(here: Path) -> Iterator[Path]:
    """List the folders above, up to the top of the repository; none without one."""
    folders = (here, *here.parents)
    top = next((number for number, folder in enumerate(folders) if (folder / ".git").exists()), 0)
    yield from folders[1 : top + 1]


def _ours(folder: Path) -> str:
    """Say by which file a folder is a project that uses paritygate; empty where by none."""
    for name in (config_file.OWN_FILE, *_RECORDS):
        if (folder / name).exists():
            return name
    try:
        return config_file.SHARED_FILE if config_file.load(folder).source else ""
    except ConfigError:
        # It cannot be read as it is: whoever means that project is told so as soon as they name it.
        return config_file.SHARED_FILE if b"paritygate" in _content(folder / config_file.SHARED_FILE) else ""


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
